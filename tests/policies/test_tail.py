"""The upper tail of QDS, kept as rewards come, against sorting them."""

import numpy as np
import pytest

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.dirichlet.rule import QDSParams, truncated_rewards
from dirichlet_bandits.policies.dirichlet.tail import (
    BELOW,
    MEAN,
    ORDERED,
    follow_tail,
    forget,
    make_borders,
    truncated_sums,
)

LAWS = {
    "bell": lambda rng, n: rng.normal(size=n),
    "coins": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "rising": lambda rng, n: np.arange(n) + rng.normal(size=n),
    "falling": lambda rng, n: np.arange(n, 0.0, -1.0) + rng.normal(size=n),
    "constant, then a bell": lambda rng, n: np.where(np.arange(n) < n // 2, 0.5, rng.normal(size=n)),
    "near a billion": lambda rng, n: 1e9 + rng.normal(size=n),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("alpha", [0.05, 0.5, 0.9])
def test_a_followed_contour_is_that_of_the_truncated_rewards(law, alpha):
    """Whether rewards come one by one or several at once."""
    rng = np.random.default_rng(3)
    x = LAWS[law](rng, 900)
    known, border = 60, make_borders(1)[0]
    kept, anew = contour.make(2)
    while known < x.size:
        n = min(known + int(rng.integers(1, 9)), x.size)
        threshold, bonus = x[:n].mean() + 0.1 * x.std(), x[:n].mean() + 9.0 * x.std()
        contour.build(kept, *truncated_rewards(QDSParams(4.0, alpha), x[:known]), bonus, threshold)
        if n % 7 == 0:  # as after any other contour
            forget(border)
        follow_tail(border, kept, x[:n], known, alpha)
        known = n
        values, weights = truncated_rewards(QDSParams(4.0, alpha), x[:known])
        below, ordered = int(border[BELOW]), int(border[ORDERED])
        first = known - weights[-1] - below
        np.testing.assert_array_equal(border[:ordered], np.sort(x[:known])[int(first) : int(first) + ordered])
        assert border[MEAN] == pytest.approx(values[-1], rel=1e-15)
        contour.build(anew, values, weights, bonus, threshold)
        (expected, error), (found, estimate) = (contour.evaluate(each, threshold, bonus) for each in (anew, kept))
        if max(error, estimate) <= CLOCK_ERROR:
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 if abs(x).max() < 1e8 else 1e-4)


@pytest.mark.parametrize("law", LAWS)
def test_power_sums_follow_the_rewards(law):
    """Of those below the tail, and of its mean as often as it counts."""
    rng = np.random.default_rng(4)
    x = LAWS[law](rng, 700)
    nothing, border = contour.make(1)[0, :0], make_borders(1)[0]
    for n in np.unique(rng.integers(50, 700, size=60)):
        m = x[:n].mean() + 0.1 * x[:n].std()
        values, weights = truncated_rewards(QDSParams(4.0, 0.1), x[:n])
        *sums, top = truncated_sums(border, nothing, x[:n], m, 0.1)
        assert top == pytest.approx(values[-1], rel=1e-15)
        for k in range(1, 5):
            size = (weights * np.abs(values - m) ** k).sum() + n * np.abs(x[:n] - x[0]).max() ** k
            assert sums[k - 1] == pytest.approx((weights * (values - m) ** k).sum(), abs=1e-12 * size)
