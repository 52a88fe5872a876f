"""Densities of reweighted means as splines, and by contours and residues, against exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from dirichlet_bandits.numerics.contour import build, make
from dirichlet_bandits.numerics.density import log_density, log_density_by_residue
from dirichlet_bandits.numerics.resampled_means import knot_gaps, spline_densities


def exact_density(values, v):
    """The density of a mean of distinct values with uniform weights, as a sum of one-sided powers; v is below some."""
    n, total = len(values) - 1, Fraction(0)
    for x in values:
        if x > v:
            others = math.prod(Fraction(x) - Fraction(y) for y in values if y != x)
            total += n * (Fraction(x) - Fraction(v)) ** (n - 1) / others
    return float(total)


def densities(values, v):
    knots, n = np.sort(values), len(values)
    inverse, work, found = np.empty((n, n)), np.empty((n, v.size)), np.empty(v.size)
    knot_gaps(knots, inverse)
    spline_densities(knots, inverse, work, v, found)
    return found


@pytest.mark.parametrize("n", [2, 3, 7, 20, 45])
def test_a_spline_keeps_its_digits_wherever_it_is(n):
    """Relative errors: also near both ends, where the density is tiny."""
    values = np.random.default_rng(n).beta(2.0, 3.0, n)
    low, high = values.min(), values.max()
    v = low + (high - low) * np.array([1e-4, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-4])
    np.testing.assert_allclose(densities(values, v), [exact_density(values, point) for point in v], rtol=1e-12)


def test_equal_values_are_a_beta_distribution():
    """Three of one value and four of another: the weight of the latter is Beta(4, 3)."""
    v = np.array([0.05, 0.3, 0.9])
    np.testing.assert_allclose(densities(np.repeat([0.0, 1.0], [3, 4]), v), 60.0 * v**3 * (1.0 - v) ** 2, rtol=1e-14)


@pytest.mark.parametrize("z", [2.0, 4.0])
def test_a_line_beyond_the_pole_of_a_distant_bound(z):
    """Made for the data alone, the line passes the pole of the bound, and the residue makes up for it."""
    x, bound, contour = np.random.default_rng(0).beta(2.0, 3.0, 300), 20.0, make(1)[0]
    v = float(x.mean() + z * x.std() / math.sqrt(x.size))
    build(contour, x, np.empty(0), float(x.mean()), v)
    assert math.isnan(log_density(contour, v, bound)[0])
    residue = math.log(x.size) + (x.size - 1) * math.log(bound - v) - float(np.log(bound - x).sum())
    log_f, error = log_density_by_residue(contour, v, bound, residue)
    assert error < 1e-14
    assert log_f == pytest.approx(math.log(densities(np.append(x, bound), np.array([v]))[0]), abs=1e-11)


def test_a_line_before_the_pole_needs_no_residue():
    x, contour = np.random.default_rng(1).beta(2.0, 3.0, 300), make(1)[0]
    build(contour, x, np.empty(0), 1.0, 0.45)
    assert log_density_by_residue(contour, 0.45, 1.0, math.nan)[0] == log_density(contour, 0.45, 1.0)[0]
