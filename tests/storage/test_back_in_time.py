"""A storage that goes back in time under a running process is noticed; a study with a gap can be exported."""

import shutil
import sqlite3

import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.storage import open_storage

UCB1 = db.UCB1(sigma=1.0)
ARMS = ["a", "b", "c"]


def play(study, trials):
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial.id, float(trial.id % 5))


def events(storage):
    return [tuple(event) for event in storage.read("s", data=True)]


def go_back(storage, last):
    """As a failover to a server that had not yet got the latest commits."""
    with storage._engine.begin() as connection:
        connection.exec_driver_sql(f"DELETE FROM bandit_events WHERE number > {last}")


@pytest.mark.parametrize("act", ["ask", "tell", "add_arm", "len"])
def test_lost_commits_are_noticed(url, act):
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=3)
    play(study, 6)
    known = events(study.storage)
    go_back(study.storage, 9)
    if act == "ask":
        assert study.ask().id == 4  # not 6, past the gap
    elif act == "tell":
        with pytest.raises(db.NotFoundError, match=r"no trial 5 in the study 's' \(trials so far: 4\)"):
            study.tell(5, 1.0)
    elif act == "add_arm":
        study.add_arm("d")
    assert len(study) == (5 if act == "ask" else 4)
    assert events(study.storage)[:10] == known[:10]
    play(study, 5)
    again = db.load_study("s", study.storage)
    assert len(again) == len(study)
    assert again.replay().same


def test_a_past_that_went_on_without_us_is_noticed(url):
    """As many events as before, but others."""
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=3)
    play(study, 6)
    go_back(study.storage, 4)
    other = db.load_study("s", url)
    other.add_arm("d")
    play(other, 8)
    assert study.arms == ["a", "b", "c", "d"]
    assert study.trials_dataframe().equals(other.trials_dataframe())
    play(study, 3)
    assert other.replay().same
    other.storage.close()


def test_a_restored_backup_is_gone_on_with(tmp_path):
    """Both ways: SQLite's own, into the open file, and a copy in its place."""
    url = f"sqlite:///{tmp_path}/s.db"
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=3)
    play(study, 4)
    with sqlite3.connect(tmp_path / "s.db") as source, sqlite3.connect(tmp_path / "backup.db") as target:
        source.backup(target)
    source.close()
    target.close()
    play(study, 5)
    with sqlite3.connect(tmp_path / "backup.db") as source, sqlite3.connect(tmp_path / "s.db") as target:
        source.backup(target)
    source.close()
    target.close()
    play(study, 2)
    assert len(study) == 6
    shutil.copy(tmp_path / "backup.db", tmp_path / "copy.db")
    for left in ("s.db-wal", "s.db-shm"):
        (tmp_path / left).unlink(missing_ok=True)
    (tmp_path / "copy.db").replace(tmp_path / "s.db")
    play(study, 1)
    assert len(study) == 5
    assert db.load_study("s", url).replay().same


def test_a_file_that_is_gone_is_said_so(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=3)
    id = study.ask().id
    for path in tmp_path.iterdir():
        path.unlink()
    for act in (lambda: study.tell(id, 1.0), study.ask, lambda: len(study), study.storage.names, study.replay):
        with pytest.raises(db.StorageError, match="the file is gone"):
            act()
    assert list(tmp_path.iterdir()) == []


def test_another_study_of_the_same_name_is_not_written_to(url):
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=3)
    play(study, 4)
    with study.storage._engine.begin() as connection:
        for table in ("bandit_events", "bandit_studies"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    with pytest.raises(db.NotFoundError, match="no study 's'"):
        study.ask()
    with pytest.raises(db.NotFoundError, match="no study 's'"):
        len(study)
    other = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=4)
    other.ask(3)
    for act in (study.ask, lambda: study.tell(0, 1.0), lambda: study.arms):
        with pytest.raises(db.ConflictError, match="was replaced by another one of this name"):
            act()
    assert len(other) == 3
    other.storage.close()


def test_a_study_with_a_gap_can_be_exported(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    policy = db.RBSDA()
    study = db.create_study("s", arms=ARMS, policy=policy, storage=url, seed=3)
    for k in range(30):
        asked = study.ask(2)
        study.tell_many([trial.id for trial in asked], [float(trial.id) for trial in asked])
        if k == 9:
            study.add_arm("d")
            study.add_arm("e")
    study.export(tmp_path / "whole.csv")
    whole = pd.read_csv(tmp_path / "whole.csv", index_col="trial")
    stored = study.storage.read("s", data=True)
    for first, last in ((5, 6), (4, 50), (30, 31), (40, 44), (0, 20), (100, 119)):
        storage = open_storage(f"sqlite:///{tmp_path}/{first}-{last}.db", create=True)
        kept = [event for event in stored if not first <= event.number <= last]
        storage.create("s", study.storage.settings("s"), kept)
        gapped = db.load_study("s", storage)
        with pytest.raises(db.FormatError, match=f"event {first} of the study is missing.*can be exported"):
            gapped.ask()
        assert len(storage.read("s")) == len(kept)
        gapped.export(tmp_path / "gapped.csv")
        frame = pd.read_csv(tmp_path / "gapped.csv", index_col="trial")
        assert frame.index.tolist() == [event.trial for event in kept if event.kind == 2]
        common = whole.loc[frame.index]
        assert (frame["propensity"] == common["propensity"]).all()
        assert (frame["asked_at"] == common["asked_at"]).all()
        named = ~frame["arm"].str.contains("missing")
        assert (frame["arm"] == common["arm"])[named].all()
        told = [event.trial for event in kept if event.kind == 3 and event.trial in frame.index]
        assert frame["reward"].dropna().to_dict() == common["reward"][told].to_dict()
        for arm in common["arm"][named].unique():  # unknown, or what was recorded
            column = f"propensity of {arm}"
            assert ((frame[column] == common[column]) | frame[column].isna()).all()
        assert frame["propensity of " + frame["arm"].iloc[-1]].notna().any()
        storage.close()
    study.storage.close()
