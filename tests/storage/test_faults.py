"""Whichever call of the storage fails, a study is as before or as after, and the same call again does it once."""

import inspect
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import count, product
from operator import attrgetter

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live import opening
from dirichlet_bandits.storage import MemoryStorage, Storage, open_storage, schema
from tests.bounds import join
from tests.live.test_group_commit import at_once
from tests.storage.faulty import KINDS, Faulty, FaultyWire, methods

ARMS = ["a", "b", "c"]
CREATED = {"arms": ARMS, "policy": db.UCB1(sigma=1.0), "seed": 1}
START = 1e9
TOKEN = "t"

# What each study is like before the call. Two are drawn up so that a call also closes windows.
STUDIES = {
    "plain": {},
    "bounded": {"bounds": (0.0, 50.0)},
    "window": {"window": 100.0, "late": 0.0},
    "window, abandoned": {"window": 100.0, "late": "abandon"},
    "segments": {"segments": ["x", "y"], "floor": 0.1},
}

CHANGES = {
    "ask": lambda s, t: s.ask(**segment(s), token=t),
    "ask, many": lambda s, t: s.ask(4, **segment(s), token=t),
    "ask, unit": lambda s, t: s.ask(**segment(s), unit="new", token=t),
    "ask, waiting unit": lambda s, t: s.ask(**segment(s), unit="u", token=t),
    "tell": lambda s, t: s.tell(4, 1.0, note="x", attributes={"plot": 7}, token=t),
    "tell, no news": lambda s, t: s.tell(1, 1.0, token=t),
    "tell_many": lambda s, t: s.tell_many([4, 5], [4.0, 5.0], token=t),
    "annotate": lambda s, t: s.annotate(2, note="mine", token=t),
    "add_trials": lambda s, t: s.add_trials({"arm": ["a", "b"], "reward": [1.0, 2.0]}, token=t),
    "settle": lambda s, t: s.settle(),
    "abandon": lambda s, t: s.abandon(5, token=t),
    "reopen": lambda s, t: s.reopen(6, token=t),
    "void": lambda s, t: s.void(0, "why", token=t),
    "correct": lambda s, t: s.correct(1, 7.0, "why", token=t),
    "declare_winner": lambda s, t: s.declare_winner(**segment(s)),
    "rename": lambda s, t: s.rename("new", token=t),
    "archive": lambda s, t: s.archive(token=t),
    "unarchive": lambda s, t: s.unarchive(token=t),
    "add_arm": lambda s, t: s.add_arm("d", token=t),
    "retire_arm": lambda s, t: s.retire_arm("b", token=t),
    "set_floor": lambda s, t: s.set_floor({"a": 0.2}, token=t),
}
CHANGES_NOTHING = ("settle", "declare_winner")  # in some of the studies; other calls store at least their tokens
DECLARED = (  # when it was created
    *("borrow", "control", "direction", "history", "identity", "policy", "reward_unit", "seed", "segments", "settings"),
    *("storage", "weight"),
)
READS = {
    "archived": lambda s: s.archived,
    "arms": lambda s: s.arms,
    "audit_log": lambda s: s.audit_log(),
    "best_arm": lambda s: s.best_arm,
    "bounds": lambda s: s.bounds,
    "estimate": lambda s: s.estimate("a"),
    "estimate_difference": lambda s: s.estimate_difference("a", "b", bounds=(0.0, 50.0)),
    "events": lambda s: s.events(),
    "export": lambda s: s.export(f"{s.folder}/trials.csv"),
    "floor": lambda s: s.floor,
    "late": lambda s: s.late,
    "name": lambda s: s.name,
    "pending": lambda s: s.pending,
    "propensities": lambda s: s.propensities(**segment(s)),
    "replay": lambda s: s.replay(),
    "summary": lambda s: s.summary(),
    "trials_dataframe": lambda s: s.trials_dataframe(),
    "window": lambda s: s.window,
    "winner": lambda s: s.winner(**segment(s)),
    **{name: attrgetter(name) for name in DECLARED},
}
OPENING = {"create_study", "delete_study"}
LOOKS = {
    "load_study": lambda place: db.load_study("s", place),
    "list_studies": opening.list_studies,
    "study_names": db.study_names,
    "place_of": opening.place_of,
    "check_confirmed": lambda place: opening.check_confirmed("s", "s"),
    "compile_live": lambda place: opening.compile_live(db.UCB1(sigma=1.0)),
}


WRITES = {"add_audit_entry", "create", "transaction"}


def segment(study):
    """The argument that asks of a study with segments need."""
    return {"segment": "x"} if study.segments else {}


@pytest.fixture
def now(monkeypatch):
    """A clock to set; and storages that give up on a lock at once, and do not wait for the disk."""
    time = [START]
    monkeypatch.setattr("dirichlet_bandits.live.lateness.clock", lambda: time[0])
    monkeypatch.setattr("time.time", lambda: time[0])
    monkeypatch.setattr("dirichlet_bandits.storage.database.PATIENCE", 0.0)
    monkeypatch.setattr("dirichlet_bandits.storage.connecting.ATTEMPT", 0.01)
    monkeypatch.setattr(schema, "on_connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
    return time


@pytest.fixture(params=["memory", "sqlite"])
def place(request, tmp_path, now):
    """An empty storage that fails on demand."""
    made = MemoryStorage() if request.param == "memory" else open_storage(f"sqlite:///{tmp_path}/s.db", create=True)
    yield Faulty(made)
    made.close() if request.param == "sqlite" else None


def prepared(kind, now):
    """The settings and events of a study with trials in every state; the call comes when some windows have closed."""
    study = db.create_study("s", **CREATED, **STUDIES[kind])
    asked = study.ask(4, **segment(study))
    study.tell_many(asked[:3], [float(trial.id) for trial in asked[:3]])
    now[0] += 50.0
    study.ask(unit="u", **segment(study))
    study.ask(2, **segment(study))
    study.abandon(6)
    now[0] += 60.0
    if kind == "bounded":
        rewards = np.random.default_rng(0).random((300, 2)) * [10.0, 50.0]
        study.add_trials({"arm": ["a", "b"] * 300, "reward": rewards.ravel()})
        study.retire_arm("c")
    return study.storage.settings("s"), study.storage.read("s", data=True)


def snapshot(place):
    """Everything that is stored, besides the identities of studies and the tokens that created them."""
    found = {}
    for archived in (False, True):
        for name in place.storage.names(archived):
            entries = place.storage.audit_log(99, name)
            log = [one._replace(identity="", note=None if one.what == "created" else one.note) for one in entries]
            found[name] = archived, place.storage.read(name, data=True), log
    return found


def fresh(place, stored):
    """Store the study anew, alone, and load it."""
    empty(place)
    settings, events = stored
    fresh.count += 1
    place.fail_at(None)
    place.storage.create("s", {**settings, "identity": str(fresh.count)}, events)
    return db.load_study("s", place)


fresh.count = 0


def in_thread(act):
    """The answer from another thread, which shares commits and must not find a lock taken; an exception is raised."""
    answers = []

    def run():
        try:
            answers.append((act(), None))
        except Exception as error:
            answers.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    join(thread, seconds=30)
    (answer, error) = answers[0]
    if error is not None:
        raise error
    return answer


def directly(act):
    return act()


def check_change(name, place, kind, now, run=directly, warm=True, token=TOKEN):
    """Let each call of the storage fail in each way; return how many calls raised an error."""

    def arranged():
        study = fresh(place, stored)
        if name == "unarchive":
            with place.storage.transaction("s") as transaction:
                transaction.archive(START)
        if warm:
            study.propensities(**segment(study))
        return study

    def act(study):
        return CHANGES[name](study, token)

    stored, again = prepared(kind, now), {"settle": []}
    study = arranged()
    before = snapshot(place)
    place.fail_at(None)
    answer = run(lambda: act(study))
    n_calls, after = len(place.calls), snapshot(place)
    assert before != after or name in CHANGES_NOTHING or token is None
    n_errors = 0
    for at in range(n_calls):
        for how in place.kinds:
            study = arranged()
            place.fail_at(at, how)
            error, found = None, answer
            try:
                found = run(lambda study=study: act(study))
            except db.StorageError as raised:
                error = raised
                n_errors += 1
            where = f"{place.calls}: call {at} {how}"
            place.fail_at(None)
            there = snapshot(place)
            assert there in (before, after), where
            assert error is not None or (place.may_pass(how) and there == after and found == answer), where
            for once_more in (directly, in_thread) if token is not None else [directly] * (there == before):
                found = once_more(lambda study=study: act(study))
                assert found == answer or found == again.get(name), where
            assert snapshot(place) == after, where
            check_handles(place, study, where)
    return n_errors


def check_handles(place, study, where):
    """The handle and a new one agree, and the log is whole."""
    other = db.load_study(study.name, place)
    assert study.trials_dataframe().equals(other.trials_dataframe()), where
    assert (study.arms, study.floor, study.archived) == (other.arms, other.floor, other.archived), where
    assert study.propensities(**segment(study)) == other.propensities(**segment(study)), where
    assert study.replay().same, where


def kind_for(name):
    return "bounded" if name == "declare_winner" else "window"


@pytest.mark.parametrize("name", CHANGES)
def test_a_call_of_the_storage_fails(name, place, now):
    """Called in another thread where threads share commits."""
    run = in_thread if getattr(place, "any_thread_may_commit", False) else directly
    check_change(name, place, kind_for(name), now, run)


@pytest.mark.parametrize("name", ["ask", "tell", "settle", "rename"])
def test_a_call_of_the_storage_fails_without_a_token(name, place, now):
    check_change(name, place, "window", now, warm=False, token=None)


@pytest.fixture
def wire(postgres, now, monkeypatch):
    """A storage on a server, the connection to which breaks on demand."""
    monkeypatch.setattr("dirichlet_bandits.storage.database.PATIENCE", 60.0)
    monkeypatch.setattr("dirichlet_bandits.storage.connecting.ATTEMPT", 5.0)
    with tempfile.TemporaryDirectory(prefix="wire-", dir="/tmp") as folder:  # a socket's path must be short
        made = FaultyWire(postgres, folder)
        yield made
        made.close()


@pytest.mark.parametrize("name", ["ask", "tell_many", "rename", "archive"])
def test_the_connection_to_a_server_breaks(name, wire, now):
    """Before or after the server gets each message: locks are tried again, and commits are not."""
    assert check_change(name, wire, "window", now, in_thread) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("run", [directly, in_thread])
@pytest.mark.parametrize("name", CHANGES)
def test_the_connection_to_a_server_breaks_at_each_change(name, run, wire, now):
    for token in (TOKEN, None):
        check_change(name, wire, kind_for(name), now, run, token=token)


@pytest.mark.parametrize("token", [TOKEN, None])
def test_the_connection_breaks_while_a_study_is_created(wire, token):
    """It is tried again until it succeeds, and the study that the lost attempt created is not taken for another's."""
    new = tokens(token)
    db.create_study("s", storage=wire, token=new(), **CREATED)
    empty(wire)
    wire.fail_at(None)
    db.create_study("s", storage=wire, token=new(), **CREATED)
    n_calls, after = len(wire.calls), snapshot(wire)
    broken = 0
    for at in range(n_calls):
        for how in wire.kinds:
            empty(wire)
            wire.fail_at(at, how)
            study = db.create_study("s", storage=wire, token=new(), **CREATED)
            broken += len(wire.calls) > at
            wire.fail_at(None)
            assert snapshot(wire) == after
            assert study.identity == wire.storage.settings("s")["identity"]
            check_handles(wire, study, f"message {at} {how}")
    assert broken >= 10


@pytest.mark.slow
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("run", [directly, in_thread])
@pytest.mark.parametrize(("name", "kind"), sorted({*product(CHANGES, STUDIES)} - {("add_trials", "segments")}))
def test_each_call_of_the_storage_fails(name, kind, run, warm, place, now):
    for token in (TOKEN, None):
        check_change(name, place, kind, now, run, warm, token)


@pytest.mark.parametrize("token", [TOKEN, None])
@pytest.mark.parametrize("exists", [False, True])
def test_creating_a_study_while_a_call_of_the_storage_fails(place, now, exists, token):
    """With ``exists``, the study is there already, and ``load_if_exists`` loads it."""
    new = tokens(token)
    asked = {"load_if_exists": exists, **CREATED}
    studies = [db.create_study("s", storage=MemoryStorage(), **CREATED)] if exists else []
    stored = [(study.storage.settings("s"), study.storage.read("s", data=True)) for study in studies]

    def arranged():
        fresh(place, stored[0]) if exists else empty(place)
        place.fail_at(None)

    arranged()
    before = snapshot(place)
    db.create_study("s", storage=place, **{**asked, "token": new()})
    n_calls, after = len(place.calls), snapshot(place)
    assert n_calls >= (2 if exists else 1)
    for at in range(n_calls):
        for how in KINDS:
            arranged()
            asked = {**asked, "token": new()}
            place.fail_at(at, how)
            with suppress(db.StorageError):
                study = db.create_study("s", storage=place, **asked)
            where = f"{place.calls}: call {at} {how}"
            place.fail_at(None)
            there = snapshot(place)
            assert there in (before, after), where
            if token is not None or exists or there == before:
                study = db.create_study("s", storage=place, **asked)
                assert snapshot(place) == after, where
                check_handles(place, study, where)


def test_deleting_a_study_while_a_call_of_the_storage_fails(place, now):
    stored = prepared("window", now)
    study = fresh(place, stored)
    before = snapshot(place)
    place.fail_at(None)
    db.delete_study("s", place, confirm="s", identity=study.identity)
    calls = list(place.calls)
    assert calls == ["transaction", "settings", "delete", "commit"]
    for at in range(len(calls)):
        for how in KINDS:
            study = fresh(place, stored)
            place.fail_at(at, how)
            with suppress(db.StorageError):
                db.delete_study("s", place, confirm="s", identity=study.identity)
            place.fail_at(None)
            there = snapshot(place)
            assert there in (before, {})
            if there:
                check_handles(place, study, f"call {at} {how}")
                db.delete_study("s", place, confirm="s", identity=study.identity)
            with pytest.raises(db.NotFoundError, match="no study 's'"):
                db.delete_study("s", place, confirm="s")
            assert place.storage.names() == []


def tokens(token):
    """Return a function that returns a token for each creation, because a token creates a study once; or None."""
    numbers = count()
    return lambda: None if token is None else f"{token}{next(numbers)}"


def empty(place):
    """Delete all studies."""
    for archived in (False, True):
        for name in place.storage.names(archived):
            db.delete_study(name, place.storage, confirm=name)


SHARED = {  # calls at once, by their tokens
    "ask": lambda s: s.ask(token="ask"),
    "asks": lambda s: s.ask(3, token="asks"),
    "tell": lambda s: s.tell(4, 4.0, note="x", token="tell"),
    "told": lambda s: s.tell(1, 1.0, token="told"),
    "void": lambda s: s.void(0, "why", token="void"),
    "arm": lambda s: s.add_arm("d", token="arm"),
}
SHARED_EVENTS = {"ask": 1, "asks": 3, "tell": 2, "told": 1, "void": 1, "arm": 1}


def all_at_once(study):
    """The answers, by token."""
    return dict(zip(SHARED, at_once(study, [partial(act, study) for act in SHARED.values()]), strict=True))


def test_a_call_of_the_storage_fails_for_threads_that_share_a_commit(tmp_path, now):
    """Those that have returned are stored; those that have not are stored as a whole or not, and work once more."""
    place = Faulty(open_storage(f"sqlite:///{tmp_path}/s.db", create=True))
    stored, n_calls, failed = prepared("window", now), 0, 0
    for at in range(20):
        for how in KINDS:
            study = fresh(place, stored)
            place.fail_at(at, how)
            answers = all_at_once(study)
            where, n_calls = f"{place.calls}: call {at} {how}", len(place.calls)
            place.fail_at(None)
            returned = {token for token, found in answers.items() if not isinstance(found, Exception)}
            assert all(isinstance(answers[token], db.StorageError) for token in SHARED.keys() - returned), where
            assert returned <= {event.token for event in place.storage.read("s", data=True)}, where
            failed += len(returned) < len(SHARED)
            check_handles(place, study, where)
            again = all_at_once(study)
            assert all(again[token] == answers[token] for token in returned), where
            counts = Counter(event.token for event in place.storage.read("s", data=True))
            assert {token: counts[token] for token in SHARED} == SHARED_EVENTS, where
            check_handles(place, study, where)
    assert failed > 5
    assert n_calls < 20
    place.close()


def test_every_method_that_changes_something_is_covered(place, now, tmp_path):
    """A new one must be added above; what is said to read only does not write."""
    changes = {name.partition(",")[0] for name in CHANGES}
    public = {name for name in dir(db.Study) if not name.startswith("_")}
    assert changes.isdisjoint(READS)
    assert public == changes | READS.keys()
    defined = {name for name, found in vars(opening).items() if inspect.isfunction(found)}
    ours = {name for name in defined if getattr(opening, name).__module__ == opening.__name__ and name[0] != "_"}
    assert ours == OPENING | LOOKS.keys()
    study = fresh(place, prepared("window", now))
    before = snapshot(place)
    study.folder = tmp_path
    for look in READS.values():
        look(study)
    for look in LOOKS.values():
        look(place)
    assert set(place.calls) <= set(methods(Storage)) - WRITES
    assert snapshot(place) == before
