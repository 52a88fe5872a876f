"""The mean of log(c - x_i) again and again, for data that grow slowly and a c that moves little: Kinf without the data.

Around a centre c0 and in a unit of length, u_i = unit/(c0 - x_i) and t = (c - c0)/unit,

    mean log((c - x_i)/unit) = mean log(1/u_i) - sum_k (-t)^k/k * mean u_i^k.

No u_i exceeds 2 and |t| is at most 1/16, so a term is an eighth of the one before; a new observation costs its powers.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.jit import jit

TERMS: Final = 16  # the rest is below 8^-16, the last bit
REACH: Final = 1 / 16

CENTRE, UNIT, HELD, BUILT = range(4)


class LogSums(NamedTuple):
    """One row an arm: sums of log(1/u) and of the powers of u; centre, unit, number of data, of these at the start."""

    powers: np.ndarray
    scalars: np.ndarray


@jit
def make(n_arms: int) -> LogSums:
    """Room for the sums of so many arms; none holds anything before it is built.

    >>> make(3).powers.shape
    (3, 17)

    Reference: the head of this file.
    """
    return LogSums(np.zeros((n_arms, TERMS + 1)), np.zeros((n_arms, 4)))


@jit
def build(sums: LogSums, k: int, values: np.ndarray, c: float) -> None:
    """Sums of arm k around c; they hold nothing unless c is finite and above all values.

    >>> sums = make(1)
    >>> build(sums, 0, np.array([0.0, 1.0]), 3.0)
    >>> abs(expand(sums, 0, 3.1)[0] - math.log(3.1 * 2.1 / 4) / 2) < 1e-15
    True

    Reference: the head of this file.
    """
    scalars = sums.scalars[k]
    scalars[HELD] = 0.0
    unit = c - values.max()
    if not 0.0 < unit < math.inf:
        return
    sums.powers[k] = 0.0
    scalars[CENTRE], scalars[UNIT], scalars[BUILT] = c, unit, values.size
    for x in values:
        _add(sums.powers[k], unit / (c - x))
    scalars[HELD] = values.size


@jit
def _add(powers: np.ndarray, u: float) -> None:
    powers[0] -= math.log(u)
    power = 1.0
    for k in range(1, TERMS + 1):
        power *= u
        powers[k] += power


@jit
def follow(sums: LogSums, k: int, values: np.ndarray) -> bool:
    """Add those values of arm k that are new; whether the sums are still good.

    They are not when a value is close to the centre, or when they have doubled: rounding must not pile up.

    >>> sums, x = make(1), np.array([0.0, 1.0, 0.5, 2.9])
    >>> build(sums, 0, x[:2], 3.0)
    >>> follow(sums, 0, x[:3]), follow(sums, 0, x)
    (True, False)

    Reference: the head of this file.
    """
    scalars = sums.scalars[k]
    held = int(scalars[HELD])
    if held == 0 or values.size > 2 * scalars[BUILT]:
        return False
    for i in range(held, values.size):
        u = scalars[UNIT] / (scalars[CENTRE] - values[i])
        if not 0.0 < u <= 2.0:
            scalars[HELD] = 0.0
            return False
        _add(sums.powers[k], u)
    scalars[HELD] = values.size
    return True


@jit
def expand(sums: LogSums, k: int, c: float) -> tuple[float, float, float]:
    """The mean of log((c - x)/unit) for arm k and its first two derivatives in c/unit; NaN beyond the reach.

    >>> sums = make(1)
    >>> build(sums, 0, np.zeros(2), 2.0)
    >>> np.array(expand(sums, 0, 2.1)).round(8)  # log(1.05), 1/1.05, -1/1.05^2
    array([ 0.04879016,  0.95238095, -0.90702948])

    Reference: the head of this file.
    """
    scalars, powers = sums.scalars[k], sums.powers[k]
    t = (c - scalars[CENTRE]) / scalars[UNIT]
    if not abs(t) <= REACH:
        return math.nan, math.nan, math.nan
    value = first = second = 0.0
    for j in range(TERMS, 0, -1):  # Horner's rule, for a polynomial and its derivatives
        value = -t * (powers[j] / j + value)
        first = powers[j] - t * first
        second = (j - 1) * powers[j] - t * second if j > 1 else second
    n = scalars[HELD]
    return (powers[0] - value) / n, first / n, -second / n
