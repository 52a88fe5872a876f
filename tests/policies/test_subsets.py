"""Rewards drawn without replacement: all subsets are equally probable, and the rewards return to their places.

Seeds are fixed, and a correct program with other seeds would fail one comparison in a million.
"""

import math

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.policies.subsampling.subsets import draw_to_front, put_back
from dirichlet_bandits.seeding import further_words
from tests.policies.test_equal_law import ALARM


@entry_point
def times_drawn(x, n, runs, rng):
    """How often each element was drawn, and how often so many of the first half were."""
    element, half = np.zeros(x.size, np.int64), np.zeros(n + 1, np.int64)
    words, places = further_words(rng), np.empty(n + 1, np.uint64)
    for _ in range(runs):
        distance, moved = draw_to_front(x, n, 0.0, math.inf, words, places)
        first, total = 0, 0.0
        for value in x[:n]:
            element[int(value)] += 1
            first += value < x.size // 2
            total += value
        put_back(x, places, moved)
        if abs(total - distance) > 1e-9 * (1.0 + total) or moved < n:
            raise ValueError("not n elements, or not their sum")
        half[first] += 1
    return element, half


@pytest.mark.parametrize(("size", "n"), [(64, 32), (64, 1), (70, 21), (127, 126)])
def test_all_subsets_are_equally_probable(size, n):
    x, runs = np.arange(size, dtype=float), 40_000
    element, half = times_drawn(x, n, runs, np.random.default_rng(17))
    assert x.tolist() == list(range(size))
    # Counts of the elements have covariance -v / (size - 1), so their squares divided by v add up to size / (size - 1)
    # times a chi-square variable with size - 1 degrees of freedom.
    share = n / size
    squares = np.sum((element - runs * share) ** 2) / (runs * share * (1 - share)) * (size - 1) / size
    assert stats.chi2.sf(squares, size - 1) > ALARM
    assert stats.chi2.cdf(squares, size - 1) > ALARM
    expected = runs * stats.hypergeom(size, size // 2, n).pmf(np.arange(n + 1))
    frequent = expected > 5
    observed = np.append(half[frequent], runs - half[frequent].sum())
    expected = np.append(expected[frequent], runs - expected[frequent].sum())
    assert stats.chisquare(observed[expected > 1e-6], expected[expected > 1e-6]).pvalue > ALARM


@pytest.mark.parametrize("n", [40, 41])
def test_a_decision_leaves_the_rewards_in_their_places(n):
    policy, rng = db.policies.WRSDA(), np.random.default_rng(0)
    state = policy.init(2)
    for arm, rewards in enumerate((rng.random(n), rng.random(150))):
        for reward in rewards:
            state = policy.update(state, arm, float(reward), rng)
    before = state.pool.copy()
    chosen = {tuple(policy.select(state, rng)) for _ in range(200)}
    np.testing.assert_array_equal(state.pool, before)
    assert chosen == {(0,), (1,)}
