"""Kinf and its index from power sums against the solvers that look at every reward."""

import math

import numpy as np
import pytest

from dirichlet_bandits.numerics.kinf import kinf_dual, kl_ucb_index
from dirichlet_bandits.numerics.kinf_series import expand, follow, index_near, kinf_near, make_expansions
from dirichlet_bandits.numerics.tolerances import EXPANSION_ERROR
from tests.numerics.test_index_law import LAWS


@pytest.mark.parametrize("upper", [1.0, 1.5])
@pytest.mark.parametrize("law", LAWS)
def test_as_rewards_come(law, upper):
    rng = np.random.default_rng(1)
    x = LAWS[law](rng, 2500)
    expansion, believed = make_expansions(1)[0], 0
    target = x[:2000].mean() + 0.04
    _, multiplier, _, _ = kinf_dual(x[:2000], target, upper, math.nan)
    expand(expansion, x[:2000], x[:2000].mean(), upper, target + 1.0 / multiplier)
    for n in range(2000, 2500, 50):
        assert follow(expansion, x[:n])
        target = max(x[:n].mean(), 0.0) + rng.uniform(0.036, 0.044)
        value, slope, error = kinf_near(expansion, target)
        if error <= EXPANSION_ERROR:
            believed += 1
            exact, multiplier, _, _ = kinf_dual(x[:n], target, upper, math.nan)
            assert value == pytest.approx(n * exact, abs=2 * EXPANSION_ERROR)
            assert slope == pytest.approx(n * multiplier, rel=1e-6)
            index, error = index_near(expansion, value)
            assert error <= EXPANSION_ERROR
            assert index == pytest.approx(kl_ucb_index(x[:n], value / n, upper, math.nan)[0], abs=1e-11)
    assert believed >= 5


def test_the_end_of_the_multipliers():
    """With a bound far above all rewards and a distant target, lam is 1/(upper - q)."""
    x, upper, target = np.random.default_rng(2).uniform(0.4, 0.6, 200), 2.0, 1.2
    exact, multiplier, _, _ = kinf_dual(x, target, upper, math.nan)
    assert multiplier == pytest.approx(1.0 / (upper - target))
    expansion = make_expansions(1)[0]
    expand(expansion, x, x.mean(), upper, upper)
    value, slope, error = kinf_near(expansion, target)
    assert (value, slope) == pytest.approx((200 * exact, 200 * multiplier))
    assert error <= EXPANSION_ERROR
    assert index_near(expansion, value)[0] == pytest.approx(target)


def test_too_far_or_too_many_is_noticed():
    x = np.random.default_rng(3).random(1000)
    expansion = make_expansions(1)[0]
    expand(expansion, x[:100], x[:100].mean(), 1.0, math.inf)
    assert not follow(expansion, x)
    assert kinf_near(expansion, 0.95)[2] > EXPANSION_ERROR
