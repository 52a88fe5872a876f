"""Density and distribution function of a reweighted mean against crossing probabilities."""

import math

import numpy as np
import pytest
from scipy import stats

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.resampling import below, density, draw, fit, learn, make_envelopes, make_laws
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR, DENSITY_ERROR

LAWS = {
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: np.minimum(rng.exponential(0.2, n), 1.0),
    "coins": lambda rng, n: (rng.random(n) < 0.2).astype(float),
    "heavy": lambda rng, n: np.minimum(0.02 * rng.pareto(1.5, n), 1.0),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [60, 300])
def test_density_kept_and_anew(law, n):
    x = LAWS[law](np.random.default_rng(n), n)
    center, width = x.mean(), (x.std() + 1.0 / n) / math.sqrt(n)
    kept = contour.make(1)[0]
    for t in (0.5, 2.0, 3.0):
        m = center + t * width
        contour.build(kept, x, np.empty(0), 1.0, m)
        log_f, slope, error = log_density(kept, m, 1.0)
        assert error <= DENSITY_ERROR
        assert log_density_anew(np.append(x, 1.0), m) == pytest.approx((log_f, slope), rel=1e-7, abs=1e-8)


def test_density_is_the_derivative():
    x, m, h = np.random.default_rng(0).random(20), 0.7, 1e-4
    above, beyond = (crossing_probability(np.append(x, 1.0), m + side * h) for side in (-1, 1))
    assert math.exp(log_density_anew(np.append(x, 1.0), m)[0]) == pytest.approx((above - beyond) / (2 * h), rel=1e-5)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [100, 700, 5000])
def test_distribution_function_as_rewards_come(law, n):
    x = LAWS[law](np.random.default_rng(n), int(1.15 * n))
    law, bonus = make_laws(1)[0], np.ones(1)
    learn(law, x[:n], bonus, x[:n].mean(), x[:n].std())
    learn(law, x, bonus, x[:n].mean(), x[:n].std())
    believed = 0
    for t in np.linspace(-4.0, 4.0, 9):
        m = x.mean() + t * x.std() / math.sqrt(x.size)
        p, error = below(law, m)
        if error <= CHARACTERISTIC_ERROR:
            believed += 1
            assert p == pytest.approx(1.0 - crossing_probability(np.append(x, 1.0), m), abs=1e-9)
            h = 1e-4 * x.std() / math.sqrt(x.size)
            f, slope = density(law, m)
            assert f * h == pytest.approx((below(law, m + h)[0] - below(law, m - h)[0]) / 2, abs=1e-11)
            assert slope * h == pytest.approx((density(law, m + h)[0] - density(law, m - h)[0]) / 2, rel=1e-4, abs=1e-6)
    if n == 5000:
        assert believed >= 7


@jit
def draws(envelope, law, rng, n):
    values = np.empty(n)
    for i in range(n):
        values[i] = draw(envelope, law, rng)
    return values


@pytest.mark.parametrize("law", LAWS)
def test_draws_from_a_hull(law):
    """Kolmogorov and Smirnov's test against the distribution function; false alarm once in a million."""
    x = LAWS[law](np.random.default_rng(5), 3000)
    law, envelope = make_laws(1)[0], make_envelopes(1)[0]
    learn(law, x, np.ones(1), x.mean(), x.std())
    assert fit(envelope, law, x.mean(), x.std() / math.sqrt(x.size))
    found = draws(envelope, law, np.random.default_rng(6), 20_000)
    levels = [below(law, v)[0] for v in found]
    assert stats.kstest(levels, "uniform").pvalue > 1e-6


def test_no_hull_where_the_law_is_not_known_well():
    x = np.append(np.zeros(99), 1.0)  # a beta law of exponential shape, far from a bell
    law, envelope = make_laws(1)[0], make_envelopes(1)[0]
    learn(law, x, np.ones(1), x.mean(), x.std())
    assert not fit(envelope, law, x.mean(), x.std() / 10)
