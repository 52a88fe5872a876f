import math

import mpmath as mp
import numpy as np
import pytest

from dirichlet_bandits.numerics.kinf_statistic import (
    grouped,
    kinf_statistic,
    pair_statistic,
    portfolio_regret,
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


@pytest.mark.parametrize("shape", ["coins", "edges", "constant", "smooth"])
def test_evidence_agrees_with_a_direct_search_in_sixty_digits(shape: str) -> None:
    rng = np.random.default_rng([ord(letter) for letter in shape])
    for n, margins in ((1, (0.1,)), (3, (0.0,))):
        best, rival = two_arms(shape, rng, n)
        for margin in margins:
            want = float(naive.kinf_statistic(best.tolist(), rival.tolist(), margin))
            got = pair_statistic(best, rival, margin)
            assert got == pytest.approx(want, rel=1e-9, abs=1e-11)
            counted = grouped(best), grouped(rival)
            mirror = 1.0 - counted[0][0], counted[0][1]
            z, m, slope = kinf_statistic(*mirror, float(best.size), *counted[1], float(rival.size), margin)
            assert z == pytest.approx(want, rel=1e-9, abs=1e-11)
            more = kinf_statistic(*mirror, float(best.size), *counted[1], float(rival.size), margin + 1e-6)[0]
            assert z < 1e-9 or (more - z) / 1e-6 == pytest.approx(slope, rel=1e-3)
            assert 0.0 <= m <= 1.0


def test_evidence_at_its_limits() -> None:
    zeros, ones = np.zeros(4), np.ones(4)
    assert pair_statistic(zeros, ones, 0.0) == 0.0
    assert pair_statistic(ones, ones, 0.0) == 0.0
    assert pair_statistic(NONE, ones, 0.0) == pair_statistic(ones, NONE, 0.5) == 0.0
    # No arm can be better than another one by more than the whole range.
    assert pair_statistic(zeros, ones, 1.5) == math.inf
    assert weighted_statistic(ones, NONE, 4.0, ones, NONE, 4.0, 1.0)[0] == 0.0
    assert weighted_statistic(zeros, NONE, 4.0, zeros, NONE, 4.0, 1.0)[0] == math.inf


def test_a_grid_in_place_of_many_rewards_only_loses_a_little() -> None:
    rng = np.random.default_rng(7)
    for shapes in ((2.0, 1.0, 1.8, 1.0), (0.2, 0.1, 0.19, 0.1), (30.0, 40.0, 29.0, 40.0)):
        best, rival = rng.beta(*shapes[:2], 20_000), rng.beta(*shapes[2:], 20_000)
        exact = pair_statistic(best, rival, 0.0)
        (x, w), (y, v) = grouped(best), grouped(rival)
        coarse = kinf_statistic(1.0 - x, w, 20_000.0, y, v, 20_000.0, 0.0)[0]
        assert max(x.size, y.size) <= 4097
        assert x @ w / w.sum() == pytest.approx(best.mean(), rel=1e-12)
        assert exact - 0.01 < coarse <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_mixture_loses_no_more_than_the_regret(n: int) -> None:
    """One asset alone gains in each step, k times the first one: there the ratio is largest, and most at the ends."""
    losses = []
    for k in range(n + 1):
        best = mp.power(mp.mpf(k) / n, k) * mp.power(1 - mp.mpf(k) / n, n - k)
        losses.append(float(mp.log(best * mp.pi / mp.beta(k + mp.mpf("0.5"), n - k + mp.mpf("0.5")))))
    assert max(losses) == pytest.approx(losses[0], rel=1e-12)
    assert portfolio_regret(float(n)) == pytest.approx(losses[0], rel=1e-12)
    assert portfolio_regret(float(n)) <= 0.5 * math.log(n + 1.0) + math.log(2.0)


@pytest.mark.parametrize("seed", range(4))
def test_the_wealth_of_a_mixture_of_bets_supports_the_evidence(seed: int) -> None:
    """A step of the proof: exp(n Kinf - r(n)) is at most the mean wealth of bets drawn from Beta(1/2, 1/2)."""
    rng = np.random.default_rng(seed)
    x = rng.beta(0.5, 1.5, 25)
    nodes = np.square(np.sin((np.arange(400) + 0.5) * np.pi / 800))  # Gauss-Chebyshev for the density of the bets
    for target in (x.mean() + 0.02, 0.6, 0.95):
        wealth = np.prod(1.0 - nodes[:, None] * (x - target) / (1.0 - target), axis=1).mean()
        kinf = float(naive.kinf(x.tolist(), target, 1.0))
        assert x.size * kinf - portfolio_regret(25.0) <= math.log(wealth) <= x.size * kinf
