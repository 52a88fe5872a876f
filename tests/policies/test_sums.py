"""What duels know of an arm's rewards, kept as they come, against passes over all of them."""

import numpy as np
import pytest

from dirichlet_bandits.policies.dirichlet.rule import mean_shortfall
from dirichlet_bandits.policies.dirichlet.sums import all_sums, different_values, shortfall_bounds
from dirichlet_bandits.policies.dirichlet.tail import make_borders
from tests.policies.test_tail import LAWS


@pytest.mark.parametrize("law", LAWS)
def test_sums_follow_the_rewards(law):
    """Powers are summed up to rounding; the shortfall lies between its bounds, wherever the leader's mean has moved."""
    rng = np.random.default_rng(5)
    x, sample = LAWS[law](rng, 700), make_borders(1)[0]
    for n in np.unique(rng.integers(80, 700, size=60)):
        m = x[:n].mean() + rng.uniform(0.0, 0.2) * x[:n].std()
        sums = all_sums(sample, x[:n], m)
        for k in range(1, 5):
            size = (np.abs(x[:n] - m) ** k).sum() + n * np.abs(x[:n] - x[0]).max() ** k
            assert sums[k - 1] == pytest.approx(((x[:n] - m) ** k).sum(), abs=1e-12 * size)
        low, high = shortfall_bounds(sample, x[:n], m)
        assert low <= mean_shortfall(x[:n], m) <= high


@pytest.mark.parametrize(("n_values", "counted"), [(1, True), (16, True), (17, False)])
def test_values_are_counted_while_they_are_few(n_values, counted):
    """And only if all rewards have been told."""
    rng = np.random.default_rng(6)
    x, sample = rng.integers(n_values, size=900).astype(float), make_borders(1)[0]
    for n in (300, 301, 900):
        all_sums(sample, x[:n], 0.5)
        values, counts = different_values(sample, n)
        assert different_values(sample, n + 1)[0].size == 0
        expected = np.unique(x[:n], return_counts=True) if counted else (np.empty(0), np.empty(0))
        order = np.argsort(values)
        np.testing.assert_array_equal(values[order], expected[0])
        np.testing.assert_array_equal(counts[order], expected[1])
