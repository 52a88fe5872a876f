"""CVaRs of arms and of other choices: their intervals hold at all times at once, and say what they need."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.risk import _ends, _sums, cvar_sequence
from dirichlet_bandits.live.export import read_rounds
from tests import naive


def test_weights_of_one_are_plain_rewards():
    x = np.random.default_rng(4).random(300)
    found = _sums(np.arange(300), np.ones(300), x, 300)
    ends = _ends(found, found, 300.0, 1.0, 0.2, 0.95)
    np.testing.assert_allclose(ends, cvar_sequence(x, 0.0, 1.0, 0.2, 0.95), atol=1e-12)


MEANS = {"a": 0.7, "b": 0.85, "c": 0.5}
LEVEL = 0.8


def true_cvar(weights):
    p = sum(weight * MEANS[arm] for arm, weight in weights.items())
    return max(p - (1 - LEVEL), 0.0) / LEVEL


def play(seed, rounds=60, policy=None):
    rng = np.random.default_rng([seed, 3])
    study = db.create_study("s", arms=list(MEANS), policy=policy or db.MED("bernoulli"), seed=seed)
    for _ in range(rounds):
        trial = study.ask()
        study.tell(trial.id, float(rng.random() < MEANS[trial.arm]))
    return study


CHOICES = ({"a": 1.0}, {"b": 1.0}, {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.5, "c": 0.3})


def test_estimates_cover_and_come_close():
    """By the promise each fails in half of all studies at most; all 30 of one choice with probability 1e-9."""
    failures, values = dict.fromkeys(range(len(CHOICES)), 0), {k: [] for k in range(len(CHOICES))}
    for seed in range(30):
        study = play(seed)
        for k, weights in enumerate(CHOICES):
            answer = study.estimate(weights, objective=db.CVaR(LEVEL), confidence=0.5)
            failures[k] += not answer.low <= true_cvar(weights) <= answer.high
            values[k].append(answer.value)
    assert max(failures.values()) < 30
    for k, weights in enumerate(CHOICES):
        assert abs(np.mean(values[k]) - true_cvar(weights)) < 0.15


def test_an_estimate_by_hand():
    """The log reweighted, in fractions; the opening round has all arms with certainty."""
    study = play(5, 25)
    answer = study.estimate("b", objective=db.CVaR(0.3))
    frame = study.trials_dataframe()
    mine = frame[frame["arm"] == "b"]
    assert answer.value == pytest.approx(float(naive.cvar(mine["reward"], 0.3, 1 / mine["propensity"])), rel=1e-12)
    d = 1 / mine["propensity"]
    assert answer.effective_rounds == pytest.approx(d.sum() ** 2 / (d**2).sum())
    _, log = read_rounds(study.storage.read("s", data=True))
    assert answer.rounds == (log.propensities[:, log.names.index("b")] > 0).sum()
    assert (answer.missing, answer.unsupported) == (0, {})
    assert answer.objective == "CVaR at 30 %"


def test_the_logged_policy_has_the_cvar_of_its_rewards():
    study = play(6, 250)
    answer = study.estimate(study.policy, objective=db.CVaR(LEVEL))
    frame = study.trials_dataframe()
    weights = np.where(frame["round"] == 0, 1 / 3, 1.0)
    assert answer.value == pytest.approx(db.cvar(frame["reward"], LEVEL, weights))
    assert 0.0 < answer.low <= answer.value <= answer.high < 1.0


def test_rewards_that_are_missing_widen_the_interval():
    study = play(7, 250)
    whole = study.estimate(study.policy, objective=db.CVaR(LEVEL))
    trials = study.ask(50)
    for trial in trials[:40]:
        study.abandon(trial.id)
    study.tell(trials[-1].id, 1.0)
    partly = study.estimate(study.policy, objective=db.CVaR(LEVEL))
    assert (whole.missing, partly.missing) == (0, 49)
    assert 0.0 < partly.low < whole.low
    assert partly.high > whole.high
    assert partly.value == pytest.approx(whole.value, abs=0.05)


def test_an_arm_that_never_came_is_unsupported():
    study = play(8, 5)
    study.add_arm("d")
    answer = study.estimate({"a": 0.5, "d": 0.5}, objective=db.CVaR(LEVEL))
    assert answer.unsupported == {"d": 0.5}
    assert math.isnan(answer.value)
    assert (answer.low, answer.high, answer.rounds) == (0.0, 1.0, 0)


def test_round_based_policies_too():
    """Several arms in a round: weights of a round are added, and the bound of them too."""
    study = play(9, 40, db.RDS())
    answer = study.estimate("b", objective=db.CVaR(LEVEL), bounds=(0.0, 1.0))
    assert answer.low <= true_cvar({"b": 1.0}) <= answer.high


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "CVaR"}, "'objective' must be Mean.. or CVaR.level."),
        ({"objective": db.CVaR(0.2)}, "'bounds' must be two finite numbers between which all rewards lie, for the pol"),
        ({"objective": db.CVaR(0.2), "bounds": (0.0, 0.5)}, "'bounds' must be around all rewards, from 0 to 1"),
        ({"objective": db.CVaR(0.2), "bounds": (1.0, 0.0)}, "'bounds' must be two numbers, the smaller first"),
        ({"objective": db.CVaR(0.2), "bounds": 3}, "'bounds' must be two numbers between which all rewards lie"),
        ({"objective": db.CVaR(0.2), "bounds": (0.0, math.inf)}, "'bounds.1.' must be a finite number"),
        ({"objective": db.CVaR(0.2), "bounds": (0.0, 1.0), "confidence": 1.0}, "'confidence' must be"),
    ],
)
def test_what_cannot_be_estimated_is_refused_with_the_reason(arguments, message):
    study = play(10, 30, db.RDS())
    with pytest.raises(db.ArgumentError, match=message):
        study.estimate("b", **arguments)


def test_summaries_show_the_cvar_with_its_interval():
    rng = np.random.default_rng(11)
    study = db.create_study("s", arms=["early", "late"], policy=db.BCVTS(upper=1.0, level=0.25), seed=1)
    for _ in range(30):
        trial = study.ask()
        study.tell(trial.id, float(rng.beta(2, 3)))
    frame = study.summary()
    assert list(frame["value_low"]) == [-math.inf] * 2
    assert frame.attrs["value_interval"].startswith("none: without bounds")
    frame = study.summary(bounds=(0.0, 1.0))
    rewards = study.trials_dataframe()
    for arm in ("early", "late"):
        x = rewards.loc[rewards["arm"] == arm, "reward"].to_numpy()
        interval = cvar_sequence(x, 0.0, 1.0, 0.25, 0.95)
        assert (frame["value_low"][arm], frame["value_high"][arm]) == interval
        assert interval.low <= frame["value"][arm] <= interval.high
    assert frame.attrs["interval"].startswith("empirical-Bernstein")  # the mean profits too
    study.add_arm("new")
    assert tuple(study.summary(bounds=(0.0, 1.0)).loc["new", ["value_low", "value_high"]]) == (0.0, 1.0)
    told = db.create_study("t", arms=["a", "b"], policy=db.UUCB(upper=1.0, level=0.25), seed=1)
    assert told.summary().attrs["value_interval"].startswith("confidence sequence for a CVaR")
    mean = db.create_study("m", arms=["a", "b"], seed=1).summary()
    assert "value_low" not in mean
    assert "value_interval" not in mean.attrs
