"""What every storage promises, and what a database refuses."""

import json
import shutil
import sqlite3
import sys
import threading
from pathlib import Path

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.events import ArmAdded, Asked, Rewarded
from dirichlet_bandits.storage import Row, open_storage, schema
from dirichlet_bandits.storage.events import acting_as
from tests.bounds import SECONDS

FIRST = [Row(0, ArmAdded.kind, arm=0, at=1.5, note="é <b> '; --"), Row(1, ArmAdded.kind, arm=1, at=2.5, note="b")]
LATER = [
    Row(
        2,
        Asked.kind,
        trial=0,
        arm=1,
        value=1 / 3,
        at=1e9 + 1 / 3,
        data=b"\x00\xff" * 8,
        note="[[0, 1.0]]",
        token="é",
        decider=2,
        actor="é key",
    ),
    Row(3, Rewarded.kind, trial=0, value=-1e-300, at=0.0),
]


def test_events_come_back_as_they_were(storage):
    assert storage.create("s", {"seed": "7"}, FIRST)
    with storage.transaction("s") as transaction:
        assert [tuple(event) for event in transaction.read(0)] == [tuple(FIRST[1])]
        transaction.append(LATER)
    assert storage.read("s", data=True) == FIRST + LATER
    assert [tuple(event) for event in storage.read("s", after=2)] == [tuple(LATER[1])]
    bare = LATER[0]._replace(data=None)
    assert [event._replace(data=None) for event in storage.newest("s", 2)] == [LATER[1], bare]
    assert [event.number for event in storage.newest("s", 9, below=2)] == [1, 0]
    assert [event.number for event in storage.newest("s", 1, trial=0)] == [3]
    assert storage.settings("s") == {"seed": "7"}
    assert storage.settings("t") is None
    assert not storage.create("s", {}, [])
    assert storage.create("t", {}, [])
    assert storage.names() == ["s", "t"]
    assert storage.read("t") == []


def test_an_exception_leaves_nothing(storage):
    storage.create("s", {}, FIRST)

    def interrupted():
        with storage.transaction("s") as transaction:
            transaction.append(LATER)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert storage.read("s", data=True) == FIRST
    with storage.transaction("s") as transaction:
        transaction.append(LATER)
    assert storage.read("s", data=True) == FIRST + LATER


def test_transactions_take_turns(storage):
    storage.create("s", {}, [])

    def work():
        for _ in range(20):
            with storage.transaction("s") as transaction:
                number = len(transaction.read(-1))
                transaction.append([Row(number, ArmAdded.kind, arm=number)])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert [event[0] for event in storage.read("s")] == list(range(120))


def test_studies_are_renamed_archived_and_deleted(storage):
    for name in "stu":
        storage.create(name, {"seed": name}, FIRST)
    with storage.transaction("s") as transaction:
        assert not transaction.rename("t")
        assert transaction.rename("é '; --")
    with storage.transaction("u") as transaction:
        transaction.archive(5.0)
    assert (storage.names(), storage.names(archived=True)) == (["é '; --", "t"], ["u"])
    assert storage.read("é '; --", data=True) == storage.read("u", data=True) == FIRST
    assert (storage.settings("s"), storage.settings("u")) == (None, {"seed": "u"})
    with storage.transaction("u") as transaction:
        transaction.archive(None)
        transaction.append(LATER)
    assert storage.names() == ["é '; --", "t", "u"]

    def interrupted():
        with storage.transaction("u") as transaction:
            transaction.delete()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert storage.read("u", data=True) == FIRST + LATER
    with storage.transaction("u") as transaction:
        transaction.delete()
    assert (storage.names(), storage.settings("u")) == (["é '; --", "t"], None)
    for name in "su":
        with pytest.raises(db.NotFoundError, match=f"no study '{name}'"):
            storage.read(name)
        with pytest.raises(db.NotFoundError, match=f"no study '{name}'"), storage.transaction(name):
            pass
    assert storage.create("u", {"seed": "new"}, FIRST[:1])
    assert storage.read("u", data=True) == FIRST[:1]
    assert storage.read("t", data=True) == FIRST


def test_what_is_done_to_studies_is_recorded_with_the_key(storage):
    with acting_as("é key"):
        study = db.create_study("s", arms=["a", "b"], storage=storage, seed=0)
    study.rename("t")
    study.archive()
    study.unarchive()
    with acting_as("other"):
        study.ask()
        other = db.create_study("s", arms=["a"], storage=storage)
        with pytest.raises(db.ConflictError):
            study.rename("s")  # refused, so nothing is recorded
        db.delete_study("s", storage, confirm="s")
    assert [(act.what, act.study, act.note, act.actor) for act in storage.audit_log(9)] == [
        ("deleted", "s", None, "other"),
        ("created", "s", None, "other"),
        ("unarchived", "t", None, ""),
        ("archived", "t", None, ""),
        ("renamed", "s", "t", ""),
        ("created", "s", None, "é key"),
    ]
    assert [act.what for act in study.audit_log()] == ["unarchived", "archived", "renamed", "created"]
    assert [event.actor for event in study.events()] == ["other", "é key", "é key"]
    assert other.identity != study.identity


def test_a_study_by_another_name_goes_on(storage):
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=storage, seed=0)
    other = db.load_study("s", storage)
    db.create_study("t", arms=["a", "b"], storage=storage)
    study.tell_many(trials := study.ask(4), [float(trial.id) for trial in trials])
    study.archive()
    study.archive()
    assert (study.archived, db.study_names(storage), db.study_names(storage, archived=True)) == (True, ["t"], ["s"])
    study.unarchive()
    with pytest.raises(db.ConflictError, match="there is a study 't'"):
        study.rename("t")
    with pytest.raises(db.ArgumentError, match="'name' must be a text"):
        study.rename("")
    study.rename("s")
    study.rename("new")
    assert (study.name, study.archived, study.ask().id, study.replay().same) == ("new", False, 4, True)
    assert db.study_names(storage) == ["new", "t"]
    for act in (other.ask, lambda: len(other), lambda: other.tell(4, 1.0)):
        with pytest.raises(db.NotFoundError, match="no study 's'"):
            act()
    again = db.create_study("s", arms=["x"], storage=storage)
    assert again.ask().arm == "x"
    with pytest.raises(db.ConflictError, match="was replaced by another one"):
        other.ask()
    with pytest.raises(db.ArgumentError, match="'confirm' must be the name of the study, 'new'"):
        db.delete_study("new", storage, confirm="s")
    db.delete_study("new", storage, confirm="new")
    with pytest.raises(db.NotFoundError, match="no study 'new'"):
        study.ask()
    with pytest.raises(db.NotFoundError, match="no study 'new'"):
        db.delete_study("new", storage, confirm="new")
    assert db.study_names(storage) == ["t", "s"]


def test_a_foreign_file_is_left_untouched(tmp_path):
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    text = tmp_path / "notes.db"
    text.write_text("not a database at all, but long enough to have a header of its own: " * 20)
    for path, says in ((foreign, "of something else: it has tables songs"), (text, "not a readable database")):
        before = path.read_bytes()
        with pytest.raises(db.FormatError, match=says):
            db.create_study("s", arms=["a"], storage=f"sqlite:///{path}")
        with pytest.raises(db.FormatError, match=says):
            db.load_study("s", f"sqlite:///{path}")
        assert path.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foreign.db", "notes.db"]
    with pytest.raises(db.StorageError, match="cannot be used"):
        db.create_study("s", arms=["a"], storage=f"sqlite:///{tmp_path}/no/folder.db")


def test_a_newer_format_is_refused(url):
    db.create_study("s", arms=["a"], storage=url)
    storage = open_storage(url)
    with storage._engine.begin() as connection:
        connection.execute(schema.schema.update().values(version=schema.VERSION + 1))
    storage.close()
    with pytest.raises(db.FormatError, match=f"newer version of this library: format {schema.VERSION + 1}"):
        db.load_study("s", url)


def test_an_older_format_is_upgraded(url, monkeypatch):
    """The steps to a version that does not exist yet: each is taken once, even by several processes."""
    db.create_study("s", arms=["a"], storage=url)
    latest = schema.VERSION
    monkeypatch.setattr(schema, "VERSION", latest + 2)
    monkeypatch.setattr(
        schema,
        "_UPGRADES",
        {
            latest: ("ALTER TABLE bandit_studies ADD COLUMN owner TEXT",),
            latest + 1: ("UPDATE bandit_studies SET owner = 'x'",),
        },
    )
    for _ in range(2):
        storage = open_storage(url)
        with storage._engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT owner FROM bandit_studies").all() == [("x",)]
        storage.close()
    assert db.load_study("s", url).ask().arm == "a"


def test_a_file_of_version_1_lives_on(tmp_path):
    """Written when version 1 was the latest; never made again."""
    shutil.copy(Path(__file__).with_name("version1.db"), tmp_path / "old.db")
    study = db.load_study("maize", f"sqlite:///{tmp_path}/old.db")
    replay = study.replay()
    assert (replay.trials, replay.same) == (20, True), str(replay)
    assert study.arms == ["13 Mar", "28 Mar", "12 Apr"]
    assert study.summary()["told"].to_dict() == {"26 Feb": 7, "13 Mar": 4, "28 Mar": 4, "12 Apr": 3}
    study.tell(study.ask(token="new in version 2").id, 1000.0)
    assert study.replay().same
    assert len(db.load_study("maize", f"sqlite:///{tmp_path}/old.db").ask(1, token="new in version 2")) == 1


def test_a_file_of_version_2_lives_on(tmp_path):
    """Written when version 2 was the latest, and the order of untried arms still depended on the process."""
    shutil.copy(Path(__file__).with_name("version2.db"), tmp_path / "old.db")
    order = {"alone": "dbacfeddddfff", "shared": "dbacefddddfff"}  # the same seed, and one process or two
    for name, arms in order.items():
        study = db.load_study(name, f"sqlite:///{tmp_path}/old.db")
        assert "".join(study.trials_dataframe()["arm"]) == arms
        assert study.replay().same
        study.add_arm("g")
        study.add_arm("h")
        study.tell_many(range(13, 18), [float(trial.id) for trial in study.ask(5)])
        assert study.replay().same
    with study.storage._engine.begin() as connection:  # somebody tampers with what was decided long ago
        connection.exec_driver_sql("UPDATE bandit_events SET arm = 0 WHERE kind = 2 AND trial = 0")
    assert "decided by version 1 of the rules, replayed by version 4" in study.replay().differences[0]


def test_decisions_of_npts_by_version_2_of_the_rules_are_replayed(tmp_path):
    """Written when NPTS drew an index for each arm; new decisions draw the arm from its propensities."""
    shutil.copy(Path(__file__).with_name("decider2.db"), tmp_path / "old.db")
    for name in ("coins", "shares"):
        study = db.load_study(name, f"sqlite:///{tmp_path}/old.db")
        assert (len(study), study.replay().same) == (60, True)
        study.tell(study.ask().id, 0.0)
        assert study.replay().same


def test_a_file_of_version_3_lives_on(tmp_path):
    """Written when rewards could not be taken back yet."""
    shutil.copy(Path(__file__).with_name("version3.db"), tmp_path / "old.db")
    study = db.load_study("maize", f"sqlite:///{tmp_path}/old.db")
    assert (len(study), study.summary()["told"].tolist(), study.replay().same) == (24, [6, 0, 8, 1], True)
    study.void(0, "the wrong plot")
    study.correct(1, 9.0)
    study.tell(study.ask().id, 5.0)
    again = db.load_study("maize", f"sqlite:///{tmp_path}/old.db")
    assert again.replay().same
    assert again.trials_dataframe()["status"].value_counts().to_dict() == {"told": 15, "pending": 9, "voided": 1}


def test_a_file_from_before_there_were_identities_lives_on(tmp_path):
    """Format 4, written when studies had no identity, policies no module and only asks and past trials a token."""
    shutil.copy(Path(__file__).with_name("version4.db"), tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    study = db.load_study("maize", url)
    replay = study.replay()
    assert (replay.trials, replay.same, len(study), study.identity) == (27, True, 29, ""), str(replay)
    assert ({event.actor for event in study.events()}, study.audit_log()) == ({None}, [])
    log = study.trials_dataframe()
    assert log.loc[3, ["status", "original", "reason"]].tolist() == ["voided", 1.0, "the wrong plot"]
    assert [step["reward"] for step in json.loads(log["revisions"][3])] == [1.0, 9.5, 8.5, None]
    assert log["attributes"][4] == '{"plot": 4.0}'  # as it was stored
    past = {"arm": ["26 Feb", "13 Mar"], "reward": [1.0, 2.0], "propensity": [0.5, 0.5]}
    assert study.add_trials(past, token="past") == [24, 25]
    assert [trial.id for trial in study.ask(2, token="t3")] == [6, 7]
    for _ in range(2):
        study.void(7, "mine", token="new")
    study.rename("new", token="renamed")
    again = db.create_study(
        "new", arms=["26 Feb", "13 Mar", "28 Mar"], policy=db.QDS(), storage=url, control="26 Feb", load_if_exists=True
    )
    assert (len(again), again.replay().same, again.ask(1, token="t11x")[0].id) == (29, True, 29)
    assert [(act.what, act.study, act.note) for act in open_storage(url).audit_log(9)] == [("renamed", "maize", "new")]
    db.delete_study("new", url, confirm="new")
    db.create_study("new", arms=["26 Feb"], policy=db.QDS(), storage=url, seed=11, control="26 Feb")
    for handle in (study, again):
        with pytest.raises(db.ConflictError, match="was replaced by another one"):
            handle.ask()


def test_rewards_are_taken_back_and_replaced(url):
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=url, seed=0)
    study.tell_many(range(6), [float(trial.id) for trial in study.ask(6)])
    study.void(4, "é <b> '; --")
    other = db.load_study("s", url)
    other.correct(5, 50.0)
    assert study.propensities() == other.propensities()
    assert study.trials_dataframe().equals(other.trials_dataframe())
    assert [study.replay().same, other.replay().same] == [True, True]
    assert [tuple(event)[1:5] for event in study.storage.read("s")][-2:] == [(5, 4, None, None), (6, 5, None, 50.0)]


def test_events_of_a_newer_version_are_refused(url):
    study = db.create_study("s", arms=["a", "b"], storage=url, seed=0)
    with study.storage.transaction("s") as transaction:
        transaction.append([Row(2, 99)])
    for act in (study.ask, db.load_study("s", url).summary):
        with pytest.raises(db.FormatError, match="event 2 has kind 99, unknown to this version"):
            act()


def test_missing_events_are_noticed(url):
    study = db.create_study("s", arms=["a", "b"], storage=url, seed=0)
    study.ask(3)
    with study.storage._engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM bandit_events WHERE number = 3")
    with pytest.raises(db.FormatError, match="event 3 of the study is missing"):
        len(db.load_study("s", url))


def test_passwords_are_not_shown(postgres):
    url = postgres.empty().replace("tester@", "tester:secret@")
    db.create_study("s", arms=["a"], storage=url).storage.close()
    with pytest.raises(db.NotFoundError, match="no study 'x'") as caught:
        db.load_study("x", url)
    assert "secret" not in str(caught.value)


def test_wrong_addresses_are_told(monkeypatch):
    monkeypatch.setattr("dirichlet_bandits.storage.database.OPENING", 0.2)
    with pytest.raises(db.StorageError, match="cannot be used") as caught:
        db.study_names("postgresql+psycopg://me:secret@/none?host=/nowhere")
    assert "secret" not in str(caught.value)


def test_missing_extras_are_named(monkeypatch, tmp_path):
    import importlib.util

    study = db.create_study("s", arms=["a", "b"], seed=0)  # memory needs nothing
    real = importlib.util.find_spec
    cases = {
        "sqlalchemy": ("live", lambda: db.study_names("sqlite:///x.db")),
        "psycopg": ("postgres", lambda: db.study_names("postgresql+psycopg://me@/x")),
        "pyarrow": ("live", lambda: study.export(tmp_path / "log.parquet")),
    }
    for missing, (extra, call) in cases.items():
        hidden = lambda name, missing=missing: None if name == missing else real(name)  # noqa: E731
        monkeypatch.setattr(importlib.util, "find_spec", hidden)
        with pytest.raises(db.MissingExtraError, match=f"the extra '{extra}'"):
            call()


class AlarmError(Exception):
    """What a signal handler may raise."""


def test_what_a_signal_handler_raises_arrives_as_itself(url):
    """Also while SQLAlchemy prepares a statement: it would wrap it in an exception of its own."""
    storage = open_storage(url, create=True)
    steps = 0

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_name == "_init_compiled" and event == "line":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise AlarmError
        return trace

    before, raised = sys.gettrace(), AlarmError()
    while raised is not None:
        left = steps
        sys.settrace(trace)
        try:
            storage.names()
            raised = None
        except Exception as error:
            raised = error
        finally:
            sys.settrace(before)
        assert raised is None or type(raised) is AlarmError
        steps += 1
    assert steps > 10
    storage.close()


def test_a_storage_without_keys_of_events_is_upgraded(url):
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=url, seed=0)
    study.tell(study.ask(), 1.0)
    with study.storage._engine.begin() as connection:  # as version 4 had it
        connection.exec_driver_sql("DROP TABLE bandit_acts")
        connection.exec_driver_sql("ALTER TABLE bandit_events DROP COLUMN actor")
        connection.exec_driver_sql("UPDATE bandit_schema SET version = 4")
    study.storage.close()
    again = db.load_study("s", url)
    with acting_as("new"):
        again.ask()
        again.archive()
    assert [event.actor for event in again.events()] == ["new", None, None, None, None]
    assert [(act.what, act.actor) for act in again.audit_log()] == [("archived", "new")]
    assert again.replay().same
