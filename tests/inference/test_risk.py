"""Intervals for the CVaR of an arm hold at all times at once, and get narrower with rewards."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.inference.risk import _GRID, Sums, _ends, cvar_sequence

LOOKS = (1, 3, 10, 30, 100, 300, 1000, 3000)


@pytest.mark.parametrize("level", [0.05, 0.3, 1.0])
def test_sequences_cover_at_all_times(level):
    """60 streams of each law; 60 % of them may fail by the promise, and by the union bound far fewer do.

    With a confidence of 0.4 the number of failures of an honest sequence is at most Binomial(60, 0.6): more than 55 has
    a probability of 1e-7. The widths at the end show that the sequence says something.
    """
    rng = np.random.default_rng(1)
    laws = {
        "uniform": (lambda n: rng.random(n), level / 2),
        "coin": (lambda n: (rng.random(n) < 0.7) * 1.0, max(level - 0.3, 0.0) / level),
        "two sorts": (lambda n: np.where(rng.random(n) < 0.1, 0.0, 0.9), 0.9 * max(level - 0.1, 0.0) / level),
    }
    for draw, true in laws.values():
        failures, widths = 0, []
        for _ in range(60):
            x = draw(LOOKS[-1])
            ends = [cvar_sequence(x[:n], 0.0, 1.0, level, 0.4) for n in LOOKS]
            failures += any(not low - 1e-12 <= true <= high + 1e-12 for low, high in ends)
            widths.append(ends[-1].high - ends[-1].low)
        assert failures <= 55
        assert np.mean(widths) < 0.2


def test_sequences_tighten_with_rewards_and_move_with_them():
    x = np.random.default_rng(2).beta(2.0, 3.0, 20_000)
    widths = [np.diff(cvar_sequence(x[:n], 0.0, 1.0, 0.2, 0.95))[0] for n in (100, 1000, 20_000)]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]
    there = cvar_sequence(1e6 + 2**10 * x[:500], 1e6, 1e6 + 2**10, 0.2, 0.95)
    here = cvar_sequence(x[:500], 0.0, 1.0, 0.2, 0.95)
    np.testing.assert_allclose((np.array(there) - 1e6) / 2**10, here, atol=1e-8)


def test_the_ends_bound_the_cvar_of_the_sums_themselves():
    """Without any doubt about h (a mass so large that the price of confidence vanishes) only the grid is left."""
    x = np.random.default_rng(3).beta(2.0, 3.0, 400)
    first = np.maximum(_GRID[:, None] - x, 0.0).mean(axis=1)
    for level in (0.05, 0.4, 1.0):
        exact = Sums(1e12 * first, np.zeros(_GRID.size))
        low, high = _ends(exact, exact, 1e12, 1.0, level, 0.95)
        true = db.cvar(x, level)
        assert low - 1e-8 <= true <= high + 1e-8
        assert high - low < 1.1 * _GRID[1]
