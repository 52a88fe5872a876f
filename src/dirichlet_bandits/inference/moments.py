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
        self._state = np.zeros(5)

    def add(self, x: Floats) -> "Moments":
        """Add rewards."""
        _fold(self._state, np.array(x, np.float64))  # a copy: of one layout, and writable, so compiled only once
        return self

    @property
    def n(self) -> int:
        """The number of rewards."""
        return int(self._state[0])

    @property
    def mean(self) -> float:
        """The mean; NaN without rewards."""
        return float(self._state[3]) if self.n else math.nan

    @property
    def variance(self) -> float:
        """The unbiased estimate of the variance; NaN for fewer than two rewards."""
        return max(float(self._state[4]), 0.0) / (self.n - 1) if self.n > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation, the root of the variance."""
        return math.sqrt(self.variance)


@entry_point
def _fold(state: Floats, x: Floats) -> None:
    """Add rewards to a state: their number, sum, what rounding took from it, mean, and sum of squared deviations."""
    for one in x:
        state[0] += 1.0
        state[1], lost = two_sum(state[1], one)
        state[2] += lost
        mean = (state[1] + state[2]) / state[0]
        state[4] += (one - state[3]) * (one - mean)
        state[3] = mean
