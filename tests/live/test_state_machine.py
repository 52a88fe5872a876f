"""All operations of a study, in any order, on all storages and over HTTP, beside a naive study (tests/naive/study.py).

To add an operation, add a method to the naive study and a rule to ``Machine``; a test fails until both are there.
"""

import inspect
import itertools
import json
import math
from collections import Counter

import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

import dirichlet_bandits as db
from dirichlet_bandits.live import lateness
from dirichlet_bandits.service import api
from dirichlet_bandits.storage.events import KINDS
from tests.live.places import TAKEN, Places
from tests.live.test_lateness import Clock
from tests.naive.next_round import next_round
from tests.naive.study import Study as NaiveStudy
from tests.storage.postgres import programs

OPERATIONS = {name for name in vars(NaiveStudy) if not name.startswith("_")}
READING = {"summary"}
ARMS = ["a", "b", "c", "d"]
COLUMNS = (
    *("arm", "propensity", "round", "status", "reward", "original", "reason", "history", "note", "attributes"),
    *("late", "segment", "unit"),
)
COUNTS = ("active", "told", "pending", "abandoned", "voided", "mean")
NONSENSE = (  # calls that every study refuses
    ("ask", {"segment": "nowhere"}),
    ("ask", {"n": 2, "unit": "ann"}),
    ("tell", {"id": 10_000, "reward": 1.0}),
    ("tell", {"id": 0, "reward": 2.0}),
    ("abandon", {"id": 10_000}),
    ("reopen", {"id": 10_000}),
    ("void", {"id": 10_000, "reason": "why"}),
    ("correct", {"id": 10_000, "reward": 0.5}),
    ("annotate", {"id": 10_000, "note": "hail"}),
    ("retire_arm", {"name": "nobody"}),
    ("set_floor", {"floor": {"nobody": 0.5}}),
    ("set_floor", {"floor": 0.9}),
    ("winner", {"delta": 0.5, "segment": "nowhere"}),
)

that = st.runner()
ids = that.flatmap(lambda machine: st.integers(0, len(machine.naive.trials) - 1))
waiting = that.flatmap(lambda machine: st.sampled_from(machine.naive.pending()))
segments = that.flatmap(lambda machine: st.sampled_from(machine.naive.segments or [None]))
rewards = st.sampled_from([0.0, 1.0, 0.25])
tokens = st.sampled_from([None] * 9 + ["x", "y", "z"])
units = st.sampled_from(["ann", "bob", "eve"])
reasons = st.sampled_from(["typed twice", "wrong plot"])
notes = st.sampled_from([None, "hail", "frost"])
attributes = st.sampled_from([None, {"plot": 7}, {"plot": None, "dry": True}])


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
    """Calls the same operation on all studies, and compares what they return or raise, and then all that can be seen."""

    places: Places
    clock: Clock
    numbers = itertools.count()
    done: Counter  # what calls of each operation returned or raised
    kinds: set  # of events

    @initialize(given=declared(), far=st.sampled_from([False] * 7 + [True]))
    def create(self, given, far):
        self.number, self.steps, self.agreed = next(self.numbers), 0, False
        self.clock.now = 1e9
        self.naive = NaiveStudy(**given)
        self.naive.name = f"study {self.number}"
        note(f"study = db.create_study({self.naive.name!r}, {written(given)})")
        self.studies = self.places.create(self.naive.name, given, far)
        self.agree()

    def do(self, operation, **named):
        """Call one operation of all studies."""
        named = {key: value for key, value in named.items() if value is not None}
        note(f"study.{operation}({written(named)})")
        self.agreed = False
        given = named if operation != "add_trials" else {**named, "frame": table(named["rows"])}
        given = {key: value for key, value in given.items() if key != "rows"}
        answers = {place: outcome(getattr(study, operation), given) for place, study in self.studies.items()}
        first = answers["memory"][1]
        self.naive.now = self.clock.now
        self.naive.came = [trial[1] for trial in many(first)] if operation == "ask" else [first]
        naive = outcome(lambda **named: self.naive.call(operation, **named), named)
        expected = (naive[0], self.described(naive[1])) if operation == "ask" else naive
        for place, answer in answers.items():
            assert answer == expected, f"study.{operation}({written(named)}) in {place}"
        self.done[operation, expected[0]] += 1
        self.agree()

    def described(self, answer):
        """The trials that an ask of the naive study has returned, as a tuple each."""
        if isinstance(answer, list):
            return [self.described(id) for id in answer]
        if answer is None:
            return None
        trial = self.naive.trials[answer]
        return trial.id, trial.arm, rounded(trial.propensity), trial.segment, trial.unit

    def close_windows(self):
        if self.naive.window:
            self.do("settle")

    @precondition(lambda self: self.naive.calls)
    @rule(token=that.flatmap(lambda machine: st.sampled_from(list(machine.naive.calls))))
    def call_again(self, token):
        (operation, _, named), _ = self.naive.calls[token]
        self.do(operation, **named, token=token)

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
            self.kinds.update(KINDS[event.kind] for event in events)

    # Operations

    @rule(n=st.sampled_from([None, 1, 2, 3]), segment=segments, token=tokens)
    def ask(self, n, segment, token):
        self.do("ask", n=n, segment=segment, token=token)

    @rule(unit=units, segment=segments, token=tokens)
    def ask_for_a_unit(self, unit, segment, token):
        self.do("ask", unit=unit, segment=segment, token=token)

    @rule(n=st.integers(2, 5), segment=segments, reward=rewards)
    def ask_and_tell(self, n, segment, reward):
        before = len(self.naive.trials)
        self.do("ask", n=n, segment=segment)
        for id in range(before, before + n):
            self.do("tell", id=id, reward=reward)

    @precondition(lambda self: self.naive.pending())
    @rule(id=waiting, reward=rewards)
    def tell_one_that_waits(self, id, reward):
        self.do("tell", id=id, reward=reward)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, reward=rewards, note=notes, attributes=attributes, token=tokens)
    def tell(self, id, reward, note, attributes, token):
        self.do("tell", id=id, reward=reward, note=note, attributes=attributes, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(ids=st.lists(ids, min_size=1, max_size=3), reward=rewards, token=tokens)
    def tell_many(self, ids, reward, token):
        self.do("tell_many", ids=ids, rewards=[reward] * len(ids), token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, note=notes, token=tokens)
    def annotate(self, id, note, token):
        self.do("annotate", id=id, note=note, attributes={"plot": 8}, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, token=tokens)
    def abandon(self, id, token):
        self.do("abandon", id=id, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, token=tokens)
    def reopen(self, id, token):
        self.do("reopen", id=id, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, reason=reasons, token=tokens)
    def void(self, id, reason, token):
        self.do("void", id=id, reason=reason, token=token)

    @precondition(lambda self: self.naive.trials)
    @rule(id=ids, reward=rewards, reason=st.none() | reasons, token=tokens)
    def correct(self, id, reward, reason, token):
        self.do("correct", id=id, reward=reward, reason=reason, token=token)

    @rule(rows=that.flatmap(lambda machine: rows_of(machine.naive)), token=tokens)
    def add_trials(self, rows, token):
        self.do("add_trials", rows=rows, token=token)

    @rule(seconds=st.sampled_from([1.0, 4.0, 10.0]))
    def wait(self, seconds):
        note(f"clock.now += {seconds}")
        self.clock.now += seconds

    @rule()
    def settle(self):
        self.do("settle")

    @rule(name=st.sampled_from(ARMS), token=tokens)
    def add_arm(self, name, token):
        self.do("add_arm", name=name, token=token)

    @rule(name=that.flatmap(lambda machine: st.sampled_from(list(machine.naive.arms))), token=tokens)
    def retire_arm(self, name, token):
        self.do("retire_arm", name=name, token=token)

    @rule(floor=st.sampled_from([0.0, 0.2, 0.5, {"a": 0.3, "b": 0.0}, {"b": 1.0}, {"a": 0.0}]), token=tokens)
    def set_floor(self, floor, token):
        self.do("set_floor", floor=floor, token=token)

    @rule(name=st.sampled_from(["early", "late", TAKEN]), token=tokens)
    def rename(self, name, token):
        self.close_windows()
        self.do("rename", name=name if name == TAKEN else f"{name} {self.number}", token=token)

    @rule(token=tokens)
    def archive(self, token):
        self.close_windows()
        self.do("archive", token=token)

    @rule(token=tokens)
    def unarchive(self, token):
        self.close_windows()
        self.do("unarchive", token=token)

    @rule(segment=segments)
    def winner(self, segment):
        self.close_windows()
        self.do("winner", delta=0.9, segment=segment)

    @rule(call=st.sampled_from(NONSENSE))
    def nonsense(self, call):
        self.do(call[0], **call[1])


def rows_of(naive):
    """Past trials."""
    few = st.lists(st.tuples(st.sampled_from(list(naive.arms)), rewards), min_size=1, max_size=4)
    return few | few.map(lambda rows: rows * 20)


def table(rows):
    return {"arm": [arm for arm, _ in rows], "reward": [reward for _, reward in rows]}


def written(named):
    """Arguments as Python code."""
    return ", ".join(f"{key}={value!r}" for key, value in named.items())


def outcome(call, named):
    """What a call returns, or the class of what it raises."""
    try:
        return "returned", plain(call(**named))
    except db.DirichletBanditsError as error:
        return type(error).__name__, None


def plain(answer):
    if isinstance(answer, list):
        return [plain(one) for one in answer]
    if isinstance(answer, db.Trial):
        return answer.id, answer.arm, rounded(answer.propensity), answer.segment, answer.unit
    return answer.arm if isinstance(answer, db.Winner) else answer


def many(answer):
    return answer if isinstance(answer, list) else [] if answer is None else [answer]


def rounded(x):
    return None if math.isnan(x) else round(x, 9)


def view(study):
    """All that can be seen of a study at little cost."""
    log = study.trials_dataframe()
    columns = {column: [absent(x) for x in log[column].tolist()] for column in COLUMNS}
    columns["history"] = [json.loads(text or "[]") for text in columns["history"]]
    columns["attributes"] = [json.loads(text or "{}") for text in columns["attributes"]]
    return {
        "name": study.name,
        "arms": study.arms,
        "floor": study.floor,
        "archived": study.archived,
        "pending": [trial.id for trial in study.pending],
        "propensities": [
            {arm: rounded(chance) for arm, chance in study.propensities(segment=segment).items()}
            for segment in study.segments or [None]
        ],
        **columns,
    }


def expected_view(naive):
    chances = [next_round(naive, segment) for segment in naive.segments or [None]]
    revised = [trial.revisions or [(None, None)] for trial in naive.trials]
    return {
        "name": naive.name,
        "arms": naive.active(),
        "floor": naive.floor,
        "archived": naive.archived,
        "pending": naive.pending(),
        "propensities": [{arm: rounded(one.get(arm, 0.0)) for arm in naive.arms} for one in chances],
        **{column: [absent(getattr(trial, column, None)) for trial in naive.trials] for column in COLUMNS},
        "status": [naive.status(trial) for trial in naive.trials],
        "original": [revisions[0][0] for revisions in revised],
        "reason": [revisions[-1][1] for revisions in revised],
        "history": [
            [{"reward": reward} | ({"reason": reason} if reason else {}) for reward, reason in trial.revisions]
            for trial in naive.trials
        ],
    }


def absent(x):
    return None if isinstance(x, float) and math.isnan(x) else x


def counted(study):
    """The counts and means of a study's arms, in each segment and over all of them."""
    columns = [*COUNTS, *(["held", "late"] if study.window else [])]
    found = {segment: study.summary(segment=segment)[columns].to_dict("index") for segment in (None, *study.segments)}
    return {
        key: {arm: {**row, "mean": rounded(row["mean"])} for arm, row in rows.items()} for key, rows in found.items()
    }


def expected_counts(naive):
    columns = [*COUNTS, *(["held", "late"] if naive.window else [])]

    def row(arm, segment):
        every = {**naive.counts(arm, segment), "mean": rounded(naive.mean(arm, segment))}
        return {column: every[column] for column in columns}

    return {segment: {arm: row(arm, segment) for arm in naive.arms} for segment in (None, *naive.segments)}


@pytest.fixture(scope="module")
def places(tmp_path_factory, request):
    url = request.getfixturevalue("postgres").empty() if programs() else None
    made = Places(tmp_path_factory.mktemp("places"), url)
    yield made
    made.close()


@pytest.fixture
def run(places, monkeypatch):
    """Runs schedules, and returns what calls of each operation returned or raised, and the kinds of events."""

    def schedules(number, steps=25, phases=(Phase.generate, Phase.shrink)):
        monkeypatch.setattr(lateness, "clock", Clock())
        given = {"places": places, "clock": lateness.clock, "done": Counter(), "kinds": set()}
        machine = type("Machine", (Machine,), given)
        seeded = settings(
            max_examples=number,
            stateful_step_count=steps,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=phases,
            report_multiple_bugs=False,
            print_blob=False,
        )
        run_state_machine_as_test(machine, settings=seeded)
        return machine.done, machine.kinds

    return schedules


def test_all_operations_do_what_the_naive_study_does(run):
    done, kinds = run(200, phases=[Phase.generate])
    print(done, kinds)
    assert kinds == set(KINDS)
    assert {operation for operation, answer in done if answer == "returned"} == OPERATIONS
