"""All operations of a study, in any order, on all storages and over HTTP, beside a naive study (tests/naive/study.py).

The operations are those that are declared. A new one needs a method of the naive study and a rule of ``Machine``; a
test fails until both are there.
"""

import inspect
import itertools
from collections import Counter
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import dirichlet_bandits as db
from dirichlet_bandits.live import lateness
from dirichlet_bandits.live.asking import Ask
from dirichlet_bandits.live.events import EVENTS, Reopened, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.operation import OPERATIONS as DECLARED
from dirichlet_bandits.live.operation import READ
from tests.live import mutants
from tests.live.places import TAKEN, Places
from tests.live.test_lateness import Clock
from tests.live.views import arms_of, counted, described, expected_counts, expected_view, outcome, view, written
from tests.naive.study import Study as NaiveStudy
from tests.storage.postgres import programs

CHANGES = {name: kind for name, kind in DECLARED.items() if kind.role != READ}
OF_A_STORAGE = {"rename", "archive", "unarchive"}
OPERATIONS = CHANGES.keys() | OF_A_STORAGE
ARMS = ["a", "b", "c", "d"]
SCHEDULES = 100  # in every run: about a minute of processor time
NEAR = ["memory", "SQLite"]
FAR = ["HTTP", "PostgreSQL"]  # in one schedule of eight
OF_TRIALS = {  # operations on a trial, and their arguments
    "tell": ["reward", "note"],
    "annotate": ["note", "attributes"],
    "abandon": [],
    "reopen": [],
    "void": ["reason"],
    "correct": ["reward", "reason"],
}
NEXT = {  # what a trial accepts
    "pending": ("tell", "abandon"),
    "abandoned": ("reopen", "annotate"),
    "answered": ("void", "correct"),
    "voided": ("correct", "annotate"),
}
OF_THE_STUDY = (
    ("rename", {"name": "early {}"}),
    ("rename", {"name": "late {}"}),
    ("rename", {"name": TAKEN}),
    ("archive", {}),
    ("unarchive", {}),
)
NONSENSE = (  # calls that every study refuses
    ("ask", {"segment": "nowhere"}),
    ("tell", {"id": 10_000, "reward": 1.0}),
    ("tell", {"id": 0, "reward": 2.0}),
    ("abandon", {"id": 10_000}),
    ("reopen", {"id": 10_000}),
    ("void", {"id": 10_000, "reason": "why"}),
    ("correct", {"id": 10_000, "reward": 0.5}),
    ("annotate", {"id": 10_000, "note": "hail"}),
    ("add_trials", {"rows": [("nobody", 1.0)]}),
    ("add_arm", {"name": "a"}),
    ("retire_arm", {"name": "nobody"}),
    ("set_floor", {"floor": {"nobody": 0.5}}),
    ("set_floor", {"floor": 0.9}),
    ("declare_winner", {"delta": 0.5, "segment": "nowhere"}),
)

that = st.runner()
recent = that.flatmap(lambda machine: st.sampled_from(range(len(machine.naive.trials))[-6:]))  # ids
segments = that.flatmap(lambda machine: st.sampled_from(machine.naive.segments or [None]))
rewards = st.sampled_from([0.0, 1.0, 0.25])
tokens = st.sampled_from([None] * 9 + ["x", "y", "z"])
units = st.sampled_from(["ann", "bob"])
given = st.fixed_dictionaries(
    {
        "reward": rewards,
        "reason": st.sampled_from(["typed twice", "wrong plot"]),
        "note": st.sampled_from([None, "hail", "frost"]),
        "attributes": st.sampled_from([{"plot": 7}, {"plot": None, "dry": True}]),
    }
)

steps = st.tuples(st.integers(0, 1), given)  # which of the two operations that a trial accepts


@st.composite
def declared(draw):
    """The settings of a study."""
    given = {"arms": ARMS[: draw(st.integers(2, 3))], "seed": draw(st.integers(0, 99)), "bounds": (0.0, 1.0)}
    given["policy"] = draw(st.sampled_from(["EqualSplit", "UCB1(sigma=0.5)"]))
    if draw(st.booleans()):
        given |= {"window": 10.0, "late": draw(st.sampled_from(["abandon", 0.0]))}
    if draw(st.booleans()):
        given["segments"] = ["clay", "sand"]
    if draw(st.booleans()):
        given["direction"] = "minimize"
    if draw(st.booleans()):
        given["floor"] = draw(st.sampled_from([0.25, {"a": 0.5}]))
    past = draw(st.sampled_from([None, None, "history", "borrow"]))
    if past == "history":
        weight = draw(st.sampled_from([0.0, 1.0] if given["policy"] == "EqualSplit" else [0.0, 0.5, 1.0]))
        given |= {"history": {"a": [1.0, 0.0], "b": [0.25]}, "weight": weight}
    elif past == "borrow" and "segments" in given and given["policy"] != "EqualSplit":
        given["borrow"] = 0.5
    return given


class Machine(RuleBasedStateMachine):
    """Calls the same operation of all studies, compares what they return or raise, and then all that can be seen."""

    places: Places
    near: list[str]  # where all schedules run
    far: list[str]  # where some of them run, too
    clock: Clock
    numbers = itertools.count()
    done: Counter  # what calls of each operation returned or raised
    kinds: set  # of events

    @initialize(given=declared(), far=st.sampled_from([False] * 7 + [True]))
    def create(self, given, far):
        self.number, self.steps, self.agreed, self.calls = next(self.numbers), 0, False, {}
        self.clock.now = 1e9
        self.naive = NaiveStudy(**given)
        self.naive.name = f"study {self.number}"
        note(f"study = db.create_study({self.naive.name!r}, {written(given)})")
        self.studies = self.places.create(self.naive.name, given, [*self.near, *(self.far if far else [])])
        self.agree()

    def do(self, operation, **named):
        """Call one operation of all studies."""
        named = {key: value for key, value in named.items() if value is not None}
        note(f"study.{operation}({written(named)})")
        self.agreed = False
        given = dict(named)
        if operation == "add_trials":
            given["frame"] = table(given.pop("rows"))
        answers = {place: outcome(getattr(study, operation), given) for place, study in self.studies.items()}
        came = answers["memory"][1]
        self.naive.now = self.clock.now
        self.naive.came = arms_of(came) if operation == "ask" else [came]
        did, value = outcome(partial(self.naive.call, operation), {"n": 1, **named} if operation == "ask" else named)
        if operation == "ask" and did == "returned":
            trials = [described(self.naive.trials[id]) for id in value]
            value = trials if "n" in named else trials[0]
        for place, answer in answers.items():
            assert answer == (did, value), f"study.{operation}({written(named)}) in {place}"
        if did == "returned" and "token" in named:
            self.calls[named["token"]] = operation, named
        self.done[operation, did] += 1
        self.agree()

    def close_windows(self):
        if self.naive.window:
            self.do("settle")

    @precondition(lambda self: self.calls)
    @rule(token=that.flatmap(lambda machine: st.sampled_from(list(machine.calls))))
    def call_again(self, token):
        operation, named = self.calls[token]
        self.do(operation, **named)

    # What can be seen

    def agree(self):
        """Compare after each step, and what takes longer after some of them."""
        expected = expected_view(self.naive)
        for place, study in self.studies.items():
            assert view(study) == expected, place
        self.steps += 1
        if self.steps % 8 == 0:
            self.agree_closely()
        self.agreed = True

    def agree_closely(self):
        expected, counts = expected_view(self.naive), expected_counts(self.naive)
        for place, study in self.studies.items():
            fresh = self.places.load(place, self.naive.name)
            assert view(fresh) == expected, f"another handle, {place}"
            assert counted(fresh) == counted(study) == counts, place
            assert study.replay().same, f"{place}: {study.replay()}"
            assert self.naive.name in self.places.names(place, self.naive.archived), place

    def teardown(self):
        if getattr(self, "agreed", False):
            self.agree_closely()
            events = self.places.storages["memory"].read(self.naive.name)
            self.kinds.update(type(event_of(row)) for row in events)

    # Operations

    @rule(n=st.sampled_from([None, 1, 2, 3]), segment=segments, token=tokens)
    def ask(self, n, segment, token):
        self.do("ask", n=n, segment=segment, token=token)

    @rule(unit=units, segment=segments, token=tokens, steps=st.lists(steps, max_size=3), retire=st.booleans())
    def ask_for_a_unit(self, unit, segment, token, steps, retire):
        self.do("ask", unit=unit, segment=segment, token=token)
        for trial in [trial for trial in self.naive.trials if trial.unit == unit][-1:]:
            self.carry_on(trial.id, steps)
            if retire:
                self.do("retire_arm", name=trial.arm)
                self.do("ask", unit=unit, segment=segment)

    @rule(n=st.integers(2, 4), segment=segments, reward=rewards)
    def ask_and_tell(self, n, segment, reward):
        first = len(self.naive.trials)
        self.do("ask", n=n, segment=segment)
        self.do("tell_many", ids=list(range(first, first + n)), rewards=[reward] * n)

    @precondition(lambda self: self.naive.trials)
    @rule(operation=st.sampled_from(list(OF_TRIALS)), id=recent, given=given, token=tokens)
    def change_a_trial(self, operation, id, given, token):
        """Do anything to a trial, which is often refused."""
        self.do(operation, id=id, **{key: given[key] for key in OF_TRIALS[operation]}, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=recent, steps=st.lists(steps, min_size=1, max_size=3))
    def carry_on(self, id, steps):
        """Do to a trial what it accepts, so that it passes through many states."""
        for which, given in steps:
            self.change_a_trial(NEXT[self.naive.trials[id].state][which], id, given, None)

    @precondition(lambda self: self.naive.trials)
    @rule(ids=st.lists(recent, min_size=1, max_size=3), reward=rewards, token=tokens)
    def tell_many(self, ids, reward, token):
        self.do("tell_many", ids=ids, rewards=[reward] * len(ids), token=token)

    @precondition(lambda self: not self.naive.segments)
    @rule(rows=that.flatmap(lambda machine: rows_of(machine.naive)), token=tokens)
    def add_trials(self, rows, token):
        self.do("add_trials", rows=rows, token=token)

    @rule(seconds=st.sampled_from([1.0, 4.0, 10.0]), settle=st.booleans())
    def wait(self, seconds, settle):
        note(f"clock.now += {seconds}")
        self.clock.now += seconds
        if settle:
            self.do("settle")

    @rule(name=st.sampled_from(ARMS), token=tokens)
    def add_or_retire_an_arm(self, name, token):
        self.do("retire_arm" if self.naive.arms.get(name) else "add_arm", name=name, token=token)

    @rule(floor=st.sampled_from([0.0, 0.2, 0.5, {"a": 0.3, "b": 0.0}, {"b": 1.0}]), token=tokens)
    def set_floor(self, floor, token):
        self.do("set_floor", floor=floor, token=token)

    @rule(change=st.sampled_from(OF_THE_STUDY), token=tokens)
    def change_the_study(self, change, token):
        self.close_windows()
        operation, named = change
        self.do(operation, **{key: name.format(self.number) for key, name in named.items()}, token=token)

    @rule(segment=segments, clear=st.booleans())
    def winner(self, segment, clear):
        if clear and not self.naive.segments:
            self.do("add_trials", rows=[(arm, float(arm == "a")) for arm in self.naive.active()] * 20)
        self.close_windows()
        self.do("declare_winner", delta=0.9, segment=segment)
        for place, study in self.studies.items():
            assert study.winner(0.9, segment=segment).arm == self.naive.winners.get(segment), place

    @rule(k=st.integers(0, len(NONSENSE) - 1))
    def nonsense(self, k):
        operation, named = NONSENSE[(k + self.steps) % len(NONSENSE)]  # the numbers drawn are often 0
        self.do(operation, **named)


def rows_of(naive):
    """Past trials."""
    few = st.lists(st.tuples(st.sampled_from(list(naive.arms)), rewards), min_size=1, max_size=3)
    return few | few.map(lambda rows: rows * 20)


def table(rows):
    return {"arm": [arm for arm, _ in rows], "reward": [reward for _, reward in rows]}


@pytest.fixture(scope="module")
def places(tmp_path_factory, request):
    url = request.getfixturevalue("postgres").empty() if programs() else None
    made = Places(tmp_path_factory.mktemp("places"), url)
    yield made
    made.close()


@pytest.fixture
def run(places, monkeypatch):
    """Runs schedules, and returns what calls of each operation returned or raised, and the kinds of events."""

    def schedules(number, steps=25, near=NEAR, far=FAR, phases=(Phase.generate, Phase.shrink)):
        monkeypatch.setattr(lateness, "clock", Clock())
        given = {"places": places, "near": near, "far": far, "clock": lateness.clock}
        given |= {"done": Counter(), "kinds": set()}
        machine = type("Machine", (Machine,), given)
        seeded = settings(
            max_examples=number,
            stateful_step_count=steps,
            phases=phases,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        run_state_machine_as_test(machine, settings=seeded)
        return machine.done, machine.kinds

    return schedules


def check_all_done(done, kinds):
    """Each operation was accepted, and refused if it can be without a token, and there are all kinds of events."""
    assert {operation for operation, did in done if did == "returned"} == OPERATIONS
    assert {operation for operation, did in done if did != "returned"} >= OPERATIONS - {
        "settle",
        "archive",
        "unarchive",
    }
    assert kinds == set(EVENTS)


def test_all_operations_do_what_the_naive_study_does(run):
    check_all_done(*run(SCHEDULES))


@pytest.mark.slow
def test_all_operations_do_what_the_naive_study_does_at_length(run):
    check_all_done(*run(5000, steps=40))


def test_no_operation_is_missing():
    """An operation that is declared fails here until it is in the naive study, and above until it has a rule."""
    assert {name for name in vars(NaiveStudy) if not name.startswith("_")} == OPERATIONS
    members = {name: member for name, member in inspect.getmembers(db.Study, callable) if not name.startswith("_")}
    assert members.keys() >= OPERATIONS
    with_token = {name for name, member in members.items() if "token" in inspect.signature(member).parameters}
    assert with_token == {name for name, kind in CHANGES.items() if kind.has_token} | OF_A_STORAGE


MUTANTS = {  # faults that studies have had, and the function that each replaces
    "the second reward of a unit counts if its arm was retired": (Journal, "assign", mutants.counts_again),
    "segments do not learn of reopened trials": (Reopened, "apply", mutants.forgets_reopened),
    "a reopened trial that does not count is pending": (Journal, "make_pending", mutants.phantom),
    "a unit that waits is sent to a retired arm": (Ask, "_waiting", mutants.serves_retired),
    "a past trial has a window": (Journal, "_is_open", mutants.past_waits),
}
SLOW = "a past trial has a window"  # found within 200 schedules; the others within 100


@pytest.mark.parametrize("name", [*sorted(MUTANTS.keys() - {SLOW}), pytest.param(SLOW, marks=pytest.mark.slow)])
def test_faults_are_found(run, monkeypatch, name):
    where, what, mutant = MUTANTS[name]
    monkeypatch.setattr(where, what, mutant(getattr(where, what)))
    with pytest.raises((AssertionError, db.FormatError)):
        run(1000, near=["memory"], far=[], phases=[Phase.generate])
