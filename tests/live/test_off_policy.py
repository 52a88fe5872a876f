"""Off-policy estimates and intervals: right on average, and honest about what the log cannot say."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.intervals import asymptotic, empirical_bernstein

MEANS = {"a": 0.35, "b": 0.6, "c": 0.5}


def play(policy, rounds, seed, arms=tuple(MEANS)):
    """A study whose last round is whole; an index policy has one trial a round."""
    rng = np.random.default_rng([seed, 2])
    study = db.create_study("s", arms=list(arms), policy=policy, seed=seed)
    begun = 0
    while begun < rounds or study._read().rest:
        begun += not study._read().rest
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
    from dirichlet_bandits.live.logged_rounds import read_rounds

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
    assert answer.self_normalised == pytest.approx(answer.ips, rel=1e-9)
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
    assert (answer.ips, answer.self_normalised, answer.missing) == (pytest.approx(2.0), pytest.approx(2.0), 10)


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
        numbers = (answer.ips, answer.ips_error, answer.self_normalised, answer.self_normalised_error)
        assert np.isnan(numbers).all()
        assert sum(answer.unsupported.values()) == pytest.approx(1.0)
    for trial in study.ask(20):
        if trial.arm == "b":
            study.tell(trial, 1.0)
    assert math.isnan(study.estimate("a").ips)
    mixed = study.estimate({"a": 0.25, "b": 0.75})  # what is known of b, not 0 for a
    assert (mixed.ips, mixed.self_normalised, mixed.unsupported) == (1.0, 1.0, {"a": 0.25})


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
    with pytest.raises(db.ArgumentError, match="'level'"):
        study.summary(level=1.5)


def naive_bernstein(x, level):
    """The formula of the paper, one reward after the other."""
    low, high, bets, centre, radius = 0.0, 1.0, 0.0, 0.0, math.log(2 / (1 - level))
    mean, spread = 0.5, 0.25
    for t, value in enumerate(x, start=1):
        bet = min(math.sqrt(2 * math.log(2 / (1 - level)) / (spread * t * math.log(1 + t))), 0.5)
        bets += bet
        centre += bet * value
        radius += 4 * (value - mean) ** 2 * (-math.log(1 - bet) - bet) / 4
        low, high = max(low, (centre - radius) / bets), min(high, (centre + radius) / bets)
        mean = (0.5 + sum(x[:t])) / (t + 1)
        seen = [(x[i] - (0.5 + sum(x[: i + 1])) / (i + 2)) ** 2 for i in range(t)]
        spread = (0.25 + sum(seen)) / (t + 1)
    return low, high


def test_bernstein_is_the_formula():
    x = np.random.default_rng(0).beta(2, 5, 40)
    assert empirical_bernstein(3 + 2 * x, 3.0, 5.0, 0.9) == pytest.approx([3 + 2 * v for v in naive_bernstein(x, 0.9)])


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_bounded_intervals_cover_at_all_times(p):
    """They may miss in 10 % of the runs; more than 17 % of 400 would be a false alarm of 1e-5."""
    rng, runs = np.random.default_rng(3), 400
    missed = 0
    for _ in range(runs):
        low, high = empirical_bernstein((rng.random(300) < p).astype(float), 0.0, 1.0, 0.9)  # of all times so far
        missed += not low <= p <= high
    assert missed / runs < 0.17


def test_asymptotic_intervals_cover_at_all_later_times():
    """Exponential rewards, sample sizes from 30 to 1000 in steps of a tenth; nominal 10 %, bound as above."""
    rng, runs = np.random.default_rng(4), 300
    sizes = np.unique(np.geomspace(30, 1000, 38).astype(int))
    missed = 0
    for _ in range(runs):
        x = rng.exponential(2.0, 1000)
        missed += not all(low <= 2.0 <= high for low, high in (asymptotic(x[:n], 0.9) for n in sizes))
    assert missed / runs < 0.18


def test_the_summary_says_which_interval():
    bounded = play(db.BinarizedTS(0.0, 1.0), 30, seed=0).summary()
    assert bounded.attrs["interval"].startswith("empirical-Bernstein")
    assert ((bounded["low"] >= 0) & (bounded["high"] <= 1) & (bounded["low"] < bounded["high"])).all()
    open_ended = play(db.RDS(), 30, seed=0).summary()
    assert open_ended.attrs["interval"].startswith("asymptotic")
    fresh = db.create_study("s", arms=["a"]).summary()
    assert (fresh["low"]["a"], fresh["high"]["a"]) == (-math.inf, math.inf)
