"""The pair bet: which of two arms is better, if each arm's rewards keep one mean and nothing was drawn by lottery.

It is for rewards of deterministic policies, and for imported trials whose probabilities are unknown. Let arms b and a
have rewards x in [0, 1] with means mu_b <= mu_a + h given the past, and let eta, zeta > 0 be fixed. For max(h, 0) <= m
<= min(1, 1 + h) put

    L(m) = product over b of (1 + eta x)/(1 + eta m)  *  product over a of (1 + zeta (1 - x))/(1 + zeta (1 - m + h)).

Theorem. If mu_b = m or less and mu_a = m - h or more, L(m) is a nonnegative supermartingale, and so is the average W(m)
of L(m) over pairs (eta, zeta) with fixed weights. So the probability that min over m of W(m) ever reaches 1/delta is at
most delta. The minimum decreases in h.

Proof. The factor of a reward of b has the mean (1 + eta mu_b)/(1 + eta m) <= 1, that of a (1 + zeta (1 - mu_a))/(1 +
zeta (1 - m + h)) <= 1. Such an m exists in the range: mu_b, but at least h and at least 0. The minimum is at most W
there; Ville's inequality. For h' > h and any m of the range of h, let m' = min(m + h' - h, 1): all denominators of
W(m') under h' are at least those of W(m) under h. []

For rewards of 0 and 1, L is the likelihood ratio of odds that are e^theta times as large, eta = e^theta - 1. log W(m)
is a log-sum-exp of terms that are convex in m, so a tangent in a bracket of the minimum gives a lower bound, which is
what :meth:`Counts.log_wealth` returns: it is never too large.

Reference: Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting, JRSS B 86.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.types import Floats, Ints

_THETA: Final = 0.005 * 2.0 ** np.arange(12)
_ETA: Final = np.expm1(_THETA)


def _log_prior() -> Floats:
    """Return the logarithms of the weights of pairs (eta, zeta): of similar sizes, or nearly everything at stake."""
    theta = np.log(_THETA)
    ratio, size = theta[:, None] - theta, 0.5 * (theta[:, None] + theta)
    weights = 1.0 / (1.0 + (ratio + 0.7) ** 2) / (1.0 + ((size - math.log(0.15)) / 2.0) ** 2)
    weights *= 0.95 / weights.sum()
    weights[-1, -1] += 0.05  # for rewards with a small variance
    return np.log(weights)


_LOG_PRIOR: Final = _log_prior()
SURE: Final = 1e9
"""Evidence for what cannot be otherwise: a finite number, so that every answer can be written."""

_GAP: Final = 0.01  # between the minimum and its lower bound


class Counts:
    """What the pair bet keeps of each arm's rewards in [0, 1]: 25 numbers.

    >>> counts = Counts(2).add(np.repeat([0, 1], 100), np.tile([0.0, 1.0, 1.0, 1.0], 50))
    >>> counts.log_wealth(1, 0, 0.0) < 0.0
    True
    >>> round(counts.add(np.repeat([0, 1], 100), np.repeat([0.0, 1.0], 100)).log_wealth(1, 0, 0.0), 1)
    50.3
    """

    def __init__(self, n_arms: int) -> None:
        self.n, self._up, self._down = np.zeros(n_arms), np.zeros((n_arms, _ETA.size)), np.zeros((n_arms, _ETA.size))

    @property
    def sums(self) -> tuple[Floats, Floats, Floats]:
        """The number of rewards of each arm, and the sums of the logarithms."""
        return self.n, self._up, self._down

    def add(self, arm: Ints, reward: Floats) -> "Counts":
        """Add rewards."""
        _add(np.array(arm, np.int64), np.array(reward, np.float64), _ETA, self.n, self._up, self._down)
        return self

    def log_wealth(self, b: int, a: int, h: float) -> float:
        """Return the logarithm of the least wealth of bets on "b beats a by more than h", or a little less.

        No difference of means is above 1, or below -1.
        """
        if not abs(h) <= 1.0:
            return -SURE if h > 0.0 else SURE
        if self.n[a] == 0.0 or self.n[b] == 0.0:
            return 0.0
        return float(_least(self._up[b], self._down[a], self.n[b], self.n[a], _ETA, _LOG_PRIOR, h))


def sum_of(one: Counts, other: Counts) -> Counts:
    """Return the counts of the rewards of both."""
    found = Counts(one.n.size)
    for to, x, y in zip(found.sums, one.sums, other.sums, strict=True):
        np.add(x, y, out=to)
    return found


@entry_point
def _add(arm: Ints, reward: Floats, eta: Floats, n: Floats, up: Floats, down: Floats) -> None:
    for i in range(arm.size):
        n[arm[i]] += 1.0
        for k in range(eta.size):
            up[arm[i], k] += math.log1p(eta[k] * reward[i])
            down[arm[i], k] += math.log1p(eta[k] * (1.0 - reward[i]))


@entry_point
def _least(up: Floats, down: Floats, n_b: float, n_a: float, eta: Floats, log_prior: Floats, h: float) -> float:
    """Return a lower bound of the minimum of log W by Newton's method, kept in a bracket."""
    low, high = max(h, 0.0), min(1.0, 1.0 + h)
    m, least = 0.5 * (low + high), -math.inf
    for step in range(100):
        value, slope, curvature = _log_wealth(up, down, n_b, n_a, eta, log_prior, h, m)
        if slope > 0.0:
            high = m
        else:
            low = m
        least = max(least, value - abs(slope) * (m - low if slope > 0.0 else high - m))
        if value - least < _GAP:
            break
        near = m - 1.1 * slope / curvature if curvature > 0.0 else low  # a little too far, to close the bracket
        m = near if low < near < high and step < 20 else 0.5 * (low + high)
    return least


@jit
def _log_wealth(
    up: Floats, down: Floats, n_b: float, n_a: float, eta: Floats, log_prior: Floats, h: float, m: float
) -> tuple[float, float, float]:
    """Return log W(m), its slope and its curvature."""
    size = eta.size
    of_b, of_a = np.empty(size), np.empty(size)
    for i in range(size):
        of_b[i] = up[i] - n_b * math.log1p(eta[i] * m)
        of_a[i] = down[i] - n_a * math.log1p(eta[i] * (1.0 - m + h))
    largest = -math.inf
    for i in range(size):
        for j in range(size):
            largest = max(largest, of_b[i] + of_a[j] + log_prior[i, j])
    total, first, second = 0.0, 0.0, 0.0
    for i in range(size):
        rate_b = eta[i] / (1.0 + eta[i] * m)
        for j in range(size):
            term = math.exp(of_b[i] + of_a[j] + log_prior[i, j] - largest)
            rate_a = eta[j] / (1.0 + eta[j] * (1.0 - m + h))
            slope = n_a * rate_a - n_b * rate_b
            total += term
            first += term * slope
            second += term * (slope * slope + n_b * rate_b * rate_b + n_a * rate_a * rate_a)
    slope = first / total
    return largest + math.log(total), slope, second / total - slope * slope
