"""Density and distribution function of a reweighted mean against crossing probabilities."""

import math

import numpy as np
import pytest

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.axis import below, learn, make_axis
from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.tolerances import AXIS_ERROR, DENSITY_ERROR

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
    centre, width = x.mean(), (x.std() + 1.0 / n) / math.sqrt(n)
    contours = contour.make(1)
    for t in (0.5, 2.0, 3.0):
        m = centre + t * width
        contour.build(contours, 0, x, np.empty(0), 1.0, m)
        log_f, slope, error = log_density(contours, 0, m, 1.0)
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
    axis = make_axis()
    learn(axis, x[:n], 1.0, x[:n].mean(), x[:n].std())
    learn(axis, x, 1.0, x[:n].mean(), x[:n].std())
    believed = 0
    for t in np.linspace(-4.0, 4.0, 9):
        m = x.mean() + t * x.std() / math.sqrt(x.size)
        p, error = below(axis, m)
        if error <= AXIS_ERROR:
            believed += 1
            assert p == pytest.approx(1.0 - crossing_probability(np.append(x, 1.0), m), abs=1e-9)
    if n == 5000:
        assert believed >= 7
