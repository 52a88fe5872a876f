"""Policies that restart: thresholds, detectors, restarts and propensities, and the numbers of papers.

Seeds are fixed. With other seeds, a correct program would fail one comparison of frequencies in a million, and one
comparison with a published number in 16 000.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

import dirichlet_bandits as db
from dirichlet_bandits.experiments.reading import parse
from dirichlet_bandits.live.description import describe, restore
from dirichlet_bandits.numerics.changes import (
    THRESHOLDS,
    Threshold,
    curved_threshold,
    glr_statistic,
    glr_threshold,
    inverse_h,
)
from dirichlet_bandits.policies.written import parse_policy
from tests.naive import restarting as naive
from tests.policies.test_equal_law import ALARM, VALUES, chi_square, naive_counts, pull_counts
from tests.policies.twins import PAIRS

NAMES = [name for name, pair in PAIRS.items() if hasattr(pair.policy.params, "detector")]


def h_tilde(x):
    """The definition: the smallest z (x - log log z) over 1 < z <= 3/2."""
    found = optimize.minimize_scalar(
        lambda log: math.exp(log) * (x - math.log(log)), bounds=(1e-9, math.log(1.5)), options={"xatol": 1e-12}
    )
    return min(found.fun, 1.5 * (x - math.log(math.log(1.5))))


@pytest.mark.parametrize("x", [1.0, 1.0001, 1.5, 3.0, 20.0, 1e6])
def test_inverse_of_h(x):
    u = inverse_h(x)
    assert u >= 1.0
    assert u - math.log(u) == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 30, 10**6])
@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_thresholds_are_their_formulas(n, delta):
    base = math.log(3 * n**1.5 / delta)
    x = base / 2
    u = optimize.brentq(lambda u: u - math.log(u) - (1 + x), 1.0, 10 * (2 + x), xtol=1e-14)
    t = 2 * h_tilde((u + math.log(math.pi**2 / 3)) / 2)
    assert curved_threshold(x) == pytest.approx(t, rel=1e-7)
    assert glr_threshold(Threshold.PROVED, n, delta) == pytest.approx(2 * t + 6 * math.log(1 + math.log(n)), rel=1e-7)
    assert glr_threshold(Threshold.RECOMMENDED, n, delta) == pytest.approx(base)
    assert glr_threshold(Threshold.JMLR, n, delta) == pytest.approx(math.log(n**1.5 / delta))
    assert glr_threshold(Threshold.DAL, n, delta) == pytest.approx(math.log(4 * n**1.5 / delta))


def test_the_branches_of_the_curved_threshold_meet_and_the_approximation_holds():
    x = np.linspace(0.5, 8, 2000)
    values = np.array([curved_threshold(v) for v in x])
    assert (np.diff(values) > 0).all()
    assert np.diff(values).max() < 0.02
    for v in (5.0, 10.0, 100.0):
        assert curved_threshold(v) == pytest.approx(v + 4 * math.log(1 + v + math.sqrt(2 * v)), rel=0.15)


@pytest.mark.parametrize("seed", range(20))
def test_the_statistic_is_that_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    x = rng.random(n) if seed % 2 else (rng.random(n) < rng.random()).astype(float)
    if seed % 3 == 0:
        x[n // 2 :] *= 0.3
    want = naive.glr(x.tolist())
    assert glr_statistic(x, 0.0) == pytest.approx(want, rel=1e-9, abs=1e-11)
    assert glr_statistic(x, 0.9 * want) == pytest.approx(want, rel=1e-9, abs=1e-11)
    assert glr_statistic(x, 1.1 * want + 1e-6) == 0.0


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_equal_rewards_are_no_change(value):
    assert glr_statistic(np.full(1000, value), 0.0) == pytest.approx(0.0, abs=1e-9)


def ever_alarmed(x, level):
    """Whether some beginning of the rewards reaches the level of its length."""
    return any(glr_statistic(x[:n], level(n)) >= level(n) for n in range(2, x.size + 1) if level(n) < n)


@pytest.mark.parametrize("law", ["fair coin", *(pytest.param(x, marks=pytest.mark.slow) for x in ("rare", "uniform"))])
def test_false_alarms_of_the_proved_threshold(law):
    rng, runs, delta = np.random.default_rng(1), 200, 0.2
    draw = {
        "fair coin": lambda: (rng.random(400) < 0.5).astype(float),
        "rare": lambda: (rng.random(400) < 0.03).astype(float),
        "uniform": lambda: rng.random(400),
    }[law]
    data = [draw() for _ in range(runs)]
    most = stats.binom.ppf(1 - ALARM, runs, delta)
    assert sum(ever_alarmed(x, lambda n: glr_threshold(Threshold.PROVED, n, delta)) for x in data) <= most
    if law == "fair coin":  # the test can fail: without a price for looking at all times and splits, it would
        assert sum(ever_alarmed(x, lambda n: math.log(1 / delta)) for x in data) > most


def test_a_large_change_is_found_soon():
    x = np.repeat([0.1, 0.9], 100)
    found = {
        name: next(n for n in range(2, 201) if glr_statistic(x[:n], 0.0) >= glr_threshold(kind, n, 0.01))
        for name, kind in THRESHOLDS.items()
    }
    assert 100 < found["jmlr"] <= found["recommended"] <= found["dal"] < found["proved"] < 150


def fed(policy, rewards, seed=0):
    rng, state = np.random.default_rng(seed), policy.init(3)
    for arm, reward in rewards:
        state = policy.update(state, arm, reward, rng)
    return state


def same(first, second):
    return all(
        same(a, b) if isinstance(a, tuple) else np.array_equal(np.asarray(a)[: np.size(b)], b)
        for a, b in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("scope", ["global", "local"])
@pytest.mark.parametrize(
    "inner", [db.KLUCB("bernoulli"), pytest.param(db.ThompsonSampling("bernoulli"), marks=pytest.mark.slow)], ids=repr
)
def test_a_restarted_policy_knows_its_rewards_since_the_restart_only(inner, scope):
    rng = np.random.default_rng(3)
    before = [(arm, float(rng.random() < 0.1)) for arm in rng.integers(0, 3, 300)]
    change = [(1, 1.0)] * 40
    policy = db.Restarting(inner, db.GLR(0.01, every=1), scope=scope)
    rewards, state = before + change, fed(policy, before)
    assert state.counts.tolist() == [(300, 0, 0)]
    state, n = fed(policy, rewards), 0
    while fed(policy, rewards[: 300 + n]).counts[0]["alarms"] == 0:
        n += 1
    assert 2 < n < 40
    kept = [(arm, x) for arm, x in before if arm != 1 and scope == "local"] + rewards[300 + n :]
    assert same(state.inner, fed(inner, sorted(kept, key=lambda item: item[0])))
    assert state.counts.tolist() == [(340, 300 + n, 1)]
    assert state.restarts.tolist() == ([0, 300 + n, 0] if scope == "local" else [300 + n] * 3)
    assert state.pulls.sum() == 340


def test_a_restart_pulls_every_arm_first_and_explores_with_a_known_probability():
    policy = db.Restarting(db.UCB1(0.5), db.CUSUM(1, 0.1, 0.5), exploration=0.3)
    state = fed(policy, [(0, 0.0), (1, 0.0), (2, 0.0), (1, 1.0)])
    np.testing.assert_allclose(db.state_propensities(policy, state), [0.7 + 0.1] * 3)
    state = fed(policy, [(0, 0.0), (1, 0.0), (2, 0.0), (1, 1.0), (1, 0.5)])
    np.testing.assert_allclose(db.state_propensities(policy, state), [0.8, 0.1, 0.8])


@pytest.mark.parametrize("name", NAMES)
def test_propensities_along_a_game(name):
    """At states that the game itself reaches, restarts included: frequencies of 2000 draws."""
    policy, rng = PAIRS[name].policy, np.random.default_rng(6)
    state, pulls = policy.init(3), 0
    while pulls < 40:
        for arm in policy.select(state, rng):
            state = policy.update(state, arm, float(rng.random() < (0.2, 0.5, 0.8)[(arm + pulls // 13) % 3]), rng)
            pulls += 1
        if pulls % 8 == 0 and state.pulls.min() > 0:
            chances, counts = db.state_propensities(policy, state), np.zeros(3)
            for _ in range(2000):
                counts[policy.select(state, rng)] += 1
            for count, chance in zip(counts, chances, strict=True):
                assert stats.binomtest(int(count), 2000, min(chance, 1.0)).pvalue > ALARM
    assert state.counts[0]["alarms"] > 0  # there were alarms


@pytest.mark.parametrize("name", ["GLRKLUCB local", "CUSUMUCB", "MUCB"])
def test_the_comparison_with_the_reference_notices_a_missing_restart(name):
    pair = PAIRS[name]
    never = pair._replace(twin=naive.Restarting(pair.twin.ask, lambda x: False, pair.twin.rate))
    values = VALUES[pair.rewards]
    expected = naive_counts(never, values, 25, 2000)
    assert chi_square(expected, pull_counts(pair.policy, values, 25, 40_000, fast=True)) < ALARM


def test_default_exploration_diminishes_since_the_last_alarm():
    policy = db.GLRKLUCB()
    state = fed(policy, [(arm, 0.5) for arm in range(3)] * 100)
    assert db.state_propensities(policy, state).sum() == pytest.approx(1.0)
    one = db.GLRKLUCB(exploration=0.0)
    certain = db.state_propensities(one, fed(one, [(0, 0.0), (1, 1.0), (2, 0.0)] * 100))
    assert certain.tolist() == [0.0, 1.0, 0.0]
    chances = db.state_propensities(policy, fed(policy, [(0, 0.0), (1, 1.0), (2, 0.0)] * 100))
    assert chances[0] == pytest.approx(naive.diminishing(3, 300, 0) / 3)


def test_mucb_computes_its_threshold_and_exploration():
    policy, n_arms, window, horizon, segments = db.MUCB(20, 500, 3), 3, 20, 500, 3
    b = math.sqrt(window * math.log(2 * n_arms * horizon**2) / 2)
    gamma = math.sqrt((segments - 1) * n_arms * (2 * b + 3 * math.sqrt(window)) / (2 * horizon))
    quiet = fed(policy, [(0, 0.0), (1, 1.0), (2, 0.0)] * 40)
    assert db.state_propensities(policy, quiet).min() == pytest.approx(min(gamma, 1.0) / n_arms)
    b = math.sqrt(60 * math.log(2 * n_arms * horizon**2) / 2)  # of a window of 60
    for ones, alarms in ((math.floor(b), 0), (math.floor(b) + 1, 1)):
        assert fed(db.MUCB(60, 500, 3), [(0, x) for x in [0.0] * 60 + [1.0] * ones]).counts[0]["alarms"] == alarms


def test_exp3s_computes_its_parameters():
    policy = db.EXP3S(horizon=1000, segments=2)
    gamma = math.sqrt(3 * (2 * math.log(3000) + math.e) / ((math.e - 1) * 1000))
    state = fed(policy, [(0, 0.0), (1, 1.0), (2, 0.0), (1, 1.0)])
    weight = math.exp(gamma / 3 / (1 / 3))
    share = math.e / 1000 / 3 * 3
    weights = np.array([1 + share, weight + share, 1 + share])
    want = (1 - gamma) * weights / weights.sum() + gamma / 3
    np.testing.assert_allclose(db.state_propensities(policy, state), want, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.Restarting("UCB1"), "'policy' must be a policy with compiled verbs"),
        (lambda: db.Restarting(db.SlidingWindow(db.UCB1(1.0), 10)), "'policy' must be one that neither forgets"),
        (lambda: db.Restarting(db.NPTS(upper=-1.0)), r"'policy' must be one for rewards in \[0, 1\]"),
        (lambda: db.Restarting(db.UCB1(0.5), detector="GLR"), "'detector' must be a detector such as GLR"),
        (lambda: db.Restarting(db.UCB1(0.5), exploration=1.0), "'exploration' must be None, or a number of at least 0"),
        (lambda: db.Restarting(db.UCB1(0.5), exploration="rarely"), "'exploration' must be a finite number"),
        (lambda: db.Restarting(db.UCB1(0.5), scope="all"), "'scope' must be one of 'global', 'local'"),
        (lambda: db.Restarting(db.UCB1(0.5), scheduled=True), "'exploration' must be a positive number if scheduled"),
        (lambda: db.Restarting(db.UCB1(0.5), growing=True), "'exploration' must be a number if growing"),
        (lambda: db.Restarting(db.UCB1(0.5), growing=1), "'growing' must be True or False"),
        (lambda: db.GLR(delta=0.0), "'delta' must be a number strictly between 0 and 1"),
        (lambda: db.GLR(threshold="best"), "'threshold' must be one of 'proved', 'recommended', 'jmlr', 'dal'"),
        (lambda: db.GLR(every=0), "'every' must be an integer of at least 1"),
        (lambda: db.CUSUM(0, 0.1, 1.0), "'first' must be an integer of at least 1"),
        (lambda: db.CUSUM(5, 1.5, 1.0), "'drift' must be a number strictly between 0 and 1"),
        (lambda: db.CUSUM(5, 0.1, 0.0), "'threshold' must be a positive number"),
        (lambda: db.MeanShift(5, 1.0), "'window' must be an even number"),
        (lambda: db.MeanShift(4, -1.0), "'threshold' must be a positive number"),
        (lambda: db.GLRKLUCB(delta=2.0), "'delta' must be"),
        (lambda: db.GLRKLUCB(scope="each"), "'scope' must be one of"),
        (lambda: db.MUCB(3, 100, 2), "'window' must be an even number"),
        (lambda: db.MUCB(4, 100, 0), "'segments' must be an integer of at least 1"),
        (lambda: db.MUCB(4, 100, 1, scheduled=True), "'exploration' must be a positive number if scheduled"),
        (lambda: db.CUSUMUCB(100, 0), "'changes' must be an integer of at least 1"),
        (lambda: db.CUSUMUCB(3, 3), "'horizon' must be an integer of at least 4"),
        (lambda: db.CUSUMUCB(100, 1, xi=0.0), "'xi' must be a positive number"),
        (lambda: db.EXP3S(0), "'horizon' must be an integer of at least 1"),
        (lambda: db.EXP3S(100, gamma=0.0), "'gamma' must be None, or a number above 0"),
        (lambda: db.EXP3S(100, alpha=-1.0), "'alpha' must be None, or a number from 0 to 1"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()


def test_rewards_outside_of_the_unit_interval_are_refused():
    for policy in (db.GLRKLUCB(), db.EXP3S(100), db.MUCB(4, 100, 2), db.Restarting(db.UCB1(1.0))):
        with pytest.raises(db.RewardError, match=r"expects rewards in \[0, 1\]"):
            policy.check_reward(1.5)


def test_a_policy_without_propensities_has_none_when_restarted():
    with pytest.raises(db.ArgumentError, match="'policy' must be a policy with exact propensities"):
        db.state_propensities(db.Restarting(db.BESA()), db.Restarting(db.BESA()).init(2))
    with pytest.raises(db.ArgumentError, match="order of decisions"):
        db.propensities(db.GLRKLUCB(), [[0.5], [1.0]])


ROUND_TRIPS = [
    db.Restarting(db.ThompsonSampling("bernoulli"), db.GLR(0.9, "jmlr", 1)),
    db.Restarting(db.RDS(), db.CUSUM(2, 0.05, 0.6), exploration=0.2, scope="local"),
    db.GLRKLUCB(0.9, threshold="jmlr", every=1),
    db.EXP3S(100, 3, alpha=0.05, gamma=0.4),
]


@pytest.mark.parametrize("policy", ROUND_TRIPS, ids=repr)
def test_a_policy_is_stored_and_read_again(policy):
    assert restore(describe(policy), None) == policy
    assert parse_policy(repr(policy)) == policy


def test_damaged_detectors_are_reported():
    stored = describe(ROUND_TRIPS[0])
    for damage in ({"detector": "Magic"}, {"detector": "GLR", "size": 3}, {"detector": "GLR", "delta": 7.0}):
        with pytest.raises(db.FormatError, match="the study's policy cannot be made"):
            restore({**stored, "detector": damage}, None)
    with pytest.raises(db.ArgumentError, match="'policy' must be the name of a policy"):
        parse_policy("GLR(delta=0.1)")


def test_a_restarting_policy_in_a_file():
    text = """
        horizon = 100
        replications = 3
        seed = 0
        [[arms]]
        law = "Bernoulli"
        p = 0.5
        [[arms]]
        law = "Bernoulli"
        p = 0.6
        [[policies]]
        policy = "Restarting"
        exploration = 0.1
        inner = {policy = "KLUCB", family = "bernoulli"}
        detector = {detector = "CUSUM", first = 10, drift = 0.1, threshold = 5}
    """
    want = db.Restarting(db.KLUCB("bernoulli"), db.CUSUM(10, 0.1, 5), exploration=0.1)
    assert list(parse(text).policies.values()) == [want]
    with pytest.raises(db.FormatError, match=r"policies\[0\].detector.detector' must be one of 'GLR'"):
        parse(text.replace('"CUSUM"', '"Magic"'))


def test_a_live_study_restarts_and_is_replayed():
    policy = PAIRS["GLRKLUCB"].policy  # which test_every_policy_lives_and_replays has compiled
    study = db.create_study("changing", arms=["a", "b"], policy=policy, seed=3)
    for k in range(30):
        trial = study.ask()
        study.tell(trial.id, float((trial.arm == "a") == (k < 15)))
    assert study.replay().n_differences == 0
