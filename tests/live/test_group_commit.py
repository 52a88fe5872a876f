"""Threads that change a study at the same time share a commit; each returns when its events are stored."""

import threading
import time
from contextlib import contextmanager

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.events import Abandoned
from dirichlet_bandits.live.local import local_of
from tests.storage.conftest import fresh_url

UCB1 = db.UCB1(sigma=1.0)


@pytest.fixture(params=["sqlite", "postgresql"])
def study(request, tmp_path):
    made = db.create_study(
        "s", arms=["a", "b", "c"], policy=UCB1, storage=fresh_url(request.param, request, tmp_path), seed=1
    )
    yield made
    made.storage.close()


def at_once(study, acts):
    """What becomes of acts in threads of their own, all of which have to wait for the study before any begins."""
    outcomes = [None] * len(acts)

    def run(k):
        try:
            outcomes[k] = acts[k]()
        except Exception as error:
            outcomes[k] = error

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(len(acts))]
    with local_of(study).lock:
        for thread in threads:
            thread.start()
        while len(local_of(study)._queue) < len(acts):
            time.sleep(0.001)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    return outcomes


@pytest.fixture
def commits(study, monkeypatch):
    """How many transactions there were."""
    begun, begin = [], study.storage.transaction
    monkeypatch.setattr(study.storage, "transaction", lambda name: begun.append(name) or begin(name))
    return begun


def test_many_asks_are_one_commit(study, commits):
    asked = at_once(study, [study.ask] * 8)
    assert sorted(trial.id for trial in asked) == list(range(8))
    assert len(commits) == 1
    told = at_once(study, [lambda trial=trial: study.tell(trial, 1.0) for trial in asked])
    assert told == [None] * 8
    assert len(commits) == 2
    fresh = db.load_study("s", study.storage)
    assert fresh.summary()["told"].sum() == 8
    assert fresh.trials_dataframe().equals(study.trials_dataframe())
    assert study.replay().same


def test_who_is_refused_takes_nobody_along(study, commits):
    study.ask(4)
    study.tell(0, 1.0)
    commits.clear()
    acts = [lambda: study.tell(0, 2.0), lambda: study.tell(1, 1.0), lambda: study.tell(99, 1.0), study.ask]
    refused, told, missing, asked = at_once(study, acts)
    assert type(refused) is db.ConflictError
    assert type(missing) is db.NotFoundError
    assert (told, asked.id) == (None, 4)
    assert len(commits) == 1
    assert study.trials_dataframe()["status"].tolist() == ["told", "told", "pending", "pending", "pending"]
    assert study.replay().same


def test_a_draft_that_fails_is_thrown_away(study, monkeypatch):
    """The events of those before and after it are stored."""
    study.ask(4)

    def half():
        with local_of(study)._writing() as (_, draft, _):
            draft(Abandoned(0))
            raise ZeroDivisionError

    outcomes = at_once(study, [lambda: study.tell(1, 1.0), half, lambda: study.tell(2, 1.0), half, study.ask])
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "NoneType",
        "ZeroDivisionError",
        "NoneType",
        "ZeroDivisionError",
        "Trial",
    ]
    assert study.trials_dataframe()["status"].tolist() == ["pending", "told", "told", "pending", "pending"]
    assert study.trials_dataframe().equals(db.load_study("s", study.storage).trials_dataframe())


def test_a_call_that_is_sent_twice_at_once_is_done_once(study, commits):
    """The second of them finds the first among events that are not stored yet."""
    study.tell_many([trial.id for trial in study.ask(2)], [1.0, 2.0])
    commits.clear()
    acts = [lambda: study.correct(0, 3.0, token="t"), lambda: study.correct(0, 3.0, token="t")]
    other = [lambda: study.correct(0, 4.0, token="t"), lambda: study.ask(token="u"), lambda: study.ask(token="u")]
    outcomes = at_once(study, acts)
    assert (outcomes, len(commits)) == ([None, None], 1)
    refused, first, second = at_once(study, other)
    assert type(refused) is db.ConflictError
    assert first == second
    assert study.trials_dataframe()["revisions"][0] == '[{"reward": 1.0}, {"reward": 3.0}]'
    assert study.trials_dataframe().equals(db.load_study("s", study.storage).trials_dataframe())


@pytest.mark.parametrize("token", [None, "t"])
def test_a_rename_among_writers(study, token):
    """It commits what was drafted before it, and those that come after it find the new name."""
    acts = [study.ask, study.ask, lambda: study.rename("new", token=token), study.ask, study.ask]
    renamed = threading.Thread(target=acts[2], daemon=True)
    with local_of(study).lock:
        threads = [threading.Thread(target=act, daemon=True) for act in acts[:2] + acts[3:]]
        for thread in [*threads[:2], renamed, *threads[2:]]:
            thread.start()
        while len(local_of(study)._queue) < 4:
            time.sleep(0.001)
    for thread in [*threads, renamed]:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    assert (study.name, len(study)) == ("new", 4)
    assert db.study_names(study.storage) == ["new"]
    assert study.replay().same


def test_a_study_that_was_replaced_is_refused_to_all(study):
    study.ask()
    db.delete_study("s", study.storage, confirm="s")
    other = db.create_study("s", arms=["a", "b"], policy=UCB1, storage=study.storage, seed=1)
    outcomes = at_once(study, [study.ask, study.ask, lambda: study.tell(0, 1.0)])
    assert {str(outcome) for outcome in outcomes} == {
        "the study 's' was replaced by another one of this name: load it again"
    }
    assert {outcome.study for outcome in outcomes} == {"s"}
    assert len(other) == 0


def test_nobody_returns_before_the_commit(study, monkeypatch):
    returned, seen, begin = [], [], study.storage.transaction

    @contextmanager
    def watched(name):
        with begin(name) as transaction:
            yield transaction
            seen.append(list(returned))  # all have drafted; nothing is committed yet

    monkeypatch.setattr(study.storage, "transaction", watched)
    at_once(study, [lambda: returned.append(study.ask())] * 6)
    assert seen == [[]]
    assert len(returned) == 6


def test_a_commit_that_fails_fails_for_all(study, monkeypatch):
    begin = study.storage.transaction

    @contextmanager
    def broken(name):
        with begin(name) as transaction:
            yield transaction
            raise db.StorageError("the disk is full, nothing was written")

    monkeypatch.setattr(study.storage, "transaction", broken)
    outcomes = at_once(study, [study.ask] * 5)
    assert [str(outcome) for outcome in outcomes] == ["the disk is full, nothing was written"] * 5
    monkeypatch.undo()
    assert len(study) == 0
    assert study.ask().id == 0
    assert study.replay().same


def test_a_reader_sees_what_is_stored_only(study):
    """It has the commit done first, if it comes between two writers."""
    outcomes = at_once(study, [study.ask, study.ask])
    assert len(outcomes) == 2

    def read_between():
        return len(study), len(db.load_study("s", study.storage))

    for _ in range(20):
        threads = [threading.Thread(target=study.ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        known, stored = read_between()
        assert known <= stored
        for thread in threads:
            thread.join(60)
    assert len(study) == 82
    assert study.replay().same
