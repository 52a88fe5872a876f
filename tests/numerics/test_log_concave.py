"""Largest of several log-concave variables against sums over a fine grid, and against closed forms."""

import math

import numpy as np
import pytest
from scipy import special

from dirichlet_bandits.numerics.bells import LOG_GAMMA, LOG_INVERSE_GAMMA, LOGIT_BETA, NORMAL, log_concave_argmax
from tests.naive.argmax import FAMILIES, argmax_on_a_grid

KINDS = [NORMAL, LOGIT_BETA, LOG_GAMMA, LOG_INVERSE_GAMMA]


def posteriors(kind, rng, n_arms, most, spread):
    """Parameters as after 1 to ``most`` rewards of means that differ by this factor or so."""
    n = np.maximum(1.0, np.floor(most ** rng.random(n_arms)))
    means = np.minimum(0.3 * np.exp(spread * rng.standard_normal(n_arms)), 0.99)
    if kind == NORMAL:
        return means + 0.5 * rng.standard_normal(n_arms) / np.sqrt(n), 0.5 / np.sqrt(n)
    totals = rng.binomial(n.astype(int), means).astype(float)
    if kind == LOGIT_BETA:
        return 1.0 + totals, 1.0 + n - totals
    return (0.5 + totals, n) if kind == LOG_GAMMA else (means * rng.gamma(n), n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_arms", "most", "spread"), [(10, 20, 0.1), (10, 3000, 0.1), (4, 3000, 0.7), (25, 100, 0.0)])
def test_against_a_grid(kind, n_arms, most, spread):
    """Relative errors, for all probabilities that the grid can tell."""
    first, second = posteriors(kind, np.random.default_rng(n_arms + most), n_arms, most, spread)
    places = [FAMILIES[kind](a, b)[1:] for a, b in zip(first, second, strict=True)]
    reach = 12 if kind == NORMAL else 60  # widths, and units: the tails of the others are exponential functions
    low, high = min(m - reach * s for m, s in places), max(m + reach * s for m, s in places)
    want = argmax_on_a_grid(FAMILIES[kind], first, second, low, high)
    got = log_concave_argmax(kind, first, second)
    told = want > 1e-250
    assert told.sum() >= 2
    np.testing.assert_allclose(got[told], want[told], rtol=1e-9)
    assert got.sum() == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("gap", [0.0, 1e-3, 1.0, 8.0, 20.0, 35.0])
@pytest.mark.parametrize("ratio", [1.0, 0.1, 1e-3, 1e-8])
def test_two_normal_variables(gap, ratio):
    """Gaps of up to 35 standard deviations, on scales of different size; the smaller probability has its digits."""
    deviations = np.array([1.0, ratio])
    for means in (np.array([gap, 0.0]), np.array([0.0, gap])):
        chances = log_concave_argmax(NORMAL, means, deviations)
        z = (means[0] - means[1]) / math.hypot(*deviations)
        np.testing.assert_allclose(chances, [special.ndtr(z), special.ndtr(-z)], rtol=2e-11)


@pytest.mark.parametrize("shapes", [(0.5, 0.5), (1e-3, 2.0), (1e-4, 3e-4), (1.0, 1e6), (1e6, 1.001e6), (1e6, 1.02e6)])
def test_two_gamma_variables(shapes):
    """A share of two of equal rates is a Beta variable; tiny shapes are those of discounted rewards."""
    first = np.array(shapes)
    want = [special.betaincc(*shapes, 0.5), special.betainc(*shapes, 0.5)]
    np.testing.assert_allclose(log_concave_argmax(LOG_GAMMA, first, np.ones(2)), want, rtol=1e-9)
    np.testing.assert_allclose(log_concave_argmax(LOG_INVERSE_GAMMA, np.ones(2), first), want[::-1], rtol=1e-9)


def test_an_extreme_order():
    """What cannot be told from 0 is 0, and many equal variables share."""
    for deviation in (1e-3, 1e-12):
        chances = log_concave_argmax(NORMAL, np.array([0.0, 1.0]), np.full(2, deviation))
        np.testing.assert_allclose(chances, [0.0, 1.0], rtol=1e-12)
    np.testing.assert_allclose(log_concave_argmax(LOGIT_BETA, np.ones(300), np.full(300, 2.0)), 1 / 300, rtol=1e-12)
