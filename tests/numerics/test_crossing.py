import math

import mpmath as mp
import numpy as np
import pytest

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.crossing import crossing_probability
from tests import naive
from tests.numerics.test_kinf import SHAPES, hash_of, sample

SHARES = (-0.9, -0.3, -0.01, 0.0, 0.01, 0.1, 0.3, 0.6, 0.95)


def thresholds(x: np.ndarray) -> list[float]:
    """From far below to far above the mean."""
    mean, span = x.mean(), {True: x.max() - x.mean(), False: x.mean() - x.min()}
    return [float(mean + share * span[share > 0]) for share in SHARES]


def agrees(got: float, want: mp.mpf, tolerance: float = 1e-11) -> bool:
    """`got` is a logarithm, `want` a probability."""
    with mp.workdps(40):
        return bool(abs(mp.expm1(mp.mpf(got) - mp.log(want))) <= tolerance)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 60])
def test_agrees_with_the_closed_form(shape: str, n: int) -> None:
    rng = np.random.default_rng(hash_of(shape, n))
    x = sample(shape, n, rng)
    for bonus in (x.mean() + 0.3, 1.2 * x.max() + 1.0, 30 * abs(x).max() + 1.0):
        data = np.append(x, bonus)
        for threshold in thresholds(data):
            if not data.min() < threshold < data.max():
                continue
            want = naive.crossing_integer_weights(data, threshold, [1] * data.size)
            got = crossing_probability(data, threshold, log=True)
            assert agrees(got, want), (bonus, threshold)
            assert crossing_probability(data, threshold) == pytest.approx(float(want), rel=1e-10)


@pytest.mark.parametrize("shape", ["gamma", "cauchy"])
def test_three_hundred_observations(shape: str) -> None:
    x = sample(shape, 300, np.random.default_rng(300))
    for share in (0.02, 0.5, 0.95):
        threshold = x.mean() + share * (x.max() - x.mean())
        assert agrees(crossing_probability(x, threshold, log=True), naive.crossing_closed_form(x, threshold))


def test_two_hundred_orders_of_magnitude_and_far_beyond() -> None:
    # All below the threshold but one: a product, here (1 - t)^n.
    for n, t in ((100, 0.99), (300, 0.8), (100_000, 0.7), (1000, 1 - 1e-12)):
        got = crossing_probability([0.0] * n + [1.0], t, log=True)
        assert got == pytest.approx(n * math.log1p(-t), rel=1e-13)
    assert crossing_probability([0.0] * 100 + [1.0], 0.99) == pytest.approx(1e-200, rel=1e-10)
    # On the other side the complement is what is small.
    p = crossing_probability([0.0] + [1.0] * 30, 0.1, log=True)
    assert p == pytest.approx(-(0.1**30), rel=1e-10)


@pytest.mark.parametrize("seed", range(12))
def test_integer_weights_and_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    x, w = rng.gamma(0.7, 3.0, n), rng.integers(1, 9, n)
    for threshold in thresholds(x):
        want = naive.crossing_integer_weights(x, threshold, w)
        assert agrees(crossing_probability(x, threshold, w, log=True), want)
        assert agrees(crossing_probability(np.repeat(x, w), threshold, log=True), want)


@pytest.mark.parametrize("weights", [[0.1, 0.1], [0.1, 0.3, 0.05], [0.5, 2.5, 1.7, 0.2], [12.3, 0.7, 1.0]])
def test_real_weights(weights: list[float]) -> None:
    x = np.array([0.0, 3.0, 1.0, -2.0])[: len(weights)]
    for threshold in (-0.5, 0.1, 0.9, 1.1, 2.0, 2.9):
        if x.min() < threshold < x.max():
            want = naive.crossing_integral(x, threshold, weights)
            assert agrees(crossing_probability(x, threshold, weights, log=True), want)


def test_two_observations_are_a_beta_law() -> None:
    with mp.workdps(40):
        for a, b in ((0.1, 0.1), (0.01, 3.0), (1e-3, 1e-3), (40.0, 0.5), (1000.0, 1500.0)):
            for t in (1e-9, 0.2, 0.5, 0.99):
                want = mp.betainc(a, b, 0, 1 - mp.mpf(t), regularized=True)
                got = crossing_probability([1.0, 0.0], t, [b, a], log=True)
                assert agrees(got, want, 1e-10), (a, b, t)


@pytest.mark.parametrize("light", [1e-3, 1e-9, 1e-12])
@pytest.mark.parametrize("heavy", [1e-3, 0.3, 1.0, 2000.0])
def test_light_observations_above_the_threshold(light: float, heavy: float) -> None:
    """The probability is of the order of their weight, and relatively as exact as any other."""
    with mp.workdps(40):
        for t in (0.5, 0.7, 0.99):
            got = crossing_probability([0.0, 1.0], t, [heavy, light], log=True)
            assert agrees(got, mp.betainc(heavy, light, 0, 1 - mp.mpf(t), regularized=True), 1e-10), t
            # A light one as large as the others but one, which alone is above: a mixture of two laws.
            both = crossing_probability([0.0, 1.0, 1.0], t, [heavy, light, 0.75], log=True)
            assert agrees(both, mp.betainc(heavy, light + 0.75, 0, 1 - mp.mpf(t), regularized=True), 1e-10), t


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("shift", [0.0, 1e6, -1e9])
def test_every_magnitude(scale: float, shift: float) -> None:
    x = (np.random.default_rng(8).gamma(1.0, 1.0, 40) + shift) * scale
    for threshold in thresholds(x):
        want = naive.crossing_integer_weights(x, threshold, [1] * x.size)
        assert agrees(crossing_probability(x, threshold, log=True), want)


def test_trivial_cases() -> None:
    assert crossing_probability([3], 3) == 1.0
    assert crossing_probability([3], 3.1) == 0.0
    assert crossing_probability([3], 3.1, log=True) == -math.inf
    assert crossing_probability([3, 3, 3], 3) == 1.0
    assert crossing_probability([1, 3], 3) == 0.0
    assert crossing_probability([1, 3], 1) == 1.0
    assert crossing_probability([1, 2, 3], 2) == pytest.approx(0.5, rel=1e-14)
    assert crossing_probability([1, 2, 2, 2, 3], 2, [1, 5, 0.1, 3, 1]) == pytest.approx(0.5, rel=1e-14)


def test_against_draws() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=8), rng.gamma(1.0, 1.0, 8)
    p = crossing_probability(x, 0.3, w)
    draws = 200_000
    assert abs(naive.crossing_draws(x, 0.3, w, draws, seed=4) - p) < 5 * math.sqrt(p * (1 - p) / draws)


def test_errors_name_the_argument() -> None:
    for bad in ([], [math.nan], [math.inf], [[1.0]], "abc"):
        with pytest.raises(ArgumentError, match="'values'"):
            crossing_probability(bad, 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'threshold'"):
        crossing_probability([1], math.inf)
    with pytest.raises(ArgumentError, match="'weights'"):
        crossing_probability([1, 2], 1.5, [1, 0])


def test_a_million_observations() -> None:
    x = np.random.default_rng(1).gamma(2, 1, 1_000_000)
    middle = crossing_probability(x, float(x.mean()))
    assert middle == pytest.approx(0.5, abs=1e-3)
