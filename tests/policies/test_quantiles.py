"""Indices of NPTS from a normal variable: the bounds that come with them hold."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.expansion import expanded_crossing, expansion_error
from dirichlet_bandits.policies.npts.quantiles import (
    POLYNOMIAL,
    POWER_SUMS,
    chance_below,
    fit_polynomial,
    index_bounds,
    learn_sums,
)

LAWS = {
    "bell": lambda rng, n: rng.beta(2, 2, n),
    "skewed": lambda rng, n: rng.beta(0.5, 3, n),
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
}


@pytest.mark.parametrize("law", LAWS)
def test_an_index_lies_between_its_bounds(law):
    """However the rewards came; at many quantiles of its law."""
    rng = np.random.default_rng(5)
    x, looked = LAWS[law](rng, 4000), 0
    sums, fitted = np.zeros(1, POWER_SUMS)[0], np.zeros(1, POLYNOMIAL)[0]
    for n in (90, 250, 260, 700, 1100, 4000):
        learn_sums(sums, x[:n], 1.0)
        fit_polynomial(sums, fitted, x[:n].min(), 1.0)
        if fitted["reach"] > 0.0:
            for z in np.linspace(-4.0, 4.0, 9):
                for finely in (False, True):
                    low, high = index_bounds(fitted, z, x[:n].min() - 1.0, finely)
                    above, below = (crossing_probability(np.append(x[:n], 1.0), 1.0 + v) for v in (low, high))
                    assert 1.0 - above <= ndtr(z) + 1e-12
                    assert 1.0 - below >= ndtr(z) - 1e-12
                    looked += 1
    assert looked >= 36


def test_the_polynomial_agrees_with_the_expansion():
    """Within half the bound of the expansion's error, for all skewness, kurtosis and numbers of rewards."""
    rng, z, looked = np.random.default_rng(6), np.linspace(-3.6, 3.6, 41), 0
    for _ in range(1500):
        n = math.exp(rng.uniform(math.log(100.0), math.log(1e6)))
        skew = rng.choice([0.1, 1.0, 3.0]) * rng.uniform(-1.0, 1.0)
        kurtosis = 1.0 + skew**2 + rng.choice([0.0, 1.0, 3.0]) * rng.exponential(2.0)
        c1 = skew * math.sqrt(n + 1.0) / (3.0 * (n + 2.0))
        c2 = ((6.0 * kurtosis + 3.0 * n) * (n + 1.0) / ((n + 2.0) * (n + 3.0)) - 3.0) / 24.0
        t = (z + c1 * (z**2 - 1.0) + c2 * (z**3 - 3.0 * z) - c1**2 * (2.0 * z**3 - 5.0 * z)) / math.sqrt(n + 1.0)
        far, largest = np.abs(t).max(), math.sqrt(kurtosis)  # no sample of this kurtosis has all values nearer
        h3 = (abs(skew) + 3.0 * far + far**3) / (3.0 * math.sqrt(n))
        h4 = (kurtosis + 4.0 * far * abs(skew) + 6.0 * far**2 + far**4) / (4.0 * n)
        error = expansion_error(h3, h4, 0.8 * (largest + far) * h4 / math.sqrt(n))
        if error < 0.02:
            for j in range(z.size):  # sums of powers of n values of mean 0 and variance 1, less t
                s = t[j]
                sums = (-s, 1.0 + s**2, skew - 3.0 * s - s**3, kurtosis - 4.0 * s * skew + 6.0 * s**2 + s**4)
                p, _ = expanded_crossing(*(n * each for each in sums), largest + far, np.full(4, np.nan))
                assert abs(p - ndtr(-z[j])) <= 0.5 * error
            looked += 1
    assert looked > 500


@pytest.mark.parametrize("law", LAWS)
def test_distribution_functions_lie_within_their_error(law):
    """Near the mean and far from it, with few rewards and with many."""
    rng = np.random.default_rng(7)
    x, sums, held = LAWS[law](rng, 3000), np.zeros(1, POWER_SUMS)[0], np.full(4, np.nan)
    for n in (90, 300, 3000):
        learn_sums(sums, x[:n], 1.0)
        for z in np.linspace(-8.0, 8.0, 17):
            v = x[:n].mean() + z * x[:n].std() / math.sqrt(n)
            if x[:n].min() < v < 1.0:
                p, error = chance_below(sums, held, v, x[:n].min(), 1.0)
                assert abs(1.0 - crossing_probability(np.append(x[:n], 1.0), v) - p) <= error + 1e-12
