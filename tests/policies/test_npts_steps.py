"""Single steps of NPTS's shortcut pull each arm with the exact probability, for given rewards.

By chi-square; a correct program with other seeds would fail one test in a million.
"""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.policies.npts.challengers import log_tangent, new_challengers
from dirichlet_bandits.policies.npts.fast import far_winner, largest_index, split
from dirichlet_bandits.policies.npts.rule import resampling_propensities

STEPS = 400_000
DEVIATIONS = 1.5  # the foot is so far below the leader's index that it is reached often; in games, it is farther below
ALARM = 1e-6


@jit
def prepared(policy, state, leader):
    """No counts yet, the challengers, their order, how many arms are near, and the foot."""
    order, challengers = np.empty(state.pulls.size, np.int64), new_challengers(state.pulls.size, policy.upper)
    near, foot = split(state, challengers, order, leader)
    foot = raised(state, challengers, leader, foot, policy.upper)
    return np.zeros(state.pulls.size), challengers, order, near, foot


@jit
def contested(policy, state, leader, steps, rng):
    """How often a step of a contest pulls each arm, how many arms are near, and the rate of the clock."""
    counts, challengers, order, near, foot = prepared(policy, state, leader)
    total = sum_of(challengers.tangents.mass)
    for _ in range(steps):
        best, more = largest_index(state, challengers, order, near, foot, rng)
        if not more and rng.random() < total:
            best = far_winner(state, challengers, total, foot, best, rng)
        counts[best] += 1.0
    return counts, near, total


@jit
def raised(state, challengers, leader, foot, upper):
    """A foot so high that the leader's index is often below it, with the masses above it."""
    known = challengers.polynomials[leader]
    higher = upper + known.mean - DEVIATIONS * known.deviation
    for arm in range(state.pulls.size):
        far = challengers.tangents[arm]
        if far.mass > 0.0:
            far.mass = math.exp(log_tangent(far, higher)) / far.fall
    return higher if sum_of(challengers.tangents.mass) > 0.0 else foot


def played(samples):
    """The state after these rewards."""
    policy, rng = db.NPTS(1.0), np.random.default_rng(0)
    state = policy.init(len(samples))
    for arm, sample in enumerate(samples):
        for reward in sample:
            state = policy.update(state, arm, reward, rng)
    return state


def beta(a, b, n, seed):
    return np.random.default_rng(seed).beta(a, b, n)


NEAR = {
    "two near, two far": [beta(4, 4, 900, 1), beta(4, 4, 400, 2), beta(2, 5, 40, 3), beta(2, 4, 60, 4)],
    "three near": [beta(4, 4, 900, 1), beta(4, 4, 800, 2), beta(4, 4, 500, 5), beta(2, 6, 30, 3)],
    "coins": [(beta(1, 1, n, seed) < p).astype(float) for n, p, seed in ((900, 0.6, 1), (300, 0.57, 2), (40, 0.3, 3))],
    "few rewards": [beta(4, 2, 60, 1), beta(3, 3, 12, 2), beta(2, 6, 9, 3)],
    "constants": [np.full(60, 0.5), np.full(60, 0.5), np.full(8, 0.2)],
    "at the bound": [np.ones(50), np.ones(50), np.full(8, 0.2)],
}
CLEAR = {
    "betas": [beta(4, 2, 120, 1), beta(3, 4, 18, 2), beta(2, 5, 10, 3)],
    "coins": [(beta(1, 1, n, seed) < p).astype(float) for n, p, seed in ((300, 0.7, 1), (12, 0.4, 2), (8, 0.4, 5))],
    "a constant": [beta(4, 2, 60, 1), np.full(7, 0.3)],
    "challengers that are often above the foot": [beta(4, 2, 120, 1), beta(3, 3, 9, 2), beta(3, 4, 7, 3)],
}


def p_value(counts, state):
    """How well these counts agree with the exact probabilities; arms too rare for chi-square count together."""
    expected = resampling_propensities(db.NPTS(1.0), state) * counts.sum()
    rare = expected < 5.0
    if rare.any():
        counts, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
        assert counts[-1] <= stats.poisson.isf(ALARM, expected[-1])
        counts, expected = counts[:-1], expected[:-1]
    if expected.size == 1:
        return 1.0
    return stats.chi2.sf(((counts - expected) ** 2 / expected).sum(), max(expected.size - (not rare.any()), 1))


def check_steps(samples, seed):
    """Compare steps of a contest with the exact probabilities; return how many arms are near, and the clock's rate."""
    state = played(samples)
    leader, rng = int(np.argmax(state.means)), np.random.default_rng(seed)
    counts, near, total = contested(db.NPTS(1.0).params, state, leader, STEPS, rng)
    assert p_value(counts, state) > ALARM
    return near, total


@pytest.mark.parametrize("name", NEAR)
def test_contests_of_near_arms(name):
    near, total = check_steps(NEAR[name], 7)
    assert (near < len(NEAR[name])) == (total > 0.0)


@pytest.mark.parametrize("name", CLEAR)
def test_contests_of_a_clear_leader(name):
    near, total = check_steps(CLEAR[name], 8)
    assert near == 1
    assert 0.0 < total < 1.0
