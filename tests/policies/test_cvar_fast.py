"""The parts of the shortcut of B-CVTS: the order of the rewards, draws of an index, and draws above a threshold.

Seeds are fixed; a correct program with other seeds would fail one comparison in a million.
"""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import append, rewards
from dirichlet_bandits.policies.cvar.fast import CHALLENGER, contest, draft_below, estimate, index_above, set_clock
from dirichlet_bandits.policies.cvar.ordering import draft_index, finish_index, gathered, new_samples, place_rewards
from dirichlet_bandits.policies.cvar.rule import resampled_cvar_propensities

ALARM = 1e-6
UPPER = 12.0
MANY = 4000
STEPS = 40_000


@jit
def observed(state, arm, x):
    for value in x:
        state = append(state, arm, value, value)
    return state


@jit
def indices(policy, state, samples, rng, bounds, out):
    for i in range(out.size):
        draft_index(policy, state, samples, 0, rng)
        bounds[i, 0], bounds[i, 1] = samples.drafts[0].lower, samples.drafts[0].upper
        out[i] = finish_index(policy, state, samples, 0, rng)


@jit
def indices_below(policy, state, samples, limit, rng, out):
    for i in range(out.size):
        draft_below(policy, state, samples, 0, limit, rng)
        out[i] = finish_index(policy, state, samples, 0, rng)


@jit
def indices_above(policy, state, samples, challengers, threshold, rng, out):
    set_clock(policy, state, samples, challengers, 0, threshold, rng)
    for i in range(out.size):
        out[i] = index_above(policy, state, samples, challengers, 0, rng)


@jit
def contested(policy, state, samples, challengers, threshold, rng, counts):
    challengers[0].steps = -1
    for arm in range(1, challengers.size):
        set_clock(policy, state, samples, challengers, arm, threshold, rng)
    for _ in range(STEPS):
        counts[contest(policy, state, samples, challengers, rng)] += 1.0


def started(level, x):
    policy = db.BCVTS(UPPER, level)
    state = observed(policy.init(1), 0, np.asarray(x, float))
    return policy.params, state, new_samples(1)


def above(x, v, level):
    """P(index >= v)."""
    return db.cvar_crossing_probability([*x, UPPER], v, level)


@pytest.mark.parametrize("level", [0.2, 0.8, 1.0])
def test_rewards_are_as_far_in_order_as_draws_need_them(level):
    rng = np.random.default_rng(1)
    policy, state, samples = started(level, [1.0])
    for n in (1, 5, 60, 300, 20, 700, 3, 900):
        state = observed(state, 0, rng.gamma(2.0, 1.0, n).round(2))
        before = np.sort(rewards(state, 0))
        place_rewards(policy, state, samples, 0)
        x, low, end = rewards(state, 0), samples.parts["low"][0], samples.parts["end"][0]
        np.testing.assert_array_equal(np.sort(x), before)
        np.testing.assert_array_equal(np.sort(x[:low]), before[:low])
        np.testing.assert_array_equal(x[low:end], before[low:end])
        assert low <= level * x.size <= end
    assert low > 100
    for n in (low // 2, low, end, (end + x.size) // 2, x.size + 1):
        np.testing.assert_array_equal(np.sort(gathered(x, samples.parts[0], n)[:n]), before[:n])
        np.testing.assert_array_equal(np.sort(x[:low]), before[:low])
        np.testing.assert_array_equal(x[low:end], before[low:end])


@pytest.mark.parametrize("level", [0.2, 0.8])
def test_draws_of_many_rewards_have_the_distribution_of_the_index(level):
    rng = np.random.default_rng(2)
    policy, state, samples = started(level, rng.gamma(2.0, 1.0, 1500))
    draws, bounds = np.empty(MANY), np.empty((MANY, 2))
    indices(policy, state, samples, rng, bounds, draws)
    state = observed(state, 0, rng.gamma(2.0, 1.0, 40))
    indices(policy, state, samples, rng, bounds, draws)
    assert (bounds[:, 0] <= draws).all()
    assert (draws <= bounds[:, 1]).all()
    assert (bounds[:, 0] < bounds[:, 1]).mean() > 0.9
    for v in np.quantile(draws, [0.1, 0.5, 0.9]):
        p = above(rewards(state, 0), v, level)
        assert stats.binomtest(int((draws >= v).sum()), MANY, p).pvalue > ALARM


@pytest.mark.parametrize("values", [[0.0], [0.0, 0.0, 1.0]])
def test_equal_rewards_give_equal_indices(values):
    rng = np.random.default_rng(5)
    policy, state, samples = started(0.2, np.resize(values, 900))
    draws = np.empty(100)
    indices(policy, state, samples, rng, np.empty((100, 2)), draws)
    assert (draws == 0.0).all()


@pytest.mark.parametrize("n", [30, 900])
def test_draws_below_a_limit_have_the_distribution_of_the_index_there(n):
    rng = np.random.default_rng(6)
    policy, state, samples = started(0.4, rng.gamma(2.0, 1.0, n))
    x = rewards(state, 0).copy()
    limit, draws = db.cvar(x, 0.4), np.empty(MANY)
    indices_below(policy, state, samples, limit, rng, draws)
    assert draws.max() < limit
    middle = float(np.median(draws))
    share = (above(x, middle, 0.4) - above(x, limit, 0.4)) / (1.0 - above(x, limit, 0.4))
    assert stats.binomtest(int((draws >= middle).sum()), MANY, share).pvalue > ALARM


@pytest.mark.parametrize(("level", "n"), [(0.05, 70), (0.2, 30), (0.4, 5), (0.8, 600), (1.0, 40), (1.0 - 1e-9, 40)])
def test_a_challenger_is_kept_as_often_as_it_reaches_the_threshold(level, n):
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 1.0, n)
    policy, state, samples = started(level, x)
    challengers, draws = np.zeros(1, CHALLENGER), np.empty(MANY)
    for distance in (1.5, 0.8, 0.3):
        q = db.cvar(x, level) + distance * (0.1 if n > 100 else 0.6)
        indices_above(policy, state, samples, challengers, q, rng, draws)
        p, ceiling, kept = above(x, q, level), challengers["ceiling"][0], draws[~np.isnan(draws)]
        assert p * (1.0 - 1e-9) <= ceiling <= 20.0 * p + 0.001
        assert stats.binomtest(kept.size, MANY, min(p / ceiling, 1.0)).pvalue > ALARM
        if kept.size > 100:
            middle = float(np.median(kept))
            share = above(x, middle, level) / p
            assert stats.binomtest(int((kept >= middle).sum()), kept.size, share).pvalue > ALARM
    assert kept.size > 100


@pytest.mark.parametrize("level", [0.05, 0.5, 1.0])
def test_the_estimate_is_the_cvar_of_the_rewards(level):
    x = np.random.default_rng(7).gamma(2.0, 1.0, 1000)
    policy, state, samples = started(level, x)
    value, variance = estimate(policy, state, samples, 0)
    assert value == pytest.approx(db.cvar(x, level), rel=1e-12)
    shortfalls = np.maximum(np.quantile(x, level) - x, 0.0) / level
    assert variance == pytest.approx(shortfalls.var() / x.size, rel=0.02)


def test_contests_pull_each_arm_with_its_probability():
    """Two arms have clocks, for a threshold that the best arm's index often does not reach."""
    rng = np.random.default_rng(8)
    policy = db.BCVTS(UPPER, 0.4)
    state, exact = policy.init(3), policy.init(3)
    for arm, (shift, n) in enumerate([(0.45, 90), (0.0, 60), (0.0, 40)]):
        x = shift + stats.gamma(2.0).ppf((np.arange(n) + 0.5) / n)
        state = observed(state, arm, x)
        for value in x:
            exact = policy.update(exact, arm, value, rng)
    samples, challengers, counts = new_samples(3), np.zeros(3, CHALLENGER), np.zeros(3)
    threshold = db.cvar(rewards(exact, 0), 0.4)
    assert 0.3 < above(rewards(exact, 0), threshold, 0.4) < 0.8
    contested(policy.params, state, samples, challengers, threshold, rng, counts)
    assert (challengers["steps"][1:] >= 0).all()
    expected = resampled_cvar_propensities(policy, exact) * STEPS
    assert expected.min() > 50.0
    assert stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), 2) > ALARM
