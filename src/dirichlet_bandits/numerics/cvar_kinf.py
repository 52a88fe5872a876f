"""Measure how far an empirical distribution is from those of larger CVaR and bounded support (for CVaR regret).

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
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.cvar import cvar, level_of
from dirichlet_bandits.numerics.kinf import KinfResult, kinf
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number, positive_weights


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
