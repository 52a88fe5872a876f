"""A replay notices every kind of forged decision, and names the trial."""

import json

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.events import Asked
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.replay import replay


def change_arm(event):
    return event._replace(arm=(event.arm + 1) % 3)


def change_rest(event):
    """Change the propensity of the second arm of the round."""
    (arm, chance), *others = json.loads(event.note)
    return event._replace(note=json.dumps([(arm, chance / 2), *others]))


def change_propensities(event):
    """Change those of all arms, as they are stored beside the trial's own."""
    return event._replace(data=(np.frombuffer(event.data, "<f8") / 2).tobytes())


def change_first(event):
    """Let a repeated trial refer to another first trial."""
    return event._replace(note=json.dumps({**json.loads(event.note), "first": 1}))


FORGERIES = {  # the trial, the change, and the words of the replay
    "first arm of a round": (0, change_arm, "recorded arms ["),
    "propensity of its arm": (0, lambda event: event._replace(value=0.5), "recorded propensity 0.5 for its arm, 1.0"),
    "propensities of all arms": (0, change_propensities, "recorded propensities [0.5, 0.5, 0.5], replayed [1.0, "),
    "propensity of a later arm": (0, change_rest, "recorded propensity 0.5 for arm "),
    "second arm of a round": (1, change_arm, ", the round continues with "),
    "arm of a unit": (4, change_arm, ", that of the unit is "),
    "first trial of a unit": (4, change_first, "repeats trial 1 for unit 'u', whose first is 3"),
    "first trial of a unit that was assigned again": (5, change_first, "repeats trial 1 for unit 'u', whose first is"),
    "arm of a unit that was assigned again": (5, change_arm, "recorded arms ["),
}


@pytest.fixture
def study():
    """Trials 0 to 2 are the first round; trial 3 is the first of a unit, 4 repeats it, and 5 has another arm."""
    study = db.create_study("s", arms=["a", "b", "c"], policy=db.RDS(), seed=1)
    for trial in study.ask(3):
        study.tell(trial, 0.1 * trial.id)
    study.tell(study.ask(unit="u"), 0.3)
    study.retire_arm(study.ask(unit="u").arm)
    study.ask(unit="u")
    return study


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_decision_is_noticed(study, forgery):
    forged, change, words = FORGERIES[forgery]
    events = [
        change(event) if (event.kind, event.trial) == (Asked.kind, forged) else event
        for event in local_of(study).rows()
    ]
    found = replay(events, local_of(study).new_decider())
    assert found.differences[0].startswith(f"trial {forged}: ")
    assert words in found.differences[0]
    assert not found.same


@pytest.mark.parametrize("place", [0, -1])
def test_an_event_without_a_number_is_damage(study, place):
    events = list(local_of(study).rows())
    events[place] = events[place]._replace(number=None)
    with pytest.raises(db.errors.FormatError, match=r"event None|is missing|is damaged"):
        replay(events, local_of(study).new_decider())


def test_nothing_else_is_noticed(study):
    assert replay(local_of(study).rows(), local_of(study).new_decider()).same
