"""Edgeworth's expansion of a crossing probability: its error is below its bound."""

import numpy as np
import pytest

from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.expansion import expanded_crossing

LAWS = {
    "bell": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "an outlier": lambda rng, n: np.append(rng.random(n - 1), 3.0),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_error_is_below_its_bound(law):
    rng = np.random.default_rng(8)
    held, bounds = np.full(4, np.nan), []
    for n in (100, 300, 1000, 3000):
        x, weights = LAWS[law](rng, n), np.ones(n)
        for heavy in (1, n // 20):
            weights[rng.integers(n)] = heavy
            threshold = np.average(x, weights=weights) + rng.normal() * 2.0 * x.std() / np.sqrt(n)
            a = x - threshold
            p, error = expanded_crossing(*(weights @ a**k for k in (1, 2, 3, 4)), np.abs(a).max(), held)
            assert abs(p - crossing_probability(x, threshold, weights)) <= error
            bounds.append(error)
    assert min(bounds) < 1e-3
