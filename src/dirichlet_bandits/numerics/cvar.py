"""The conditional value at risk (CVaR): the average over the worst share of a sample, possibly reweighted.

    CVaR_a(F) = 1/a * integral over (0, a) of F^{-1}(u) du = max over q of  q - E(q - X)^+ / a,      a in (0, 1].

High rewards are good, so the *lower* tail is the bad one; a = 1 gives the mean.

Measure how far an empirical distribution is from those of larger CVaR and bounded support (for CVaR regret).

A CVaR is the largest of a family of means, one for each quantile q. For a fixed q, the distance to the distributions
whose mean is large enough is the Kinf of ``kinf.py``. The distance for the CVaR is the least of these over q, and only
the data and the bound need to be tried. Branch and bound finds the least one without trying them all.

A law has a CVaR of at least c if and only if E g_q(X) >= c for some q, where g_q(x) = q - (q - x)^+ / level. For a
given q this is a mean of g_q(X), which is at most q, so the nearest such law is at the distance Kinf(g_q(X), c; q) of
``kinf.py``, and

    Kinf_level(F, c; upper) = min over q in (c, upper] of  Kinf(g_q(X), c; q).

The nearest law has no values but those of the data and the bound, and q is a quantile of it, so q is one of these
values. The minimum over them is found by branch and bound. For all q between q_1 and q_2 at once

    g_q(x) <= g_{q_1}(x) below q_1,   <= x between them,   <= q_2 above,

so Kinf of the right-hand side bounds all of them from below.
"""

import heapq
import math
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.kinf import KinfResult, kinf
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


class CVaRKinfResult(NamedTuple):
    """Kinf for a CVaR: its value, the quantile q and multiplier that attain it, and whether the solver converged."""

    value: float
    quantile: float
    multiplier: float
    iterations: int
    converged: bool


def cvar_kinf(
    values: ArrayLike, target: float, level: float, upper: float, weights: ArrayLike | None = None
) -> CVaRKinfResult:
    """Return the smallest divergence from the data to a distribution on (-inf, upper] whose CVaR reaches the target.

    min over q of Kinf(q - (q - X)^+ / level, target; q), q among the values above the target and the bound. It is 0
    if the CVaR already reaches the target, infinite if no distribution below `upper` can reach it, and Kinf at level 1.

    >>> result = cvar_kinf([0, 1, 0, 1, 1], target=0.5, level=0.8, upper=1)  # CVaR 0.5 needs P(1) = 1 - 0.8/2
    >>> result.value, cvar([0, 1, 0, 1, 1], 0.8)
    (0.0, 0.5)
    >>> round(cvar_kinf([0, 0, 1, 0], target=0.5, level=0.8, upper=1).value, 12)  # the divergence d(0.25, 0.6)
    0.252589310228

    Reference: Baudry, Gautron, Kaufmann and Maillard (2021), Optimal Thompson sampling strategies for support-aware
    CVaR bandits, section 2; Agrawal, Koolen and Juneja (2021), Optimal best-arm identification methods for tail-risk
    measures.
    """
    x = finite_array("values", values)
    p = positive_weights("weights", weights, x.size)
    c, top = finite_number("target", target), finite_number("upper", upper)
    a = level_of("level", level)
    if x.max() > top:
        raise ArgumentError("values", f"at most upper = {top}", float(x.max()))
    if a == 1.0:
        plain = kinf(x, c, top, weights)
        return CVaRKinfResult(plain.value, top, plain.multiplier, plain.iterations, plain.converged)
    if cvar(x, a, weights) >= c:
        return CVaRKinfResult(0.0, top, 0.0, 0, True)
    if not c < top:
        return CVaRKinfResult(math.inf, top, math.inf, 0, True)
    x, where = np.unique(x, return_inverse=True)
    p = np.bincount(where, p if p.size else None).astype(np.float64)
    quantiles = np.unique(np.append(x[x > c], top))
    return least_over_quantiles(lambda low, high: kinf(tail_ceiling(x, a, low, high), c, high, p), quantiles)


def tail_ceiling(x: Floats, level: float, low: float, high: float) -> Floats:
    """Return the largest g_q(x) = q - (q - x)^+ / level for a q from ``low`` to ``high``; g_q itself if they are equal.

    >>> tail_ceiling(np.array([0.0, 1.0, 2.0, 3.0]), 0.5, 2.0, 2.0)
    array([-2.,  0.,  2.,  2.])
    """
    return np.where(x < low, low - (low - x) / level, np.minimum(x, high))


def least_over_quantiles(bound: Callable[[float, float], KinfResult], quantiles: Floats) -> CVaRKinfResult:
    """Return the least ``bound(q, q)`` over ascending quantiles; ``bound(low, high)`` is at most each of those between.

    The range with the smallest bound is examined first and split in two. When a single q comes first, it is the least.
    """
    steps, converged = 0, True
    waiting: list[tuple[float, int, int, float]] = []
    ranges = [(0, quantiles.size - 1)]
    while True:
        for low, high in ranges:
            inner = bound(float(quantiles[low]), float(quantiles[high]))
            steps += inner.iterations
            converged = converged and inner.converged
            heapq.heappush(waiting, (inner.value, low, high, inner.multiplier))
        value, low, high, multiplier = heapq.heappop(waiting)
        if low == high:
            return CVaRKinfResult(value, float(quantiles[low]), multiplier, steps, converged)
        middle = (low + high) // 2
        ranges = [(low, middle), (middle + 1, high)]
