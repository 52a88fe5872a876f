import math
import time

import numpy as np
import pytest

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.types import Floats

ONES = np.empty(0)


def maize(n: int, rng: np.random.Generator) -> np.ndarray:
    """Yields: some failures at zero, the rest skewed; mean about 3500, deviation about 1600."""
    return np.where(rng.random(n) < 0.08, 0.0, rng.gamma(8.0, 475.0, n))


def covers(kept: Floats, m: float, b: float) -> bool:
    """Whether a kept contour is believed there."""
    return contour.evaluate(kept, m, b)[1] <= CONTOUR_ERROR


@pytest.mark.parametrize("n", [12, 50, 300, 2000])
def test_believed_means_right(n: int) -> None:
    rng = np.random.default_rng(n)
    kept = contour.make(1)[0]
    believed, asked = 0, 0
    for _ in range(30):
        x = maize(n + n // 5, rng)
        m = x[:n].mean() * rng.choice([1.01, 1.05, 1.1, 1.3])
        b = max(x.max() * rng.choice([0.8, 1.05, 1.5, 3.0]), 1.01 * m)
        contour.build(kept, x[:n], ONES, b, m)
        for size in range(n, x.size, max(1, n // 20)):
            move = rng.normal() * 0.3 * x.std() / n
            log_p, error = contour.evaluate(kept, m + move, b + 2 * move)
            exact = log_crossing(np.append(x[:size], b + 2 * move) - m - move, ONES)
            asked += 1
            if error <= CONTOUR_ERROR:
                believed += 1
                assert math.expm1(log_p - exact) == pytest.approx(0.0, abs=1e-10)
            for new in x[size : min(size + max(1, n // 20), x.size)]:
                contour.append(kept, new, 1)
    # A kept contour is of use from some fifty observations on; below, it must only be honest.
    assert believed > (0.4 * asked if n >= 50 else 0)


def test_weighted_data_and_rows_are_independent() -> None:
    rng = np.random.default_rng(0)
    x = maize(60, rng)
    w = np.ones(60)
    w[7] = 5.0
    contours = contour.make(2)
    contour.build(contours[1], x, w, 1.1 * x.max(), 1.1 * x.mean())
    assert not covers(contours[0], 1.1 * x.mean(), 1.1 * x.max())
    log_p, error = contour.evaluate(contours[1], 1.1 * x.mean(), 1.1 * x.max())
    exact = log_crossing(np.append(x, 1.1 * x.max()) - 1.1 * x.mean(), np.append(w, 1.0))
    assert error <= CONTOUR_ERROR
    assert log_p == pytest.approx(exact, rel=1e-12)


def test_nothing_is_believed_when_it_should_not_be() -> None:
    kept = contour.make(1)[0]
    contour.build(kept, np.array([1.0, 2.0]), ONES, 3.0, 5.0)  # nothing reaches the threshold
    assert not covers(kept, 5.0, 6.0)
    x = np.arange(60.0)
    contour.build(kept, x, ONES, 70.0, 35.0)
    assert covers(kept, 35.0, 70.0)
    contour.append(kept, 1e6, 1)  # a pole on the wrong side of the line
    assert not covers(kept, 35.0, 70.0)


def test_microseconds() -> None:
    x = maize(1000, np.random.default_rng(3))
    kept = contour.make(1)[0]
    contour.build(kept, x, ONES, 1.2 * x.max(), 1.05 * x.mean())

    @jit
    def many(kept: Floats, m: float, b: float, times: int) -> float:
        total = 0.0
        for i in range(times):
            total += contour.evaluate(kept, m + 1e-6 * i, b)[0]
        return total

    many(kept, 1.05 * x.mean(), 1.2 * x.max(), 1)
    start = time.perf_counter()
    many(kept, 1.05 * x.mean(), 1.2 * x.max(), 20_000)
    assert (time.perf_counter() - start) / 20_000 < 10e-6
