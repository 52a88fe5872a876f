"""The conditional value at risk (CVaR): the average over the worst share of a sample, possibly reweighted.

    CVaR_a(F) = 1/a * integral over (0, a) of F^{-1}(u) du = max over q of  q - E(q - X)^+ / a,      a in (0, 1].

High rewards are good, so the *lower* tail is the bad one; a = 1 gives the mean.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number, positive_weights

LEAST_LEVEL: Final = 1e-100
"""Averages are divided by the level, and their squares must not overflow."""


def cvar(values: ArrayLike, level: float, weights: ArrayLike | None = None) -> float:
    """Return the average of the worst values that make up the share ``level`` of all weight; weights of 1 by default.

    With x_1 <= ... <= x_m, weights p_i that sum to 1, and i the first value at which their sum reaches the level,

    CVaR = (sum_{j < i} p_j x_j + (level - sum_{j < i} p_j) x_i) / level.

    >>> cvar([4, 1, 3, 2], 0.5)
    1.5
    >>> cvar([4, 1, 3, 2], 0.375)  # the worst one and half of the next
    1.3333333333333333
    >>> cvar([4, 1], 0.5, weights=[3, 1])
    2.5

    Reference: Rockafellar and Uryasev (2000), Optimization of conditional value-at-risk.
    """
    x = finite_array("values", values)
    a = level_of("level", level)
    p = positive_weights("weights", weights, x.size)
    order = np.argsort(x, kind="stable")
    x = x[order]
    p = p[order] if p.size else np.ones(x.size)
    share = a * math.fsum(p)
    before = np.cumsum(p) - p
    i = int(np.searchsorted(before, share, side="left")) - 1  # before[i] < share <= before[i + 1]
    result = math.fsum([*(p[:i] * x[:i]), (share - before[i]) * x[i]]) / share
    return min(max(result, float(x[0])), float(x[i]))


def level_of(name: str, level: object) -> float:
    """Return the argument as a share above 0, at most 1.

    >>> level_of("level", 0)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'level' must be a number above 0, at most 1 (got 0)
    """
    number = finite_number(name, level)
    if not 0.0 < number <= 1.0:
        raise ArgumentError(name, "a number above 0, at most 1", level)
    if number < LEAST_LEVEL:
        raise ArgumentError(name, f"at least {LEAST_LEVEL:g}", level)
    return number


@jit
def ordered_cvar(x: Floats, level: float) -> float:
    """Return the CVaR of a sample in ascending order, each value equally likely, for compiled callers.

    >>> ordered_cvar(np.array([1.0, 2.0, 3.0, 4.0]), 0.5)
    1.5
    """
    share = level * x.size
    whole = min(int(share), x.size - 1)
    # Summing shortfalls from the quantile gives equal values exactly their own CVaR.
    top = x[whole]
    shortfall = 0.0
    for i in range(whole):
        shortfall += top - x[i]
    return top - shortfall / share


@jit
def shortfall_in_the_band(x: Floats, upper: float, level: float, b: float) -> float:
    """Return the integral up to the bound of max(F - b, 0), cut at the level; x is in ascending order."""
    n = x.size
    total = 0.0
    for i in range(max(int(n * b), 1), n + 1):  # between the i-th value and the next one F is i/n
        height = i / n - b
        if height >= level:
            return total + level * (upper - x[i - 1])
        if height > 0.0:
            total += height * ((x[i] if i < n else upper) - x[i - 1])
    return total
