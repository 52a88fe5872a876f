"""The upper tail of QDS, updated as rewards come, against sorting them."""

import numpy as np
import pytest

from dirichlet_bandits.policies.dirichlet.rule import QDSParams, mean_shortfall, rank_of_tail, truncated_rewards
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, shortfall_bounds, tail_sums

LAWS = {
    "bell": lambda rng, n: rng.normal(size=n),
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "rising": lambda rng, n: np.arange(n) + rng.normal(size=n),
    "falling": lambda rng, n: np.arange(n, 0.0, -1.0) + rng.normal(size=n),
    "constant, then a bell": lambda rng, n: np.where(np.arange(n) < n // 2, 0.5, rng.normal(size=n)),
    "near a billion": lambda rng, n: 1e9 + rng.normal(size=n),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9, 0.995])
def test_sums_follow_the_rewards(law, alpha):
    """Powers of the rewards below the tail, and of its mean with its weight; one reward at a time or several."""
    rng = np.random.default_rng(4)
    x, sample, known = LAWS[law](rng, 2500), np.zeros(1, SAMPLE)[0], 80
    while known < x.size:
        known = min(known + int(rng.integers(1, 9)), x.size)
        past = x[:known]
        m = past.mean() + 0.1 * past.std()
        policy = QDSParams(4.0, alpha)
        values, weights = truncated_rewards(policy, past - m)  # without m, near a billion they are rounded
        *sums, largest = tail_sums(policy, sample, past, past.min(), past.max(), m)
        window = sample["window"][: sample["size"]]
        np.testing.assert_array_equal(window, np.sort(past)[sample["first"] :][: window.size])
        assert 0 <= rank_of_tail(known, alpha) - 1 - sample["first"] < window.size
        assert largest == pytest.approx(max(values.max(), m - past.min()), rel=1e-9)
        for k in range(1, 5):
            size = (weights * np.abs(values) ** k).sum() + known * np.abs(past - x[0]).max() ** k
            assert sums[k - 1] == pytest.approx((weights * values**k).sum(), abs=1e-12 * size)
        low, high = shortfall_bounds(sample, m)
        assert low <= mean_shortfall(past, m) <= high
