"""Whenever the power goes: every call that has returned is there, and no change is there by half.

Killing a process does not show this, because the system still writes what the process has written.
"""

import itertools
import shutil
import sqlite3
import threading
from collections import Counter
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
import sqlalchemy as sa

import dirichlet_bandits as db
from dirichlet_bandits.storage import open_storage, schema
from tests.bounds import join
from tests.storage.disk import SECTORS, after_cut
from tests.storage.recording import Link, Step, Sync, SyncFolder, Told, Write, recording

ARMS = ["a", "b", "c"]
CREATED = {"arms": ARMS, "policy": db.UCB1(sigma=1.0), "seed": 1, "token": "created"}
OLD = Path(__file__).with_name("version2.db")
MODES = ("wal", "delete", "upgraded")
UNSAFE = {
    "never synced": ("wal", "synchronous=OFF", False),
    "synced at checkpoints": ("wal", "synchronous=NORMAL", False),
    "the cache of the drive": ("wal", "fullfsync=OFF", True),
    "no log, never synced": ("delete", "synchronous=OFF", False),
    "no log, journal not deleted for good": ("delete", "synchronous=FULL", False),
    "upgraded, never synced": ("upgraded", "synchronous=OFF", False),
}


@pytest.fixture(autouse=True)
def nothing_elsewhere(tmp_path_factory, monkeypatch):
    """SQLite makes all files beside its own, also while we record: it keeps the pointer to the path."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(folder)
    yield
    assert not list(folder.iterdir())


class Recorded(NamedTuple):
    """Steps of SQLite, and the states before, after each call, and after some calls at once."""

    steps: list[Step]
    states: list[dict[str, Any]]


def state(url):
    """Each study by its identity: its name, whether it is archived, and its events."""
    try:
        place = open_storage(url)
    except db.NotFoundError:  # before the first study
        return {}
    found = {}
    for archived in (False, True):
        for name in place.names(archived):
            found[place.settings(name).get("identity", name)] = name, archived, tuple(place.read(name, data=True))
    place.close()
    return found


def often_checkpointed(connection, _):
    connection.execute("PRAGMA wal_autocheckpoint=30")


def first_study(url, mode):
    """A study in a new file; or in one of an older version, which is upgraded."""
    if mode == "upgraded":
        return db.load_study("shared", url)
    study = db.create_study("s", storage=url, **CREATED)
    study.storage.close()  # the last connection: the log is copied into the file and deleted
    if mode != "wal":
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.execute(f"PRAGMA journal_mode={mode}")
    return study


def calls(url, mode, tell):
    """Everything that changes a storage; ``tell`` after each call, or after those at once."""
    study = first_study(url, mode)
    tell(None)
    other = db.load_study(study.name, url)
    for handle in (study, other):
        sa.event.listen(handle.storage._engine, "connect", often_checkpointed)
        handle.storage.close()
    tokens = map(str, itertools.count())
    for handle in [study, other] * 4:
        trials = handle.ask(3, token=next(tokens))
        tell(None)
        handle.tell_many(trials, [float(trial.id) for trial in trials], token=next(tokens))
        tell(None)
    for act in (
        lambda: other.add_trials({"arm": ["a", "b"] * 20, "reward": [1.0] * 40}, token=next(tokens)),
        lambda: study.set_floor(0.1, token=next(tokens)),
        lambda: other.void(0, "why", token=next(tokens)),
        lambda: study.retire_arm("b", token=next(tokens)),
        lambda: study.archive(token=next(tokens)),
        lambda: study.unarchive(token=next(tokens)),
        lambda: db.create_study("t", storage=study.storage, **CREATED),
        lambda: study.rename("u", token=next(tokens)),
        lambda: db.delete_study("t", study.storage, confirm="t"),
    ):
        act()
        tell(None)
    other.storage.close()
    at_once(study, [[next(tokens) for _ in range(4)] for _ in range(4)], tell)
    study.storage.close()


def at_once(study, tokens, tell):
    """Threads that share commits."""

    def ask(some):
        for token in some:
            study.ask(2, token=token)
            tell(token)

    threads = [threading.Thread(target=ask, args=(some,)) for some in tokens]
    for thread in threads:
        thread.start()
    join(*threads)
    tell(None)


def record(mode):
    """Make the calls, and record what SQLite does."""
    with TemporaryDirectory() as folder:
        url, copy = f"sqlite:///{folder}/s.db", f"sqlite:///{folder}/copy.db"
        states = [{}]
        if mode == "upgraded":
            shutil.copy(OLD, f"{folder}/copy.db")
            states = [state(copy)]
            shutil.move(shutil.copy(OLD, f"{folder}/copy.db"), f"{folder}/s.db")
        with recording(Path(folder)) as steps:

            def tell(token):
                steps.append(Told(token or len(states)))
                if token is None:
                    states.append(state(url))

            calls(url, mode, tell)
        assert any(isinstance(step, Write) for step in steps), "nothing was recorded: SQLAlchemy uses another SQLite"
        return Recorded(steps, states)


recorded_once = cache(record)


def put(folder, left, rng):
    """Put what a cut has left into a folder, and return the URL."""
    folder.mkdir()
    for name, content in left.items():
        (folder / name).write_bytes(content)
    if rng.random() < 0.5:  # memory that processes share: nothing is known about it after a cut
        (folder / "s.db-shm").write_bytes(rng.bytes(32768))
    return f"sqlite:///{folder}/s.db"


def check_cut(recorded, seed, folder, drive_cache=False):
    """Cut the power, open what it leaves, cut the power again meanwhile, and continue."""
    rng = np.random.default_rng(seed)
    told = [k for k, step in enumerate(recorded.steps) if isinstance(step, Told)]
    end = int(rng.choice(told)) + 1 if rng.random() < 0.5 else int(rng.integers(told[0] // 2, len(recorded.steps) + 1))
    steps, sector = recorded.steps[:end], int(rng.choice(SECTORS))
    url = put(folder / "1", after_cut(steps, rng, sector, drive_cache), rng)
    with recording(folder / "1") as opening:
        found = state(url)
    check_state(recorded, [step.what for step in steps if isinstance(step, Told)], found)
    began = next(k for k, step in enumerate(opening) if isinstance(step, SyncFolder)) + 1
    url = put(folder / "2", after_cut(opening[: rng.integers(began, len(opening) + 1)], rng, sector), rng)
    assert state(url) == found
    for name, _, _ in found.values():
        study = db.load_study(name, url)
        assert study.replay().same
        assert study.ask().id == len(study) - 1
        study.storage.close()
    if not found:
        db.create_study("s", storage=url, **CREATED).storage.close()
        assert [name for name, _, _ in state(url).values()] == ["s"]


def check_state(recorded, told, found):
    """Each call is there or not, and there if it has returned."""
    n_calls = max((what for what in told if isinstance(what, int)), default=0)
    before, after = (recorded.states + recorded.states[-1:])[n_calls : n_calls + 2]
    tokens = {what for what in told if isinstance(what, str)}
    if found == before:
        assert not tokens or before == after, "a call that has returned is lost"
        return
    about = [{identity: study[:2] for identity, study in some.items()} for some in (found, after)]
    assert about[0] == about[1], "a call that has returned is lost, or a call is there by half"
    for identity, (_, _, events) in found.items():
        earlier, later = before.get(identity, ((), (), ()))[2], after[identity][2]
        assert len(earlier) <= len(events), "a call that has returned is lost"
        assert events == later[: len(events)]
        there, missing = (Counter(event.token for event in some) for some in (events, later[len(events) :]))
        assert not there.keys() & missing.keys() - {None}, "a call is there by half"
        assert not tokens & missing.keys(), "a call that has returned is lost"
        assert len(events) in (len(earlier), len(later)) or None not in missing, "a call is there by half"


@pytest.mark.parametrize("mode", MODES)
def test_a_power_cut_loses_nothing(mode, tmp_path):
    for seed in range(20):
        check_cut(recorded_once(mode), seed, make(tmp_path / str(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_power_cuts_lose_nothing(mode, part, tmp_path):
    recorded = record(mode)
    for seed in range(100 * part, 100 * (part + 1)):
        check_cut(recorded, seed, make(tmp_path / str(seed)))


def make(folder):
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_settings_lose_calls_that_have_returned(name, tmp_path, monkeypatch):
    """At least a quarter of the cuts show each of them, so a hundred miss it with a probability below 1e-12."""
    mode, pragma, drive_cache = UNSAFE[name]
    set_up = schema.on_connect

    def unsafe(connection, record):
        set_up(connection, record)
        connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr(schema, "on_connect", unsafe)
    recorded = record(mode)

    def cut():
        for seed in range(100):
            with suppress(db.FormatError, db.NotFoundError):  # damaged altogether
                check_cut(recorded, seed, make(tmp_path / str(seed)), drive_cache)

    with pytest.raises(AssertionError, match="a call that has returned is lost"):
        cut()


def test_what_is_recorded_is_what_the_system_is_asked_for(tmp_path):
    """A file with the recorded changes is the file on the disk."""
    with recording(tmp_path) as steps:
        calls(f"sqlite:///{tmp_path}/s.db", "wal", lambda token: None)
        study = db.load_study("u", f"sqlite:///{tmp_path}/s.db")
        study.ask()
        rng = np.random.default_rng(0)
        everything = [*steps, *(Sync(file, len(steps), True) for file in links(steps)), SyncFolder(len(steps))]
        left = after_cut(everything, rng, 512)
        assert sorted(left) == ["s.db", "s.db-wal"]
        assert left == {name: (tmp_path / name).read_bytes() for name in left}
        study.storage.close()


def links(steps):
    return [step.file for step in steps if isinstance(step, Link) and step.file is not None]
