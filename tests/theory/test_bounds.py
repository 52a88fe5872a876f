import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dirichlet_bandits as db
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.theory.bounds import crossing_bounds

SLACK = 1e-9  # of the logarithms: room for rounding where a bound is attained


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(-100, 100).map(lambda v: round(v, 6)), min_size=1, max_size=30),
    st.floats(-110, 110).map(lambda v: round(v, 9)),
    st.one_of(st.none(), st.floats(100, 1000)),
)
def test_lower_exact_upper(values: list[float], threshold: float, upper: float | None) -> None:
    b = crossing_bounds(values, threshold, upper)
    slack = SLACK * (1 + abs(b.exact.log)) if math.isfinite(b.exact.log) else 0.0
    for lower in (b.lower_gap, b.lower_product, b.lower_simplex):
        assert lower.log <= b.exact.log + slack, lower.source
    assert b.lower_gap.log <= b.lower_product.log + slack
    for above in (b.upper_chernoff, b.upper_kinf):
        assert b.exact.log <= above.log + slack, above.source
    assert b.upper_chernoff.log <= b.upper_kinf.log + slack


def test_sharp_when_all_but_one_are_below() -> None:
    b = crossing_bounds([0, 1, 2, 5], 3)
    assert b.exact.value == pytest.approx(2 / 5 * 2 / 4 * 2 / 3, rel=1e-12)
    assert b.lower_product.value == pytest.approx(b.exact.value, rel=1e-12)


def test_errors_name_the_argument() -> None:
    with pytest.raises(ArgumentError, match="'values' must be at most upper"):
        crossing_bounds([1, 2], 1.5, upper=1.9)
    with pytest.raises(ArgumentError, match="'threshold'"):
        crossing_bounds([1, 2], math.nan)


def test_rewards_may_be_lists_or_arrays_and_targets_are_numbers() -> None:
    """As the page on theory says."""
    x = [0.1, 0.4, 0.4, 0.9]
    for ask in (
        lambda x, q: db.kinf(x, target=q, upper=1.0),
        lambda x, q: db.crossing_probability(x, q),
        lambda x, q: db.crossing_bounds(x, q),
    ):
        assert ask(x, 0.6) == ask(np.array(x), 0.6) == ask(tuple(x), np.float64(0.6))
        with pytest.raises(ArgumentError, match=r"'(target|threshold)' must be a finite number"):
            ask(x, [0.6])
