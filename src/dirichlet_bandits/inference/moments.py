"""Number, mean and standard deviation of rewards, brought up to date with each reward."""

import math

import numpy as np

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
        self.n, self._total, self._lost, self._squares = 0, 0.0, 0.0, 0.0

    @np.errstate(over="ignore", invalid="ignore")  # squares of numbers such as 1e200
    def add(self, x: Floats) -> "Moments":
        """Add rewards."""
        if not x.size:
            return self
        n = np.arange(self.n, self.n + x.size + 1)
        total = np.cumsum(np.append(self._total, x))
        back = total[1:] - total[:-1]
        lost = np.cumsum(np.append(self._lost, (total[:-1] - (total[1:] - back)) + (x - back)))
        mean = (total + lost) / np.maximum(n, 1)
        before = np.where(n[:-1] > 0, mean[:-1], x)
        squares = np.cumsum(np.append(self._squares, (x - before) * (x - mean[1:])))
        self.n, self._total, self._lost, self._squares = (
            int(n[-1]),
            float(total[-1]),
            float(lost[-1]),
            float(squares[-1]),
        )
        return self

    @property
    def mean(self) -> float:
        """The mean; NaN without rewards."""
        return (self._total + self._lost) / self.n if self.n else math.nan

    @property
    def variance(self) -> float:
        """The unbiased estimate of the variance; NaN for fewer than two rewards."""
        return max(self._squares, 0.0) / (self.n - 1) if self.n > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation, the root of the variance."""
        return math.sqrt(self.variance)
