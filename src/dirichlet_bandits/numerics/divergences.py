"""Kullback-Leibler divergences of one-parameter families, as functions of means, and upper bounds."""

import math
from enum import IntEnum
from typing import Final

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.compensated import log1p_minus
from dirichlet_bandits.numerics.tolerances import NEWTON_LIMIT, NEWTON_STEP


class Family(IntEnum):
    """A one-parameter family of distributions."""

    BERNOULLI = 0
    GAUSSIAN = 1
    EXPONENTIAL = 2
    POISSON = 3


FAMILIES: Final = {family.name.lower(): int(family) for family in Family}


@jit
def divergence(family: int, sigma: float, x: float, y: float) -> float:
    """Return d(x, y), the divergence between the distributions of means x and y; only the Gaussian one uses `sigma`.

    Bernoulli    x log(x/y) + (1-x) log((1-x)/(1-y))
    Gaussian     (x - y)^2 / (2 sigma^2)
    Exponential  x/y - 1 - log(x/y)
    Poisson      y - x + x log(x/y)

    It is infinite where the second distribution cannot produce what the first one can, and NaN outside the domain.

    >>> divergence(Family.GAUSSIAN, 2.0, 0.0, 4.0)
    2.0
    >>> divergence(Family.POISSON, 1.0, 0.0, 3.0)
    3.0

    Reference: Garivier and Cappe (2011), The KL-UCB algorithm for bounded stochastic bandits and beyond.
    """
    if family == Family.GAUSSIAN:
        return (x - y) * (x - y) / (2.0 * sigma * sigma)
    if family == Family.BERNOULLI:
        if not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
            return math.nan
        return _poisson(x, y, y - x) + _poisson(1.0 - x, 1.0 - y, x - y)
    if family == Family.POISSON:
        return _poisson(x, y, y - x) if x >= 0.0 and y >= 0.0 else math.nan
    if family == Family.EXPONENTIAL:
        if not (x >= 0.0 and y >= 0.0):
            return math.nan
        if x == y:
            return 0.0
        if x < 0.5 * y:  # (x - y)/y would lose a small x
            return x / y - 1.0 - math.log(x / y) if x > 0.0 else math.inf
        return -log1p_minus((x - y) / y) if y > 0.0 else math.inf
    return math.nan


@jit
def _poisson(x: float, y: float, move: float) -> float:
    """Return the Poisson divergence from x to y = x + move. Two make the Bernoulli one, as the linear terms cancel."""
    if x == 0.0 or y == 0.0:
        return move if x == 0.0 else math.inf
    if y < 0.5 * x:  # move/x would lose a small y
        return move + x * math.log(x / y)
    if move / x == math.inf:  # x is so small that it does not matter
        return move
    return -x * log1p_minus(move / x)


@shared
def kl_upper(family: int, sigma: float, x: float, level: float) -> float:
    """Return the largest mean q >= x of the family with d(x, q) <= level.

    Each equation is written in a variable in which it is convex and increasing, so Newton's method cannot fail.

    >>> kl_upper(Family.GAUSSIAN, 2.0, 1.0, 2.0)
    5.0
    >>> kl_upper(Family.BERNOULLI, 1.0, 0.0, 1.0) == 1.0 - math.exp(-1.0)
    True
    >>> round(divergence(Family.POISSON, 1.0, 3.0, kl_upper(Family.POISSON, 1.0, 3.0, 0.7)), 12)
    0.7

    Reference: see :func:`divergence`.
    """
    if math.isnan(x) or math.isnan(level):
        return math.nan
    if level <= 0.0:
        return x
    if family == Family.GAUSSIAN:
        return x + sigma * math.sqrt(2.0 * level)
    if family == Family.BERNOULLI:
        return _bernoulli_upper(x, level)
    if family == Family.POISSON:
        return _poisson_upper(x, level)
    if family == Family.EXPONENTIAL:
        return _exponential_upper(x, level)
    return math.nan


@jit
def _bernoulli_upper(x: float, level: float) -> float:
    """Solve for w = log((1-x)/(1-q)): d = (1-x)(w - s) - x (log(q/x) - (q-x)/x), s = 1 - exp(-w)."""
    if not 0.0 <= x <= 1.0:
        return math.nan
    if x == 1.0 or level == math.inf:
        return 1.0
    if x == 0.0:
        return -math.expm1(-level)
    rest = 1.0 - x
    w = max(level / rest, math.sqrt(2.0 * x * level / rest))  # two lower bounds
    for _ in range(NEWTON_LIMIT):
        s = -math.expm1(-w)
        d = rest * (w - s if s > 0.1 else -log1p_minus(-s)) + _poisson(x, x + rest * s, rest * s)
        step = (level - d) * (x + rest * s) / (rest * s)
        w += step
        if abs(step) <= NEWTON_STEP * min(w, 1.0):
            break
    return x - rest * math.expm1(-w)


@jit
def _poisson_upper(x: float, level: float) -> float:
    """Solve for y = q/x - 1: d/x = y - log(1+y)."""
    if x < 0.0:
        return math.nan
    if x == 0.0 or level == math.inf:
        return level
    goal = level / x
    if goal == math.inf:  # x is so small that it does not matter
        return level
    y = goal + math.sqrt(goal) * math.sqrt(goal + 2.0)  # an upper bound, from d/x >= y^2 / (2 + 2 y)
    for _ in range(NEWTON_LIMIT):
        step = (goal + log1p_minus(y)) * (1.0 + 1.0 / y)
        y += step
        if abs(step) <= NEWTON_STEP * y:
            break
    return x + x * y


@jit
def _exponential_upper(x: float, level: float) -> float:
    """Solve for z = log(q/x): d = exp(-z) - 1 + z."""
    if x < 0.0:
        return math.nan
    if x == 0.0 or level == math.inf:
        return 0.0 if x == 0.0 else math.inf
    z = level + math.sqrt(2.0 * level)
    for _ in range(NEWTON_LIMIT):
        s = -math.expm1(-z)
        d = z - s if s > 0.1 else -log1p_minus(-s)
        step = (level - d) / s
        z += step
        if abs(step) <= NEWTON_STEP * min(z, 1.0):
            break
    return x * math.exp(z)
