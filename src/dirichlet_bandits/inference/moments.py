"""Number, mean and standard deviation of rewards, brought up to date with each reward."""

import math

import numpy as np

from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.numerics.compensated import two_sum
from dirichlet_bandits.types import Floats


class Moments:
    """Number, mean and variance of the rewards so far.

    However the rewards are divided among calls of :meth:`add`, the numbers are the same to the last bit. The rounding
    errors of the sum are summed too, and the variance is a sum of (x_i - mean_i-1)(x_i - mean_i), so neither suffers
    from many rewards or from a mean that is far from 0.

    >>> moments = Moments().add(np.array([1.0, 2.0])).add(np.array([6.0]))
    >>> moments.n, moments.mean, moments.variance
    (3, 3.0, 7.0)

    References: Knuth (1997), The art of computer programming 2, 4.2.2; Welford (1962), Technometrics 4.
    """

    def __init__(self) -> None:
        self._sums: tuple[float, ...] = (0.0,) * 5  # number, total, rounding errors, mean, squares

    def add(self, x: Floats) -> "Moments":
        """Add rewards."""
        self._sums = _fold(self._sums, np.array(x, np.float64))  # a copy of one layout, so compiled once
        return self

    def with_those_of(self, other: "Moments") -> "Moments":
        """Return the moments of the rewards of both, to the last bit those of one if the other has none.

        >>> both = Moments().add(np.array([1.0, 2.0])).with_those_of(Moments().add(np.array([6.0])))
        >>> both.n, both.mean, both.variance
        (3, 3.0, 7.0)
        """
        found = Moments()
        found._sums = self._sums if not other.n else other._sums if not self.n else _joined(self._sums, other._sums)
        return found

    @property
    def n(self) -> int:
        """The number of rewards."""
        return int(self._sums[0])

    @property
    def mean(self) -> float:
        """The mean; NaN without rewards."""
        return self._sums[3] if self.n else math.nan

    @property
    def variance(self) -> float:
        """The unbiased estimate of the variance; NaN for fewer than two rewards."""
        return max(self._sums[4], 0.0) / (self.n - 1) if self.n > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation, the root of the variance."""
        return math.sqrt(self.variance)


@entry_point
def _fold(sums: tuple[float, ...], x: Floats) -> tuple[float, ...]:
    """Return the sums after more rewards."""
    n, total, lost, mean, squares = sums
    for one in x:
        before = mean
        n += 1.0
        total, rounded = two_sum(total, one)
        lost += rounded
        mean = (total + lost) / n
        squares += (one - before) * (one - mean)
    return n, total, lost, mean, squares


def _joined(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    n = one[0] + other[0]
    total, rounded = two_sum(one[1], other[1])
    lost = one[2] + other[2] + rounded
    gap = one[3] - other[3]
    return n, total, lost, (total + lost) / n, one[4] + other[4] + gap * (gap * (one[0] * other[0] / n))
