import math

import numpy as np
import pytest

from dirichlet_bandits.numerics.kinf_statistic import (
    POINTS,
    count_on_grid,
    grid_statistic,
    new_grid,
    weighted_statistic,
)
from tests import naive

NONE = np.empty(0)


def two_arms(shape: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    more = n + int(rng.integers(0, n))
    if shape == "coins":
        return (rng.random(n) < 0.7).astype(float), (rng.random(more) < 0.3).astype(float)
    if shape == "edges":
        return rng.beta(0.2, 0.1, n), rng.beta(0.1, 0.2, more)
    if shape == "constant":
        return np.full(n, 0.75), np.full(more, 0.25)
    return rng.beta(2.0, 1.0, n), rng.beta(1.0, 2.0, more)


def statistic(best: np.ndarray, rival: np.ndarray, margin: float) -> tuple[float, float, float]:
    return weighted_statistic(1.0 - best, NONE, float(best.size), rival, NONE, float(rival.size), margin)


@pytest.mark.parametrize("shape", ["coins", "edges", "constant", "smooth"])
def test_evidence_agrees_with_a_direct_search_in_sixty_digits(shape: str) -> None:
    rng = np.random.default_rng([ord(letter) for letter in shape])
    for n, margin in ((1, 0.1), (3, 0.0)):
        best, rival = two_arms(shape, rng, n)
        want = float(naive.kinf_statistic(best.tolist(), rival.tolist(), margin))
        z, m, slope = statistic(best, rival, margin)
        assert z == pytest.approx(want, rel=1e-9, abs=1e-11)
        more = statistic(best, rival, margin + 1e-6)[0]
        assert z < 1e-9 or (more - z) / 1e-6 == pytest.approx(slope, rel=1e-3)
        assert 0.0 <= m <= 1.0
        (x, w), (y, v) = (np.unique(one, return_counts=True) for one in (best, rival))
        weighted = weighted_statistic(1.0 - x, w / 2.0, float(best.size), y, v / 2.0, float(rival.size), margin)
        assert weighted[0] == pytest.approx(want, rel=1e-9, abs=1e-11)


def test_evidence_at_its_limits() -> None:
    zeros, ones = np.zeros(4), np.ones(4)
    assert statistic(zeros, ones, 0.0)[0] == 0.0
    assert statistic(ones, ones, 0.0)[0] == 0.0
    # No arm can be better than another one by more than the whole range.
    assert statistic(zeros, ones, 1.5)[0] == math.inf
    assert statistic(zeros, ones, 1.0)[0] == 0.0
    assert statistic(ones, zeros, 1.0)[0] == math.inf


def test_a_grid_in_place_of_many_rewards_only_loses_a_little() -> None:
    rng = np.random.default_rng(7)
    for shapes in ((2.0, 1.0, 1.8, 1.0), (0.2, 0.1, 0.19, 0.1), (30.0, 40.0, 29.0, 40.0)):
        arms, grid = [rng.beta(*shape, 5000) for shape in (shapes[:2], shapes[2:])], new_grid(2)
        for rewards, weights in zip(arms, grid, strict=True):
            for reward in rewards:
                count_on_grid(weights, reward)
            assert np.arange(POINTS + 1) @ weights / POINTS / weights.sum() == pytest.approx(rewards.mean(), rel=1e-12)
        exact, coarse = statistic(*arms, 0.0)[0], grid_statistic(grid[0], 5000.0, grid[1], 5000.0, 0.0)
        assert 0.7 * exact - 1.0 < coarse <= exact * (1.0 + 1e-9)
