"""Variables with finitely many values: binomial laws against SciPy's, the largest of several against enumeration."""

import itertools

import numpy as np
import pytest
from scipy import stats

from dirichlet_bandits.numerics.argmax import Discrete, binomial_law, discrete_argmax_probabilities


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (10, 0.0), (10, 1.0), (30, 0.2), (5000, 0.5), (5000, 0.999), (10**6, 0.3)]
)
def test_binomial_laws(n, p):
    first, chances = binomial_law(n, p)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    want = stats.binom(n, p).pmf(np.arange(first, first + chances.size))
    np.testing.assert_allclose(chances, want, rtol=1e-8, atol=1e-280)
    assert stats.binom(n, p).cdf(first - 1) < 1e-299
    assert stats.binom(n, p).sf(first + chances.size - 1) < 1e-299


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_of_several(seed):
    """Few different values, so that up to five variables tie."""
    rng = np.random.default_rng(seed)
    variables = [Discrete(rng.integers(0, 4, 3).astype(float), rng.dirichlet(np.ones(3))) for _ in range(5)]
    want = np.zeros(5)
    for outcome in itertools.product(range(3), repeat=5):
        values = np.array([x.values[i] for x, i in zip(variables, outcome, strict=True)])
        best = values == values.max()
        want += np.prod([x.chances[i] for x, i in zip(variables, outcome, strict=True)]) * best / best.sum()
    np.testing.assert_allclose(discrete_argmax_probabilities(variables), want, rtol=1e-12, atol=1e-16)


def test_rare_wins_keep_their_digits():
    low, high = Discrete(np.array([0.0, 2.0]), np.array([1.0 - 1e-200, 1e-200])), Discrete(np.ones(1), np.ones(1))
    assert discrete_argmax_probabilities([low, high])[0] == pytest.approx(1e-200, rel=1e-14)
