"""Every kind of event, wherever events are read: in segments, the audit log, exports, replays and damaged logs.

A kind that is new, and not in the games here, fails the first test.
"""

from dataclasses import replace

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live import export
from dirichlet_bandits.live.event import NewTrial, OfArms, OfTrial
from dirichlet_bandits.live.events import EVENTS, CallRecorded, Reopened, WindowsClosed, WinnerDeclared, event_of
from dirichlet_bandits.live.export import read_rounds, recover
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.storage.events import Row
from tests.live.test_lateness import Clock, clock  # noqa: F401

ARMS = ["a", "b", "c"]


def played(clock, segments=(), units=True, seed=0, steps=150):  # noqa: F811
    """A study in which everything happens, in any order; with segments, past trials cannot be added."""
    rng = np.random.default_rng(seed)
    study = db.create_study(
        "s",
        arms=ARMS,
        policy="UCB1(sigma=0.5)",
        segments=segments or None,
        bounds=(0, 1),
        window=300,
        late=0.25,
        floor=0.1,
        seed=seed,
    )
    acts = ["ask", "ask", "ask", "ask", "tell", "tell", "abandon", "reopen", "void", "correct", "annotate", "arms"]
    for k in range(steps):
        clock.now += float(rng.exponential(10.0))
        act, trial = str(rng.choice(acts)), int(rng.integers(len(study) + 1))
        place = {"segment": str(rng.choice(segments))} if segments else {}
        unit = {"unit": f"u{rng.integers(5)}"} if units and rng.random() < 0.5 else {}
        reward = float(rng.integers(5)) / 4.0
        try:
            if act == "ask":
                study.ask(**place, **unit)
            elif act in ("tell", "correct"):
                getattr(study, act)(trial, reward, token=f"t{k}" if rng.random() < 0.2 else None)
            elif act in ("abandon", "reopen"):
                getattr(study, act)(trial)
            elif act == "void":
                study.void(trial, "wrong")
            elif act == "annotate":
                study.annotate(trial, note="hail")
            elif rng.random() < 0.7:
                study.retire_arm("a") if "a" in study.arms else study.add_arm("a")
            else:
                study.set_floor(0.05 * float(rng.integers(4)))
        except (db.ConflictError, db.NotFoundError):
            pass  # as if a user had not known
    study.archive(token="done")
    study.declare_winner(delta=0.999, margin=0.9, **({"segment": segments[0]} if segments else {}))
    if not segments:
        study.add_trials({"arm": ["a", "b"], "reward": [1.0, 0.5], "propensity": [0.5, None]})
    return study


@pytest.fixture
def games(clock):  # noqa: F811
    return played(clock), played(clock, ["x", "y"])


def test_every_kind_of_event_is_played_and_listed(games):
    """So every kind states what it concerns, and all that follows here is about all of them."""
    assert {type(event_of(row)) for study in games for row in local_of(study).rows()} == set(EVENTS)
    for study in games:
        happened = study.events(limit=10_000)
        assert [event.what for event in happened][::-1] == [event_of(row).what for row in local_of(study).rows()]
        assert study.replay().same
        assert len(study.trials_dataframe()) == len(read_rounds(local_of(study).rows())[1].row)


@pytest.mark.parametrize("kind", EVENTS)
def test_a_kind_of_event_says_what_it_changes(games, kind):
    """An event changes the trials that it concerns, and no others; a kind that changes nothing leaves all as it was."""
    seen = 0
    for study in games:
        journal = Journal()
        for row in local_of(study).rows():
            before = [journal.records.trial(trial).status for trial in range(len(journal.arm_of))], list(journal.active)
            journal.apply([row])
            event = event_of(row)
            if type(event) is not kind:
                continue
            seen += 1
            assert event.row(row.number, row.at, row.token, row.actor) == row
            after = [journal.records.trial(trial).status for trial in range(len(journal.arm_of))]
            changed = {trial for trial, status in enumerate(after) if [status] != before[0][trial : trial + 1]}
            allowed = {row.trial} if isinstance(event, OfTrial) else set()
            assert changed <= (set(range(row.trial + 1)) if kind is WindowsClosed else allowed)
            assert isinstance(event, OfArms) or journal.active == before[1]
            assert (row.trial is None) != isinstance(event, OfTrial)
    assert seen > 0


def alone(events, segment):
    """The events of a segment as those of a study that has no other, by what the kinds concern."""
    whole, ids, kept = Journal(), {}, []
    for event in events:
        whole.apply([event])
        kind, trial = type(event_of(event)), event.trial
        if issubclass(kind, NewTrial):
            if whole.records.trial(trial).segment != segment or trial in whole.repeats:
                continue
            ids[trial] = len(ids)
            rest = [[arm, chance] for arm, chance in whole.of(segment).rest] if event.data is not None else None
            event = event._replace(note=None if not rest else str(rest))
        elif kind is WindowsClosed and trial not in ids:
            earlier = [one for one in ids if one < trial]
            if not earlier or ids[earlier[-1]] in [one.trial for one in kept if one.kind == WindowsClosed.kind]:
                continue
            if whole.records.trial(earlier[-1]).status == "pending":
                continue
            trial, event = earlier[-1], event._replace(value=None)
        elif (trial is not None and trial not in ids) or kind in (CallRecorded, WinnerDeclared):
            continue
        kept.append(event._replace(trial=None if trial is None else ids[trial]))
    return [Row(*event)._replace(number=k, token=None) for k, event in enumerate(kept)]


@pytest.mark.parametrize("seed", range(4))
def test_a_segment_is_a_study_of_its_own(clock, seed):  # noqa: F811
    study = played(clock, ["x", "y"], seed=seed, steps=250)
    events = local_of(study).rows()
    assert any(event.kind == Reopened.kind for event in events)
    for segment in study.segments:
        expected, part = Journal(), local_of(study).journal().of(segment)
        expected.apply(alone(events, segment))
        assert (part.n_told, part.n_pending) == (expected.n_told, expected.n_pending)
        assert sorted(zip(part.told.trials, part.told.rewards, strict=True)) == sorted(
            zip(expected.told.trials, expected.told.rewards, strict=True)
        )
        for name in ("arm_of", "pending", "repeats", "active", "floor", "lateness", "rest", "since"):
            assert getattr(part, name) == getattr(expected, name), name
        whole = local_of(study).journal()
        for trial, there in enumerate(part.ids):
            one, other = whole.records.trial(there), expected.records.trial(trial)
            same = {"segment": None, "unit": None, "round": 0}
            assert repr(replace(one, **same)) == repr(replace(other, **same))  # of which some numbers may be NaN
    assert study.replay().same


@pytest.mark.parametrize("segments", [(), ("x", "y")])
def test_whatever_is_missing_the_rest_can_be_exported(clock, segments):  # noqa: F811
    events = local_of(played(clock, segments, steps=120)).rows()
    n_trials = sum(isinstance(event_of(row), NewTrial) for row in events)
    rng = np.random.default_rng(1)
    for k in range(2 * len(events)):
        lost = {k} if k < len(events) else set(rng.choice(len(events), 5, replace=False).tolist())
        left = [event for event in events if event.number not in lost]
        if left[-1].number != events[-1].number:
            continue  # then nothing shows that something is missing
        recovered = recover(left)
        table = export.trials(read_rounds(recovered.events)[0])
        gone = sum(isinstance(event_of(events[number]), NewTrial) for number in lost)
        assert len(table) == len(recovered.ids) == n_trials - gone
