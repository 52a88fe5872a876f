"""The parts of the shortcut of B-CVTS: what is kept in order, and draws that are kept as often as they should be.

Seeds are fixed; a correct program with other seeds would fail one comparison in a million.
"""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import append, rewards
from dirichlet_bandits.policies.cvar.challenger import CEILING, index_above, new_tilts, set_tilts
from dirichlet_bandits.policies.cvar.leader import AT, MOST, N_CELLS, index_below, lead, pulls_below, set_bounds
from dirichlet_bandits.policies.cvar.ordering import END, LOW, catch_up, draw_index, new_samples

ALARM = 1e-6
UPPER = 12.0
MANY = 4000


@jit
def told(policy, state, arm, x):
    for value in x:
        state = append(state, arm, value, value)
    return state


@jit
def indices(policy, state, samples, arm, rng, out):
    for i in range(out.size):
        out[i] = draw_index(policy, state, samples, arm, math.nan, math.nan, rng)


@jit
def tilted(policy, state, samples, arm, thresholds, rng, ceilings, out):
    tilts = new_tilts(state.pulls.size, thresholds.size + 1)
    set_tilts(policy, state, samples, tilts, arm, thresholds, 0)
    for cell in range(thresholds.size):
        ceilings[cell] = tilts.rows[arm, cell, CEILING]
        for i in range(out.shape[1]):
            out[cell, i] = index_above(policy, state, samples, tilts, arm, cell, thresholds[cell], rng)


@jit
def led(policy, state, samples, arm, later, rng, out):
    leader = lead(policy, state, samples, arm)
    set_bounds(policy, state, leader, arm)
    done = pulls_below(policy, leader, later)
    state = told(policy, state, arm, later[:done])
    for cell in range(1, out.shape[0]):
        for i in range(out.shape[1]):
            out[cell, i] = index_below(policy, state, samples, leader, arm, cell, rng)
    return leader.cells, state


def started(level, *histories):
    policy = db.BCVTS(UPPER, level)
    state = policy.init(len(histories))
    for arm, x in enumerate(histories):
        state = told(policy.params, state, arm, np.asarray(x, float))
    return policy.params, state, new_samples(len(histories))


def above(x, v, level):
    """P(index >= v)."""
    return db.cvar_crossing_probability([*x, UPPER], v, level)


@pytest.mark.parametrize("level", [0.2, 0.8, 1.0])
def test_rewards_are_as_far_in_order_as_draws_want(level):
    rng = np.random.default_rng(1)
    policy, state, samples = started(level, [1.0])
    for n in (1, 5, 60, 300, 20, 700, 3, 900):
        state = told(policy, state, 0, rng.gamma(2.0, 1.0, n).round(2))
        before = np.sort(rewards(state, 0))
        catch_up(policy, state, samples, 0)
        x, (low, end) = rewards(state, 0), samples.marks[[LOW, END], 0]
        np.testing.assert_array_equal(np.sort(x), before)
        np.testing.assert_array_equal(np.sort(x[:low]), before[:low])
        np.testing.assert_array_equal(x[low:end], before[low:end])
        assert low <= level * x.size <= end
    assert low > 100


@pytest.mark.parametrize("level", [0.2, 0.8])
def test_draws_of_many_rewards_have_the_law_of_the_index(level):
    rng = np.random.default_rng(2)
    policy, state, samples = started(level, rng.gamma(2.0, 1.0, 1500))
    draws = np.empty(MANY)
    indices(policy, state, samples, 0, rng, draws)
    state = told(policy, state, 0, rng.gamma(2.0, 1.0, 40))
    indices(policy, state, samples, 0, rng, draws)
    for v in np.quantile(draws, [0.1, 0.5, 0.9]):
        p = above(rewards(state, 0), v, level)
        assert stats.binomtest(int((draws >= v).sum()), MANY, p).pvalue > ALARM


@pytest.mark.parametrize(("level", "n"), [(0.05, 70), (0.2, 30), (0.8, 600), (1.0, 40)])
def test_a_challenger_is_kept_as_often_as_it_reaches_the_threshold(level, n):
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 1.0, n)
    policy, state, samples = started(level, x)
    centre = db.cvar(x, level)
    thresholds = centre + np.array([1.5, 0.8, 0.3]) * (0.1 if n > 100 else 0.6)
    ceilings, draws = np.empty(3), np.empty((3, MANY))
    tilted(policy, state, samples, 0, thresholds, rng, ceilings, draws)
    for q, ceiling, row in zip(thresholds, ceilings, draws, strict=True):
        p, kept = above(x, q, level), row[~np.isnan(row)]
        assert p * (1.0 - 1e-9) <= ceiling <= 20.0 * p + 0.001
        assert stats.binomtest(kept.size, MANY, min(p / ceiling, 1.0)).pvalue > ALARM
        if kept.size > 100:
            middle = float(np.median(kept))
            share = above(x, middle, level) / p
            assert stats.binomtest(int((kept >= middle).sum()), kept.size, share).pvalue > ALARM
    assert kept.size > 100


@pytest.mark.parametrize(("level", "n"), [(0.05, 400), (0.2, 60), (0.8, 900), (1.0, 80)])
def test_a_leader_is_kept_as_often_as_it_falls_below_the_threshold(level, n):
    rng = np.random.default_rng(4)
    policy, state, samples = started(level, rng.gamma(2.0, 1.0, n))
    draws = np.full((N_CELLS, MANY), np.nan)
    cells, state = led(policy, state, samples, 0, rng.gamma(2.0, 1.0, 5), rng, draws)
    x = rewards(state, 0)
    assert x.size > n
    for cell in (1, 2):
        q, row = cells[AT, cell - 1], draws[cell]
        p, kept = 1.0 - above(x, q, level), row[row < q]  # some are kept that are not below it
        assert p <= cells[MOST, cell - 1]
        assert stats.binomtest(kept.size, MANY, p / cells[MOST, cell - 1]).pvalue > ALARM
        if kept.size > 100:
            middle = float(np.median(kept))
            share = (1.0 - above(x, middle, level)) / p
            assert stats.binomtest(int((kept < middle).sum()), kept.size, share).pvalue > ALARM
