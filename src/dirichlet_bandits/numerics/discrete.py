"""Random variables with finitely many values: binomial distributions, and which of several variables is the largest.

Probabilities are sums of positive terms, each right to a few units in its last place, however small it is.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import shared
from dirichlet_bandits.numerics.argmax import product_of_others
from dirichlet_bandits.types import Floats

_LOG_UNDERFLOW: Final = 690.0  # exp(-690) is 1e-300; rarer values are left out


class Discrete(NamedTuple):
    """A random variable with finitely many values, in any order, and their probabilities; values may repeat."""

    values: Floats
    chances: Floats


def binomial_law(n: int, p: float) -> tuple[int, Floats]:
    """Return the first of some consecutive numbers of heads among n coins, and the probabilities of these numbers.

    By Bernstein's inequality, all other numbers together have a probability below 1e-300. From the mode on, each
    probability follows from that of its neighbor.

    >>> binomial_law(3, 0.5)
    (0, array([0.125, 0.375, 0.375, 0.125]))

    Reference: Bernstein's inequality, for instance in Boucheron, Lugosi and Massart (2013), section 2.8.
    """
    if p <= 0.0 or p >= 1.0:
        return (0 if p <= 0.0 else n), np.ones(1)
    third = _LOG_UNDERFLOW / 3.0
    reach = third + math.sqrt(third**2 + 2.0 * _LOG_UNDERFLOW * n * p * (1.0 - p))
    first, last = max(math.floor(n * p - reach), 0), min(math.ceil(n * p + reach), n)
    mode = min(max(int((n + 1) * p), first), last)
    odds = p / (1.0 - p)
    up, down = np.arange(mode, last), np.arange(mode, first, -1)
    rising, falling = np.cumprod((n - up) / (up + 1.0) * odds), np.cumprod(down / (n - down + 1.0) / odds)
    chances = np.concatenate([falling[::-1], [1.0], rising])
    return first, chances / chances.sum()


@shared
def log_binomial(n: int, level: float) -> Floats:
    """Return the logarithms of the probabilities of 0, 1, ..., n successes, by ratios from the mode, then normalized.

    >>> np.exp(log_binomial(2, 0.5)).round(12)
    array([0.25, 0.5 , 0.25])

    Reference: Loader (2000), Fast and accurate computation of binomial probabilities, on why not to use factorials.
    """
    logs = np.full(n + 1, -math.inf)
    if level >= 1.0:
        logs[n] = 0.0
        return logs
    mode = min(int((n + 1) * level), n)
    logs[mode] = 0.0
    odds = level / (1.0 - level)
    for k in range(mode, n):
        logs[k + 1] = logs[k] + math.log((n - k) / (k + 1.0) * odds)
    for k in range(mode, 0, -1):
        logs[k - 1] = logs[k] + math.log(k / (n - k + 1.0) / odds)
    total = 0.0
    for k in range(n + 1):
        total += math.exp(logs[k])
    total = math.log(total)
    for k in range(n + 1):
        logs[k] -= total
    return logs


def discrete_argmax_probabilities(variables: Sequence[Discrete]) -> Floats:
    """Return the probability that each of these independent variables is the largest, with ties broken at random.

    Ties are broken as if by independent uniform variables: among variables of value v, the largest of these wins, so

        P(k) = sum over v of  P(X_k = v)  integral over u in [0, 1] of  prod_{j != k} (P(X_j < v) + u P(X_j = v)),

    where the integrand is a polynomial in u, which Gauss's rule integrates exactly.

    >>> coin, dice = Discrete(np.array([0.0, 1.0]), np.full(2, 1 / 2)), Discrete(np.arange(1.0, 7.0), np.full(6, 1 / 6))
    >>> discrete_argmax_probabilities([coin, coin, dice]).round(6)
    array([0.034722, 0.034722, 0.930556])

    Reference: the formula above.
    """
    points = np.unique(np.concatenate([x.values for x in variables]))
    points = points[points >= max(x.values.min() for x in variables)]  # nothing less can be the largest
    at, below = np.zeros((len(variables), points.size)), np.empty((len(variables), points.size))
    for k, (values, chances) in enumerate(variables):
        high = values >= points[0]
        np.add.at(at[k], np.searchsorted(points, values[high]), chances[high])
        below[k] = np.concatenate([[0.0], np.cumsum(at[k])[:-1]]) + chances[~high].sum()
    tied = (at > 0.0).sum(axis=0) > 1
    found = (at[:, ~tied] * product_of_others(below[:, ~tied])).sum(axis=1)
    at, below = at[:, tied], below[:, tied]
    nodes, weights = np.polynomial.legendre.leggauss((len(variables) + 1) // 2)
    for node, weight in zip(0.5 + 0.5 * nodes, 0.5 * weights, strict=True):
        found += weight * (at * product_of_others(below + node * at)).sum(axis=1)
    return np.asarray(found)
