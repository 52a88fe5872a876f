"""Test whether the mean has changed: the generalized likelihood ratio of rewards in [0, 1], and its thresholds.

For n rewards with partial means m_{i:j}, the statistic is the largest value over s of

    s kl(m_{1:s}, m_{1:n}) + (n - s) kl(m_{s+1:n}, m_{1:n}),

where kl is the Bernoulli divergence. Rewards in [0, 1] other than 0 and 1 only make it smaller.

Reference: Besson, Kaufmann, Maillard and Seznec, Efficient change-point detection for tackling piecewise-stationary
bandits, JMLR 23, 2022; Kaufmann and Koolen, Mixture martingales revisited with applications to sequential tests and
confidence intervals, JMLR 22, 2021.
"""

import math
from enum import IntEnum
from typing import Final

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.divergences import Family, divergence
from dirichlet_bandits.numerics.tolerances import NEWTON_LIMIT, NEWTON_STEP
from dirichlet_bandits.types import Floats


class Threshold(IntEnum):
    """How large the statistic of n rewards must be to raise an alarm."""

    PROVED = 0
    RECOMMENDED = 1
    JMLR = 2
    DAL = 3


THRESHOLDS: Final = {kind.name.lower(): int(kind) for kind in Threshold}

_LOG_TWO_ZETA: Final = math.log(math.pi**2 / 3.0)  # log(2 zeta(2))
_LOG_LIMIT: Final = math.log(1.5)  # the logarithm of 3/2, the largest factor in the minimum that defines h~
_CORNER: Final = 1.0 / _LOG_LIMIT + math.log(_LOG_LIMIT)  # h(1 / log(3/2)), where the two branches of h~ meet


@jit
def inverse_h(x: float) -> float:
    """Return the u >= 1 with h(u) = u - log u = x, for x >= 1, by Newton's method on a convex function from above.

    >>> round(inverse_h(3.0 - math.log(3.0)), 12), inverse_h(1.0)
    (3.0, 1.0)
    """
    if x <= 1.0:
        return 1.0
    u = x + math.log(x + math.sqrt(2.0 * (x - 1.0)))  # an upper bound
    for _ in range(NEWTON_LIMIT):
        step = (u - math.log(u) - x) * u / (u - 1.0)
        u -= step
        if abs(step) <= NEWTON_STEP * u:
            break
    return u


@jit
def curved_threshold(x: float) -> float:
    """Return T(x) = 2 h~((h^-1(1 + x) + log(2 zeta(2))) / 2), about x + 4 log(1 + x + sqrt(2 x)).

    h~(y) is the smallest z (y - log log z) over 1 < z <= 3/2: exp(1/u) u with u = h^-1(y) if y >= h(1 / log(3/2)),
    else 3/2 (y - log log(3/2)).

    Reference: Kaufmann and Koolen (2021).
    """
    y = 0.5 * (inverse_h(1.0 + x) + _LOG_TWO_ZETA)
    if y < _CORNER:
        return 3.0 * (y - math.log(_LOG_LIMIT))
    u = inverse_h(y)
    return 2.0 * math.exp(1.0 / u) * u


@jit
def glr_threshold(kind: int, n: int, delta: float) -> float:
    """Return the threshold of this kind for n rewards.

    proved       2 T(log(3 n^1.5 / delta) / 2) + 6 log(1 + log n): for every distribution on [0, 1], the probability
                 that rewards without a change ever reach it is at most delta
    recommended  log(3 n^1.5 / delta), which is about as reliable in simulations
    jmlr         log(n^1.5 / delta), as in the code of the paper
    dal          log(4 n^1.5 / delta), as in later work on detection with restarts

    Reference: Besson et al. (2022); Gerogiannis, Huang, Bose and Veeravalli (2025), arXiv:2501.19401.
    """
    base = 1.5 * math.log(n) - math.log(delta)
    if kind == Threshold.JMLR:
        return base
    if kind == Threshold.DAL:
        return base + math.log(4.0)
    base += math.log(3.0)
    if kind == Threshold.RECOMMENDED:
        return base
    return 2.0 * curved_threshold(0.5 * base) + 6.0 * math.log1p(math.log(n))


@shared
def glr_statistic(x: Floats, at_least: float) -> float:
    """Return the statistic of these rewards, or 0 if it is below ``at_least``.

    A split is computed only if it may matter: the bound kl(a, m) <= (a - m)^2 / (m (1 - m)) takes no logarithm.
    """
    n, total = x.size, 0.0
    for value in x:
        total += value
    mean = total / n
    spread = mean * (1.0 - mean)
    if not spread > 0.0:
        return 0.0
    largest, found, before = at_least, 0.0, 0.0
    for s in range(1, n):
        before += x[s - 1]
        excess = before - s * mean
        weight = float(s) * (n - s)
        if excess * excess * n < largest * spread * weight:
            continue
        first = min(before / s, 1.0)
        second = min(max((total - before) / (n - s), 0.0), 1.0)
        value = s * divergence(Family.BERNOULLI, 1.0, first, mean)
        value += (n - s) * divergence(Family.BERNOULLI, 1.0, second, mean)
        if value >= largest:
            largest, found = value, value
    return found
