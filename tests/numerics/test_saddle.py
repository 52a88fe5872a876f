"""The line of integration against root finding, and the integrand on it against complex arithmetic."""

import cmath
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from dirichlet_bandits.numerics.crossing import Products, log_factor, multiply, quotient, saddle

NO_WEIGHTS = np.empty(0)


def samples():
    """Offsets with a positive maximum, on several scales, with and without weights."""
    rng = np.random.default_rng(1)
    for size in (2, 5, 40, 300):
        for scale in (1e-8, 1.0, 1e8):
            offsets = scale * np.append(rng.normal(-1.0, 1.0, size), 1.0)
            yield offsets, NO_WEIGHTS
            yield offsets, rng.uniform(0.2, 5.0, offsets.size)


def exact_saddle(offsets, weights):
    """e from the equation (1 + e) sum_i w_i / (e + v_i) = 1 + sum_i w_i, by bisection in log e."""
    w = weights if weights.size else np.ones(offsets.size)
    v = 1.0 - offsets / offsets.max()

    def excess(log_e):
        e = math.exp(log_e)
        return (1.0 + e) * float(np.sum(w / (e + v))) - 1.0 - float(w.sum())

    return math.exp(brentq(excess, -40.0, 40.0, xtol=1e-13))


@pytest.mark.parametrize("case", range(24))
def test_the_line_crosses_near_the_saddle_point(case):
    offsets, weights = list(samples())[case]
    e, width = saddle(offsets, weights, float(offsets.max()))
    exact = exact_saddle(offsets, weights)
    place, exact_place = 1.0 / (1.0 + e), 1.0 / (1.0 + exact)
    assert abs(place - exact_place) < 0.2 * width  # a tenth of a width is asked of the last step
    assert 0.0 < width <= e / (1.0 + e)


@pytest.mark.parametrize("offset", [-1e6, -3.0, -0.5, 0.0, 1e-9, 0.3, 0.999, 1.0])
@pytest.mark.parametrize("e", [1e-6, 0.1, 1.0, 50.0])
def test_factor_on_the_real_axis(offset, e):
    exact = math.log((e + (1.0 - offset)) / (1.0 + e))
    assert log_factor(offset, 1.0, e) == pytest.approx(exact, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("case", range(24))
def test_product_of_the_factors(case):
    offsets, weights = list(samples())[case]
    top, e, y = float(offsets.max()), 0.3, np.array([0.0, 0.01, 0.5, 3.0])
    out = np.empty((4, y.size))
    multiply(offsets, weights, top, e, y, Products(*out))
    w = weights if weights.size else np.ones(offsets.size)
    u = offsets / top
    b = u * (1.0 + e) / (e + 1.0 - u)
    for j in range(y.size):
        exact = sum(weight * cmath.log(1.0 - 1j * y[j] * factor) for weight, factor in zip(w, b, strict=True))
        found = cmath.log(complex(out[0, j], out[1, j])) + complex(out[2, j], -out[3, j])
        assert found.real == pytest.approx(exact.real, rel=1e-10, abs=1e-10)
        assert math.cos(found.imag - exact.imag) == pytest.approx(1.0, abs=1e-12)  # up to whole turns


def test_products_beyond_the_range_of_floats():
    offsets, y, out = np.full(400, 1.0), np.array([1e3]), np.empty((4, 1))
    multiply(offsets, NO_WEIGHTS, 1.0, 1e-3, y, Products(*out))
    exact = 400 * 0.5 * math.log1p((1e3 * 1.001 / 1e-3) ** 2)
    assert exact > math.log(np.finfo(float).max)
    assert math.log(abs(complex(out[0, 0], out[1, 0]))) + out[2, 0] == pytest.approx(exact, rel=1e-12)


def test_quotients():
    rng = np.random.default_rng(2)
    for scale in (1e-200, 1.0, 1e200):
        for a, b, c, d in scale * rng.normal(size=(100, 4)):
            exact = complex(a / scale, b / scale) / complex(c / scale, d / scale)
            found = complex(*quotient(a, b, c, d))
            assert abs(found - exact) <= 1e-14 * abs(exact)
