"""Floors: least probabilities of arms, whatever the policy would do; with exact propensities."""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.live.events import FloorSet
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.policies.floored import forced_arm
from dirichlet_bandits.storage import MemoryStorage
from tests.live.test_study import ARMS, play

ALARM = 1e-6  # one false alarm in a million seeds


def tried(study, seed=0):
    play(study, 30, np.random.default_rng(seed))
    return study


@pytest.mark.parametrize("policy", [db.UCB1(sigma=0.5), db.RDS(), db.RBSDA()], ids=repr)
@pytest.mark.parametrize("floor", [0.1, {"a": 0.2, "c": 0.05}])
def test_propensities_are_mixed_exactly(policy, floor):
    study = tried(db.create_study("s", arms=ARMS, policy=policy, seed=5))
    while local_of(study).journal().rest:
        study.tell(study.ask(), 0.5)
    own = np.array([*study.propensities().values()])
    study.set_floor(floor)
    shares = np.array([0.1, 0.1, 0.1] if floor == 0.1 else [0.2, 0.0, 0.05])
    assert [*study.propensities().values()] == pytest.approx(shares + (1 - shares.sum()) * own, abs=1e-15)
    assert study.floor == floor
    trials = study.ask(2000)  # nothing is told meanwhile: the propensities stay, a draw for each round
    frame = study.trials_dataframe().loc[[trial.id for trial in trials]]
    rounds = frame["round"].nunique()
    for arm, chance in study.propensities().items():
        found = int((frame["arm"] == arm).sum())
        assert stats.binomtest(found, rounds, min(chance, 1.0)).pvalue > ALARM / 3
    assert study.replay().same


def test_decisions_without_a_floor_and_those_left_to_the_policy_stay_the_same():
    """The floor draws from a stream of its own: where it forces no arm, the decision is that of a study without."""
    policy = db.ThompsonSampling("bernoulli")
    plain, floored = (db.create_study("s", arms=ARMS, policy=policy, seed=9, floor=floor) for floor in (None, 0.05))
    for study in (plain, floored):
        study.tell_many([trial.id for trial in study.ask(3)], [1.0, 0.0, 1.0])
    arms = [[trial.arm for trial in study.ask(400)] for study in (plain, floored)]
    different = sum(a != b for a, b in zip(*arms, strict=True))
    # Binomial(400, about 0.15 x 2/3): above 90 with probability below 1e-12.
    assert 0 < different < 90
    assert FloorSet.kind not in {event.kind for event in plain.storage.read("s")}


def test_a_floor_is_part_of_the_log(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    study = db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=0.5), storage=url, seed=1, floor={"a": 0.25})
    tried(study)
    study.set_floor(0.1)
    study.set_floor(0.1)
    tried(study, seed=1)
    study.add_arm("d")
    study.retire_arm("a")
    tried(study, seed=2)
    study.set_floor(None)
    tried(study, seed=3)
    study.void(50, "the wrong plot")
    again = db.load_study("s", url)
    assert again.replay().same
    assert (again.floor, again.propensities()) == (0.0, study.propensities())
    assert sum(event.kind == FloorSet.kind for event in study.storage.read("s", data=True)) == 3
    study.export(tmp_path / "log.csv")
    frame = study.trials_dataframe()
    of_a = frame["propensity"][frame["arm"] == "a"]
    assert (of_a[of_a.index < 30] >= 0.25 - 1e-12).all()
    assert (of_a >= 0.1 - 1e-12).all()


def test_a_round_goes_on_under_another_floor():
    study = db.create_study("s", arms=[*"abcdef"], seed=3)
    first = study.ask(2)
    study.set_floor(0.1)
    rest = study.ask(4)
    assert sorted(trial.arm for trial in first + rest) == [*"abcdef"]
    assert all(trial.propensity == 1.0 for trial in rest)
    assert study.replay().same


def test_an_arm_without_a_reward_has_its_floor():
    """Arms that wait for their first reward are unknown to the policy, not to the floor."""
    study = db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=0.5), seed=0, floor=0.2)
    trials = {trial.arm: trial for trial in study.ask(3)}
    study.tell(trials["a"], 1.0)
    assert set(study.propensities().values()) == {1.0}  # fewer than two arms have a reward: no floor yet
    study.tell(trials["b"], 0.0)
    assert study.propensities() == pytest.approx({"a": 0.6, "b": 0.2, "c": 0.2})


def test_estimates_judge_the_choice_without_the_floor():
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=0.5), seed=2, floor=0.25)
    rng = np.random.default_rng(0)
    for _ in range(300):
        trial = study.ask()
        study.tell(trial, float(rng.random() < (0.2 if trial.arm == "a" else 0.8)))
    own, floored = study.estimate(study.policy), study.estimate(db.Floored(study.policy, 0.25))
    assert own.unsupported == floored.unsupported == {}
    assert own.self_normalized > floored.self_normalized + 0.05


@pytest.mark.parametrize(
    ("floor", "message"),
    [
        (-0.1, r"'floor' must be a number from 0 to 1 \(got -0.1\)"),
        (True, r"'floor' must be a finite number \(got True\)"),
        ("0.1", "'floor' must be a number, or numbers by the names of arms"),
        (0.4, r"'floor' must be at most 1 in all: those of 'a', 'b', 'c' sum to 1.2 \(got 0.4\)"),
        ({"a": 0.6, "c": 0.6}, "'floor' must be at most 1 in all: those of 'a', 'c' sum to 1.2"),
        ({"a": 2}, r"'floor\['a'\]' must be a number from 0 to 1 \(got 2\)"),
        ({"x": 0.1}, r"'floor' must be a number, or numbers by the names of arms: a, b, c \(got \{'x': 0.1\}\)"),
    ],
)
def test_bad_floors_are_refused_before_anything_is_written(floor, message):
    place = MemoryStorage()
    with pytest.raises(db.ArgumentError, match=message):
        db.create_study("s", arms=ARMS, storage=place, floor=floor)
    assert place.names() == []
    study = db.create_study("s", arms=ARMS, storage=place)
    with pytest.raises(db.ArgumentError, match=message):
        study.set_floor(floor)
    assert (study.floor, len(place.read("s"))) == (0.0, 3)


def test_arms_that_have_no_room_are_refused_by_name():
    study = db.create_study("s", arms=ARMS, floor=1 / 3)
    with pytest.raises(db.ConflictError, match=r"the floors of 'a', 'b', 'c', 'd' sum to 1.33333, more than 1: lower"):
        study.add_arm("d")
    assert study.arms == ARMS
    study.retire_arm("a")
    study.add_arm("d")
    with pytest.raises(db.ConflictError, match="the floors of 'b', 'c', 'd', 'a' sum to"):
        study.add_arm("a")
    study.set_floor({"a": 0.9, "b": 0.1})  # that of a retired arm waits for it
    assert local_of(study).journal().floors().tolist() == [0.0, 0.1, 0.0, 0.0]
    floored = db.create_study("t", arms=ARMS, policy=db.Floored(db.RDS(), 0.3))
    with pytest.raises(db.ArgumentError, match="'floor' must be at most 1 / 4, with 4 arms"):
        floored.add_arm("d")
    with pytest.raises(db.ArgumentError, match="'floor' must be at most 1 / 4, with 4 arms"):
        db.create_study("u", arms=[*"abcd"], policy=db.Floored(db.RDS(), 0.3))
    bandit = db.Bandit([db.Bernoulli(0.5)] * 4, names=[*"abcd"])
    with pytest.raises(db.ArgumentError, match="'floor' must be at most 1 / 4, with 4 arms"):
        db.simulate(bandit, db.Floored(db.RDS(), 0.3), horizon=10, replications=1)


def test_a_study_is_known_by_the_floor_with_which_it_was_created():
    place = MemoryStorage()
    db.create_study("s", arms=ARMS, storage=place, floor=0.1).set_floor(0.2)
    again = db.create_study("s", arms=ARMS, storage=place, floor=0.1, load_if_exists=True)
    assert again.floor == 0.2
    with pytest.raises(db.ConflictError, match=r"was created with floor 0.1 \(got None\)"):
        db.create_study("s", arms=ARMS, storage=place, load_if_exists=True)


def test_all_floors_together_may_be_everything():
    study = tried(db.create_study("s", arms=ARMS, policy=db.UCB1(sigma=0.5), seed=1, floor=1 / 3))
    assert [*study.propensities().values()] == pytest.approx([1 / 3] * 3)
    assert study.replay().same


def test_the_forced_arm_has_the_probability_of_its_floor():
    floors, n = np.array([0.125, 0.0, 0.25]), 8000
    found = np.bincount([forced_arm.py_func(floors, u) + 1 for u in (np.arange(n) + 0.5) / n], minlength=4)
    assert found.tolist() == [5000, 1000, 0, 2000]


def test_floors_hold_in_every_segment():
    study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=0.5), segments=["x", "y"], seed=1, floor=0.1)
    rng = np.random.default_rng(0)
    for k in range(60):
        trial = study.ask(segment="xy"[k % 2])
        study.tell(trial, float(rng.random() < (0.2 if trial.arm == "a" else 0.8)))
    study.set_floor({"a": 0.3})
    for segment in "xy":
        assert study.propensities(segment=segment)["a"] in (0.3, 1.0)
        study.ask(3, segment=segment)
    assert study.replay().same
