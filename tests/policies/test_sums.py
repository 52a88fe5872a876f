"""What duels know about an arm's rewards, updated as they come, against passes over all of them."""

import numpy as np
import pytest

from dirichlet_bandits.policies.dirichlet.probability import merged
from dirichlet_bandits.policies.dirichlet.rule import RDSParams, mean_shortfall
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, all_sums, shortfall_bounds, take_shortfall
from tests.policies.test_tail import LAWS


@pytest.mark.parametrize("law", LAWS)
def test_sums_follow_the_rewards(law):
    """Powers are summed up to rounding; the shortfall lies between its bounds, wherever the leader's mean has moved."""
    rng = np.random.default_rng(5)
    x, sample = LAWS[law](rng, 700), np.zeros(1, SAMPLE)[0]
    for n in np.unique(rng.integers(80, 700, size=60)):
        m = x[:n].mean() + rng.uniform(0.0, 0.2) * x[:n].std()
        sums = all_sums(RDSParams(0), sample, x[:n], x[:n].min(), x[:n].max(), m)
        for k in range(1, 5):
            size = (np.abs(x[:n] - m) ** k).sum() + n * np.abs(x[:n] - x[0]).max() ** k
            assert sums[k - 1] == pytest.approx(((x[:n] - m) ** k).sum(), abs=1e-12 * size)
        low, high = shortfall_bounds(sample, m)
        assert low <= mean_shortfall(x[:n], m) <= high
        if n % 5 == 0:  # later bounds begin here
            assert take_shortfall(sample, x[:n], m) == mean_shortfall(x[:n], m)
            low, high = shortfall_bounds(sample, m)
            assert high - low <= 1e-8 * high


@pytest.mark.parametrize(("n_values", "few"), [(1, True), (16, True), (17, False)])
def test_few_values_are_merged(n_values, few):
    """With their weights, if there are any."""
    x = np.random.default_rng(6).integers(n_values, size=900).astype(float)
    for weights in (np.empty(0), np.arange(1.0, 901.0)):
        values, sums = merged(x, weights)
        if not few:
            assert values is x or np.array_equal(values, x)
            assert np.array_equal(sums, weights)
            continue
        order = np.argsort(values)
        np.testing.assert_array_equal(values[order], np.arange(n_values))
        counts = np.bincount(x.astype(int), weights if weights.size else None)
        np.testing.assert_array_equal(sums[order], counts)
