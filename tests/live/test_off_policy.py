"""Off-policy estimates and intervals: right on average, and honest about what the log cannot say."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of

MEANS = {"a": 0.35, "b": 0.6, "c": 0.5}


def play(policy, rounds, seed, arms=tuple(MEANS)):
    """A study whose last round is whole; an index policy has one trial a round."""
    rng = np.random.default_rng([seed, 2])
    study = db.create_study("s", arms=list(arms), policy=policy, seed=seed)
    begun = 0
    while begun < rounds or local_of(study).journal().rest:
        begun += not local_of(study).journal().rest
        trial = study.ask()
        study.tell(trial.id, float(rng.random() < MEANS[trial.arm]))
    return study


def check_unbiased(policy, studies, rounds):
    """sum over rounds of (1{a in round} r/q - mu_a) over those with q > 0: a martingale, mean 0 exactly.

    Its mean over independent studies against its standard error: 4.9 of them, a false alarm in a million.
    """
    sums = {arm: [] for arm in MEANS}
    for seed in range(studies):
        study = play(policy, rounds, seed)
        for arm, mean in MEANS.items():
            answer = study.estimate(arm)
            assert answer.rounds == rounds
            sums[arm].append((answer.ips - mean) * possible_rounds(study, arm))
    for values in sums.values():
        assert abs(np.mean(values)) < 4.9 * np.std(values) / math.sqrt(studies)


def test_inverse_propensities_are_unbiased():
    check_unbiased(db.RDS(), studies=120, rounds=30)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [db.RDS(), db.RBSDA(), db.ThompsonSampling("bernoulli"), db.QDS()], ids=repr)
def test_inverse_propensities_are_unbiased_at_scale(policy):
    check_unbiased(policy, studies=400, rounds=40)


def possible_rounds(study, arm):
    from dirichlet_bandits.live.export import read_rounds

    _, log = read_rounds(study.storage.read("s", data=True))
    return int((log.propensities[log.complete, log.names.index(arm)] > 0).sum())


def test_the_logged_policy_earned_what_it_earned():
    policy = db.ThompsonSampling("bernoulli")
    study = play(policy, 60, seed=0)
    answer = study.estimate(policy)
    frame = study.trials_dataframe()
    first = frame[frame["round"] == 0]
    later = frame[frame["round"] > 0]
    # The opening is a round of all arms, wanted with a third each; from then on every weight is 1.
    total = first["reward"].sum() / 3 + later["reward"].sum()
    assert answer.ips == pytest.approx(total / (1 + len(later)), rel=1e-9)
    assert answer.self_normalized == pytest.approx(answer.ips, rel=1e-9)
    assert answer.effective_rounds == pytest.approx(1 + len(later), rel=1e-9)
    assert answer.missing == 0


def test_weights_and_support():
    study = play(db.UCB1(sigma=0.5), 40, seed=1)
    each = [study.estimate(arm) for arm in MEANS]
    mixed = study.estimate(dict.fromkeys(MEANS, 1 / 3))
    assert mixed.ips == pytest.approx(np.mean([one.ips for one in each]))
    study.add_arm("d")
    answer = study.estimate({"d": 0.5, "a": 0.5})
    assert answer.unsupported["d"] == pytest.approx(0.5)
    assert math.isnan(study.estimate("d").ips)
    greedy = study.estimate(db.RDS())  # would have taken arms with chances that UCB1 gave none
    assert sum(greedy.unsupported.values()) > 0


def test_missing_rewards_are_taken_at_random_within_an_arm():
    study = db.create_study("s", arms=["a", "b"], seed=0)
    trials = study.ask(40)
    for trial in trials[10:]:
        study.tell(trial.id, 2.0 if trial.arm == "a" else 1.0)
    answer = study.estimate("a")
    assert (answer.ips, answer.self_normalized, answer.missing) == (pytest.approx(2.0), pytest.approx(2.0), 10)


@pytest.mark.parametrize("end", ["pending", "abandoned", "voided"])
def test_nothing_is_known_of_an_arm_without_a_reward(end):
    study = db.create_study("s", arms=["a", "b"], seed=0)
    for trial in study.ask(20):
        if end == "abandoned":
            study.abandon(trial)
        elif end == "voided":
            study.tell(trial, 3.0)
            study.void(trial, "the wrong plot")
    for choice in ("a", {"a": 0.5, "b": 0.5}, db.RDS()):
        answer = study.estimate(choice)
        numbers = (answer.ips, answer.ips_error, answer.self_normalized, answer.self_normalized_error)
        assert np.isnan(numbers).all()
        assert sum(answer.unsupported.values()) == pytest.approx(1.0)
    for trial in study.ask(20):
        if trial.arm == "b":
            study.tell(trial, 1.0)
    assert math.isnan(study.estimate("a").ips)
    mixed = study.estimate({"a": 0.25, "b": 0.75})  # what is known of b, not 0 for a
    assert (mixed.ips, mixed.self_normalized, mixed.unsupported) == (1.0, 1.0, {"a": 0.25})


def test_bad_choices():
    study = play(db.RDS(), 5, seed=0)
    with pytest.raises(db.NotFoundError, match="no arm 'x'"):
        study.estimate("x")
    for bad in ({"a": 0.5}, {"a": 1.5, "b": -0.5}, {}, 3, None):
        with pytest.raises(db.ArgumentError, match="'choice' must be"):
            study.estimate(bad)
    with pytest.raises(db.ArgumentError, match=r"choice\['a'\]"):
        study.estimate({"a": math.nan})
    with pytest.raises(db.ArgumentError, match="a policy for rewards from 0 to 1"):
        study.estimate(db.NPTS(upper=0.5))
    with pytest.raises(db.ArgumentError, match="'confidence'"):
        study.summary(confidence=1.5)


def test_the_summary_says_which_interval():
    bounded = play(db.BinarizedTS(0.0, 1.0), 30, seed=0).summary()
    assert bounded.attrs["interval"].startswith("empirical-Bernstein")
    assert ((bounded["low"] >= 0) & (bounded["high"] <= 1) & (bounded["low"] < bounded["high"])).all()
    open_ended = play(db.RDS(), 30, seed=0).summary()
    assert open_ended.attrs["interval"].startswith("asymptotic")
    fresh = db.create_study("s", arms=["a"]).summary()
    assert (fresh["low"]["a"], fresh["high"]["a"]) == (-math.inf, math.inf)
