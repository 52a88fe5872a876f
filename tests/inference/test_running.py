"""Running states are the functions, to the last bit, however the rewards are divided among calls."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from dirichlet_bandits.inference.intervals import BoundedMean, empirical_bernstein
from dirichlet_bandits.inference.moments import Moments
from dirichlet_bandits.types import Floats

BOUNDS = (-3.0, 4.0)
DRAWS = {
    "coins": lambda rng, n: np.where(rng.random(n) < 0.2, *BOUNDS),
    "edges": lambda rng, n: BOUNDS[0] + 7.0 * rng.beta(0.05, 0.1, n),
    "smooth": lambda rng, n: rng.uniform(*BOUNDS, n),
    "jump": lambda rng, n: np.where(np.arange(n) < n // 2, -2.5, 3.5) + rng.uniform(-0.5, 0.5, n),
    "ten values": lambda rng, n: rng.integers(-3, 5, n).astype(float),
}


def pieces(rng: np.random.Generator, x: Floats, way: str) -> Iterator[Floats]:
    """The rewards one at a time, or in pieces of random sizes, some of them empty."""
    if way == "one at a time":
        yield from x[:, None]
        return
    yield from np.split(x, np.sort(rng.integers(0, x.size + 1, 12)))


@pytest.mark.parametrize("way", ["one at a time", "pieces"])
@pytest.mark.parametrize("draw", DRAWS)
def test_running_states_equal_the_functions(draw: str, way: str) -> None:
    rng = np.random.default_rng(7)
    for n in (1, 2, 37, 700):
        x = DRAWS[draw](rng, n)
        mean, moments = BoundedMean(BOUNDS, 0.9), Moments()
        for part in pieces(rng, x, way):
            mean.add(part)
            moments.add(part)
        assert moments.n == n
        assert mean.interval == empirical_bernstein(x, *BOUNDS, 0.9)
        assert mean.contradictory == (draw == "jump" and n == 700)
        assert moments.mean == Moments().add(x).mean
        np.testing.assert_equal(moments.variance, Moments().add(x).variance)


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_moments_are_those_of_exact_arithmetic(shift: float) -> None:
    x = shift + np.random.default_rng(10).exponential(1.0, 3000)
    exact = [Fraction(one) for one in x.tolist()]
    mean = sum(exact) / len(exact)
    variance = sum((one - mean) ** 2 for one in exact) / (len(exact) - 1)
    moments = Moments().add(x)
    assert moments.mean == float(mean)
    assert moments.variance == pytest.approx(float(variance), rel=1e-12 if shift == 0.0 else 1e-6)
    assert moments.deviation == pytest.approx(math.sqrt(float(variance)), rel=1e-6)


def test_running_states_without_rewards() -> None:
    assert BoundedMean(BOUNDS, 0.9).add(np.empty(0)).interval == BOUNDS
    assert math.isnan(Moments().add(np.empty(0)).mean)
    assert math.isnan(Moments().add(np.ones(1)).deviation)
    assert Moments().add(np.full(40, 0.1)).variance == 0.0
    assert Moments().add(np.array([1e200, 3e200])).mean == 2e200
