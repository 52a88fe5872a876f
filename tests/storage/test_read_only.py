"""A file where nothing can be written: its studies are read, and nothing is made beside it."""

import os
import shutil
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.storage import schema


@pytest.fixture
def file(tmp_path):
    """The file of a study of five rewards."""
    study = db.create_study(
        "s", arms=["a", "b"], policy="UCB1(sigma=1)", storage=f"sqlite:///{tmp_path}/a b.db", seed=1
    )
    for k in range(5):
        study.tell(study.ask(), float(k))
    study.storage.close()
    return tmp_path / "a b.db"


@pytest.fixture
def fixed(file, monkeypatch):
    """The same file, as it is seen on a read-only file system."""
    monkeypatch.setattr(schema, "on_read_only_system", os.path.exists)
    return file


def test_a_study_on_a_read_only_file_system_can_be_read(fixed):
    before = fixed.read_bytes()
    study = db.load_study("s", f"sqlite:///{fixed}")
    assert len(study) == 5
    with study.storage._connect() as connection:  # while it is read
        assert connection.exec_driver_sql("SELECT count(*) FROM bandit_events").scalar() == 12
        assert os.listdir(fixed.parent) == [fixed.name]
    assert study.replay().same
    assert study.summary()["told"].sum() == 5
    assert db.study_names(study.storage) == ["s"]
    assert study.settle() == []
    for change in (study.ask, lambda: study.void(0, "wrong"), lambda: study.rename("t")):
        with pytest.raises(db.StorageError, match="readonly database"):
            change()
    with pytest.raises(db.StorageError, match="readonly database"):
        db.create_study("t", arms=["a"], storage=study.storage)
    assert (fixed.read_bytes(), os.listdir(fixed.parent)) == (before, [fixed.name])


def test_what_another_machine_writes_there_is_seen(fixed):
    """What is not in the file yet is in its log, so then SQLite itself must look after both."""
    reader = db.load_study("s", f"sqlite:///{fixed}")
    assert len(reader) == 5
    with pytest.MonkeyPatch.context() as elsewhere:
        elsewhere.setattr(schema, "on_read_only_system", lambda path: False)
        writer = db.load_study("s", f"sqlite:///{fixed}")
        writer.tell(writer.ask(), 1.0)
    assert Path(f"{fixed}-wal").stat().st_size > 0
    assert len(reader) == 6
    writer.ask()
    writer.storage.close()
    assert len(reader) == 7


def test_an_older_format_is_not_upgraded_there(fixed):
    old = shutil.copy(Path(__file__).with_name("version3.db"), fixed.with_name("old.db"))
    with pytest.raises(db.FormatError, match="the older format 3: copy it to where it can be written"):
        db.load_study("maize", f"sqlite:///{old}")


def test_no_system_is_read_only_where_that_is_unknown(file, monkeypatch):
    assert not schema.on_read_only_system(str(file))
    assert not schema.on_read_only_system(str(file.parent / "nothing.db"))
    monkeypatch.delattr(os, "statvfs", raising=False)
    assert not schema.on_read_only_system(str(file))


def test_a_study_is_true_before_its_first_trial():
    study = db.create_study("s", arms=["a", "b"])
    assert (bool(study), len(study)) == (True, 0)
