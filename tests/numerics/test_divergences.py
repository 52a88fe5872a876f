import math

import mpmath as mp
import numpy as np
import pytest

from dirichlet_bandits.numerics.compensated import log1p_minus
from dirichlet_bandits.numerics.divergences import (
    FAMILIES,
    Family,
    divergence,
    kl_upper,
)

LEVELS = [1e-20, 1e-10, 1e-4, 0.1, 1.0, 5.0, 50.0, 500.0]
MEANS = [1e-100, 1e-9, 0.01, 0.3, 0.5, 0.97, 1 - 1e-9]


def naive(family: int, sigma: float, x: float, y: float) -> mp.mpf:
    x, y = mp.mpf(x), mp.mpf(y)
    if family == Family.GAUSSIAN:
        return (x - y) ** 2 / (2 * mp.mpf(sigma) ** 2)
    if family == Family.BERNOULLI:
        return x * mp.log(x / y) + (1 - x) * mp.log((1 - x) / (1 - y))
    if family == Family.EXPONENTIAL:
        return x / y - 1 - mp.log(x / y)
    return y - x + x * mp.log(x / y)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_divergence_agrees_with_many_digits(family: int) -> None:
    with mp.workdps(250):
        for x in MEANS:
            for y in [*MEANS, x * (1 + 1e-8), x * (1 - 1e-4)]:
                if x == y or not (0 < y < 1):
                    continue
                want = naive(family, 0.7, x, y)
                assert abs(divergence(family, 0.7, x, y) - want) <= 1e-14 * want


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("x", MEANS)
def test_upper_inverts_the_divergence(family: int, level: float, x: float) -> None:
    q = kl_upper(family, 0.7, x, level)
    with mp.workdps(700):  # enough to tell q from 1 at level 500
        top = mp.mpf(1) if family == Family.BERNOULLI else mp.inf
        # q is right to 1e-12 if the divergence crosses the level between q - 1e-12 q and q + 1e-12 q.
        below, above = mp.mpf(q) * (1 - mp.mpf(10) ** -12), mp.mpf(q) * (1 + mp.mpf(10) ** -12)
        assert q >= x
        assert below <= x or naive(family, 0.7, x, below) <= level
        assert above >= top or naive(family, 0.7, x, above) >= level


def test_borders() -> None:
    assert divergence(Family.BERNOULLI, 1, 0.0, 0.5) == pytest.approx(math.log(2), rel=1e-15)
    assert divergence(Family.BERNOULLI, 1, 1.0, 0.5) == pytest.approx(math.log(2), rel=1e-15)
    assert divergence(Family.BERNOULLI, 1, 0.5, 1.0) == math.inf
    assert divergence(Family.BERNOULLI, 1, 0.5, 0.0) == math.inf
    assert divergence(Family.BERNOULLI, 1, 1.0, 1.0) == 0.0
    assert divergence(Family.BERNOULLI, 1, 0.0, 0.0) == 0.0
    assert math.isnan(divergence(Family.BERNOULLI, 1, 1.5, 0.5))
    assert divergence(Family.EXPONENTIAL, 1, 0.0, 1.0) == math.inf
    assert divergence(Family.EXPONENTIAL, 1, 1.0, 0.0) == math.inf
    assert divergence(Family.POISSON, 1, 1.0, 0.0) == math.inf
    assert divergence(Family.POISSON, 1, 0.0, 0.0) == 0.0
    for family in FAMILIES.values():
        assert kl_upper(family, 1.0, 0.4, 0.0) == 0.4
        assert math.isnan(kl_upper(family, 1.0, math.nan, 1.0))
        assert kl_upper(family, 1.0, 0.4, math.inf) == (1.0 if family == Family.BERNOULLI else math.inf)
    assert kl_upper(Family.BERNOULLI, 1, 1.0, 3.0) == 1.0
    assert kl_upper(Family.BERNOULLI, 1, 0.0, 1e-20) == 1e-20
    assert kl_upper(Family.POISSON, 1, 0.0, 3.0) == 3.0
    assert kl_upper(Family.EXPONENTIAL, 1, 0.0, 3.0) == 0.0
    assert math.isnan(kl_upper(Family.POISSON, 1, -1.0, 3.0))


def test_log1p_minus_keeps_its_digits() -> None:
    with mp.workdps(400):
        for y in np.concatenate([-np.geomspace(1e-140, 0.999, 300), np.geomspace(1e-140, 1e10, 300)]):
            want = mp.log1p(mp.mpf(y)) - mp.mpf(y)
            assert abs(log1p_minus(y) - want) <= 1e-14 * abs(want)
