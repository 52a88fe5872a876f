"""Arithmetic without loss of digits: exact sums and products, and log(1 + y) - y."""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK, SERIES_RADIUS

_SPLITTER = 134217729.0  # 2^27 + 1 splits a double into two halves of 26 bits (Dekker)


@jit
def log1p_minus(y: float) -> float:
    """Return log(1 + y) - y, to full relative precision for every y > -1.

    With r = y / (2 + y), log(1+y) = 2 artanh(r), so the difference is r (2 r^2 (1/3 + r^2/5 + ...) - y):
    the first-order term is gone, and nothing cancels.

    >>> log1p_minus(2.0**-30) == -(2.0**-61) + 2.0**-90 / 3
    True

    Reference: the function log1pmx of Loader (2000), Fast and accurate computation of binomial probabilities.
    """
    if abs(y) >= SERIES_RADIUS:
        return math.log1p(y) - y if y > -1.0 else -math.inf
    r = y / (2.0 + y)
    s = r * r
    tail = 1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * (1 / 13 + s / 15)))))
    return r * (2.0 * s * tail - y)


@jit
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the rounded sum and the exact remainder: a + b = sum + remainder (Knuth).

    >>> two_sum(1.0, 1e-20)
    (1.0, 1e-20)
    """
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@jit
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return the rounded product and the exact remainder: a * b = product + remainder (Dekker).

    >>> two_product(1.0 + 2.0**-30, 1.0 + 2.0**-30)[1] == 2.0**-60
    True
    """
    product = a * b
    t = _SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = _SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@jit
def weight_of(weights: np.ndarray, i: int) -> float:
    """Return the i-th weight; an empty array means that all weights are 1.

    >>> weight_of(np.empty(0), 3)
    1.0
    """
    return float(weights[i]) if weights.size else 1.0


@shared
def mean_offset(values: np.ndarray, weights: np.ndarray, center: float) -> tuple[float, float]:
    """Return the weighted mean of values - center, as if computed exactly and rounded once, and the total weight.

    The sign and the size of this difference decide whether a mean reaches a target. In plain floating point, it would
    be lost when the two are close. An empty `weights` means that all weights are 1.

    >>> mean_offset(np.array([1e9, 1e9 + 2e-7]), np.empty(0), 1e9)[0] == (1e9 + 2e-7 - 1e9) / 2
    True

    Reference: Ogita, Rump and Oishi (2005), Accurate sum and dot product.
    """
    total = 0.0
    rest = 0.0
    weight_total = 0.0
    for i in range(values.size):
        w = weight_of(weights, i)
        weight_total += w
        high, low = two_sum(values[i], -center)
        product, error = two_product(w, high) if weights.size else (high, 0.0)
        total, carry = two_sum(total, product)
        rest += carry + (error + w * low)
    return (total + rest) / weight_total, weight_total


@jit
def raised(level: float) -> float:
    """Return a slightly higher level, which no index at or below ``level`` can reach by rounding.

    >>> raised(1.0) > 1.0
    True
    """
    return level + INDEX_SLACK * (1.0 + abs(level))
