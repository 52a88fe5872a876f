import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.kinf import kinf, kinf_dual, kl_ucb_index
from tests import naive

SHAPES = ["gamma", "pareto", "tied", "zeros", "cauchy"]


def sample(shape: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if shape == "gamma":
        return rng.gamma(0.5, 2.0, n)
    if shape == "pareto":
        return rng.pareto(1.1, n)
    if shape == "tied":
        return rng.integers(0, 3, n).astype(float)
    if shape == "zeros":
        return np.where(rng.random(n) < 0.4, 0.0, rng.normal(3500, 1500, n))
    return rng.standard_cauchy(n)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
def test_kinf_agrees_with_sixty_digits(shape: str, n: int) -> None:
    rng = np.random.default_rng(hash_of(shape, n))
    x = sample(shape, n, rng)
    spread = max(x.max() - x.min(), 1.0)
    weights = rng.gamma(0.3, 1.0, n) + 1e-3
    for upper in (x.max(), x.max() + 1e-6 * spread, x.max() + spread, x.max() + 1e6 * spread):
        for share in (1e-12, 1e-6, 0.01, 0.3, 0.9, 1 - 1e-9):
            for w in (None, weights):
                mean = np.average(x, weights=w)
                target = mean + share * (upper - mean)
                if target >= upper:
                    continue
                got = kinf(x, target, upper, w)
                want = naive.kinf(x, target, upper, w)
                assert got.converged
                assert got.iterations < 60
                assert abs(got.value - want) <= 1e-12 * want


def hash_of(shape: str, n: int) -> list[int]:
    return [SHAPES.index(shape), n]


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("shift", [0.0, 1e9, -1e9])
def test_kinf_at_every_magnitude(scale: float, shift: float) -> None:
    rng = np.random.default_rng(5)
    x = rng.gamma(2.0, scale, 30) + shift * scale
    top = x.max() + 0.1 * scale
    for target in (x.mean() + 1e-3 * scale, x.mean() + scale):
        want = naive.kinf(x, target, top)
        assert abs(kinf(x, target, top).value - want) <= 1e-12 * want


def test_kinf_trivial_cases() -> None:
    assert kinf([1, 2, 3], 2, 5).value == 0.0
    assert kinf([1, 2, 3], -7, 5).value == 0.0
    assert kinf([1, 2, 3], 5, 5).value == math.inf
    assert kinf([1, 2, 3], 6, 5).value == math.inf
    assert kinf([0.1] * 7, 0.1, 5).value == 0.0
    assert kinf([4], 4.5, 5).value == pytest.approx(math.log(2), rel=1e-15)  # one atom: all at the right end
    assert kinf([4, 4, 4], 4.5, 5).multiplier == 2.0


def test_kinf_weights_are_repetitions() -> None:
    x, w = np.array([0.0, 1.0, 2.0, 7.0]), np.array([3, 1, 4, 2])
    assert kinf(x, 4, 9, w).value == pytest.approx(kinf(np.repeat(x, w), 4, 9).value, rel=1e-14)


def test_kinf_errors_name_the_argument() -> None:
    with pytest.raises(ArgumentError, match=r"'values' must be at most upper = 2.0 \(got 3.0\)"):
        kinf([1, 3], 1, 2)
    for bad in ([], [math.nan], [math.inf], [[1.0]], "abc", None, [True], 3.0):
        with pytest.raises(ArgumentError, match="'values'"):
            kinf(bad, 1, 2)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'target'"):
        kinf([1], math.nan, 2)
    with pytest.raises(ArgumentError, match="'upper'"):
        kinf([1], 1, math.inf)
    for bad in ([1], [1, -1], [1, math.nan]):
        with pytest.raises(ArgumentError, match="'weights'"):
            kinf([1, 2], 1, 2, bad)


guesses = st.one_of(st.just(0.0), st.just(math.nan), st.just(math.inf), st.floats(-1, 1e12), st.floats(1e-12, 1e-3))


@settings(max_examples=500, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-10, 10), min_size=1, max_size=12),
    st.floats(-10, 12),
    st.floats(10, 20),
    guesses,
    guesses,
)
def test_a_bad_guess_never_gives_a_wrong_answer(
    values: list[float], target: float, upper: float, guess: float, other: float
) -> None:
    x = np.array(values)
    plain = kinf(x, target, upper)
    value, multiplier, _, converged = kinf_dual(x, target, upper, guess)
    assert converged == plain.converged
    assert value == pytest.approx(plain.value, rel=1e-12, abs=1e-300)
    if 0.0 < plain.value < math.inf:
        assert multiplier == pytest.approx(plain.multiplier, rel=1e-9)
        # The index is the inverse of Kinf, whatever the guess.
        index, _, _, done = kl_ucb_index(x, plain.value, upper, upper + other)
        assert done
        assert index - x.mean() == pytest.approx(target - x.mean(), rel=1e-9, abs=1e-13 * (1 + abs(target)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 2, 25, 300])
def test_index_inverts_kinf(shape: str, n: int) -> None:
    x = sample(shape, n, np.random.default_rng(hash_of(shape, n)))
    spread = max(x.max() - x.min(), 1.0)
    for upper in (x.max(), x.max() + 1e-5 * spread, x.max() + spread, x.max() + 1e5 * spread):
        for level in (1e-12, 1e-4, 0.1, 1.0, 20.0):
            index, _, iterations, converged = kl_ucb_index(x, level, upper, 0.0)
            assert converged
            assert iterations < 30
            assert x.mean() - 1e-14 * abs(x).max() <= index <= upper
            if upper - index > 1e-6 * spread and index - x.mean() > 1e-6 * spread:
                assert kinf(x, index, upper).value == pytest.approx(level, rel=1e-8)


def test_index_edges() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert kl_ucb_index(x, 0.0, 5.0, 0.0)[0] == 2.0
    assert kl_ucb_index(x, math.inf, 5.0, 0.0)[0] == 5.0
    assert kl_ucb_index(x, math.inf, 3.0, 0.0)[0] == 3.0
    assert kl_ucb_index(np.full(4, 3.0), 1.0, 3.0, 0.0)[0] == 3.0
    assert kl_ucb_index(np.full(4, 1.0), 1.0, 3.0, 0.0)[0] == pytest.approx(3 - 2 * math.exp(-1), rel=1e-15)
    assert not kl_ucb_index(x, 1.0, 2.5, 0.0)[3]
    assert not kinf_dual(x, 2.2, 2.5, 0.0)[3]


def test_ten_thousand_observations_in_under_a_millisecond() -> None:
    x = np.random.default_rng(1).gamma(2, 1, 10_000)
    target, upper = x.mean() * 1.3, x.max() + 1
    kinf_dual(x, target, upper, 0.0)
    spent = []
    for _ in range(20):
        start = time.perf_counter()
        kinf_dual(x, target, upper, 0.0)
        spent.append(time.perf_counter() - start)
    assert min(spent) < 1e-3


def test_weights_of_very_different_size_converge() -> None:
    """One value at the target with almost all of the weight: Newton alone needs hundreds of steps that double e."""
    rng = np.random.default_rng(29)
    checked = 0
    while checked < 300:
        n = int(rng.integers(3, 8))
        x = np.sort(rng.random(n))
        w = 10.0 ** rng.uniform(-rng.choice([50, 100, 200, 280]), 0, n)
        heavy = int(rng.integers(0, n - 1))
        w[heavy] = 1.0
        got = kinf(x, x[heavy], x[-1], w)
        assert got.converged
        checked += 1
        if checked % 10 == 0:
            assert float(abs(got.value - naive.kinf(x, x[heavy], x[-1], w))) <= 1e-11 * got.value


@pytest.mark.parametrize("factor", [2.0**-900, 2.0**900])
def test_kinf_does_not_depend_on_the_unit_of_the_weights(factor: float) -> None:
    x, w = np.array([0.1, 0.4, 0.9, 1.0]), np.array([3.0, 1e-9, 7e5, 0.2])
    assert kinf(x, 0.95, 1.0, factor * w) == kinf(x, 0.95, 1.0, w)
    assert kinf([0.0, 1.0], 0.5, 1.0, [1e200, 1e-200]).value == pytest.approx(math.log(2.0), rel=1e-12)
