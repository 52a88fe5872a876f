"""Measure the evidence of two arms' rewards against "this arm is no better than that one", for rewards in [0, 1].

An arm's rewards contradict a mean if betting against that mean would have made a fortune. The evidence against "arm b
is no better than arm a" is the logarithm of the wealth that the best such bets on both arms would have made, for the
mean at which this wealth is smallest. A bettor who does not know the best bets averages over all of them, which costs
little. In a fair game, wealth rarely grows large, so large evidence is unlikely at any time if the statement is true.

For arms b and a with n_b and n_a rewards and empirical distributions F_b and F_a,

    Z(d) = min over m of  n_b Kinf-(F_b, m) + n_a Kinf(F_a, m + d)

is the evidence against mu_a >= mu_b + d. Kinf(F, m) is the largest mean of log(1 - lam (x - m)) over
0 <= lam <= 1/(1 - m), and Kinf-(F, m) is Kinf of the rewards 1 - x at 1 - m.

Claim. If mu_a >= mu_b + d, then Z(d) ever reaches log(1/delta) + r(n_a) + r(n_b) with probability at most delta, where

    r(n) = log( sqrt(pi) Gamma(n + 1) / Gamma(n + 1/2) ),

however the arms were chosen, provided that the next reward of an arm has its mean given the past.

Proof. Put m = mu_b, so that m + d <= mu_a, and c = lam (1 - q) with q = m + d. Then

    1 - lam (x - q) = (1 - c) + c (1 - x)/(1 - q),       0 <= c <= 1,

is what a portfolio with the share c in an asset of price (1 - x)/(1 - q), and the rest in cash, returns. The price is
not negative, and its mean given the past is (1 - mu_a)/(1 - q) <= 1. So for every c the wealth, a product over the
rewards of arm a, is a nonnegative supermartingale that starts at 1, and so is W_a, its mean over c drawn from
Beta(1/2, 1/2). The largest wealth of a constant c is exp(n_a Kinf(F_a, q)), and W_a at least exp(-r(n_a)) times that:
the ratio of the two is largest where one asset alone gains in each step (Cover and Ordentlich), in k of n steps, and
(k/n)^k (1 - k/n)^(n - k) / (B(k + 1/2, n - k + 1/2) / pi) is largest for k = 0 and k = n. In the same way, W_b of
the rewards 1 - x of arm b at 1 - m is a supermartingale, with log W_b >= n_b Kinf-(F_b, m) - r(n_b). A reward of one
arm changes only one factor of W_a W_b, so the product is a supermartingale, too. The minimum over m is at most the
value at m = mu_b: Z(d) - r(n_a) - r(n_b) <= log(W_a W_b). Ville's inequality bounds the probability that W_a W_b ever
reaches 1/delta. If q = 1, all rewards of arm a are 1, and Kinf(F_a, q) is 0. If q > 1, mu_a cannot be that large. []

The derivative of n Kinf(F, m) in m is n lam, so the minimum is where n_a lam_a = n_b lam_b, and the derivative of Z in
d is that number. Z is convex.

References: Cover and Ordentlich (1996), Universal portfolios with side information, IEEE Trans. Inf. Theory 42; Honda
and Takemura (2010), An asymptotically optimal bandit algorithm for bounded support models; Ville (1939), Étude critique
de la notion de collectif; Agrawal, Juneja and Koolen (2021), Regret minimization in heavy-tailed bandits, COLT, for the
larger r(n) = 1 + log(1 + n).

Count rewards in [0, 1] on a grid, so that the cost of the evidence between arms does not grow with their number.

A reward between two points of the grid counts as both, in the proportion that keeps its mean, as in
``numerics/kinf_statistic.py``. So the evidence can only become smaller, by about n (lam / POINTS)^2 / 8 per arm.
Rewards of 0 and 1, and all multiples of 1 / POINTS, are counted exactly.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit, shared
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.costs import STATISTIC_POINTS
from dirichlet_bandits.numerics.kinf import kinf_weighted
from dirichlet_bandits.numerics.tolerances import NEWTON_LIMIT, STATISTIC_ERROR
from dirichlet_bandits.types import Floats

_HALF_LOG_PI: Final = 0.5 * math.log(math.pi)


@jit
def portfolio_regret(n: float) -> float:
    """Return the cost of not knowing the best bet, r(n) = log(sqrt(pi) Gamma(n + 1) / Gamma(n + 1/2)).

    It is about log(n)/2 + 0.572.

    >>> round(portfolio_regret(1.0), 12) == round(math.log(2.0), 12), portfolio_regret(0.0)
    (True, 0.0)

    Reference: Cover and Ordentlich (1996).
    """
    return _HALF_LOG_PI + math.lgamma(n + 1.0) - math.lgamma(n + 0.5) if n > 0.0 else 0.0


@jit
def pair_statistic(best: Floats, rival: Floats, margin: float) -> float:
    """Return Z for rewards in [0, 1]: the evidence that the rival is not better than the best by ``margin`` or more.

    Compare it with log(1/delta) + portfolio_regret(best.size) + portfolio_regret(rival.size).

    >>> round(pair_statistic(np.ones(3), np.zeros(3), 0.0), 12) == round(6.0 * math.log(2.0), 12)
    True

    Reference: see the docstring of this module.
    """
    if best.size == 0 or rival.size == 0:
        return 0.0
    none = np.empty(0)
    return weighted_statistic(1.0 - best, none, float(best.size), rival, none, float(rival.size), margin)[0]


@shared
def weighted_statistic(
    mirror: Floats,
    mirror_weights: Floats,
    n_best: float,
    rival: Floats,
    rival_weights: Floats,
    n_rival: float,
    margin: float,
) -> tuple[float, float, float]:
    """Return Z, the mean m of the best arm that attains it, and the derivative of Z in the margin.

    ``mirror`` has 1 - x for the rewards x of the best arm. Weights give how often each value occurs, in any unit; an
    empty array means that all weights are 1. ``n_best`` and ``n_rival`` are the numbers of rewards.

    >>> values, weights = np.array([0.0, 1.0]), np.array([1.0, 3.0])
    >>> z, m, slope = weighted_statistic(1.0 - values, weights, 4.0, values, weights[::-1].copy(), 4.0, 0.0)
    >>> round(m, 9), round(z, 9) == round(8.0 * (math.log(2.0) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)), 9)
    (0.5, True)
    """
    mean_mirror, spread_best = _mean_and_variance(mirror, mirror_weights)
    mean_rival, spread_rival = _mean_and_variance(rival, rival_weights)
    mean_best = 1.0 - mean_mirror
    if margin > 1.0:
        return math.inf, mean_best, math.inf
    if mean_best <= mean_rival - margin:
        return 0.0, mean_best, 0.0
    low, high = max(mean_rival - margin, 0.0), min(mean_best, 1.0 - margin)
    # The minimum if Kinf were (m - mean)^2 / (2 variance); rewards that are all equal still get a small variance.
    pull_best = n_best / (spread_best + 1.0 / (n_best + 1.0))
    pull_rival = n_rival / (spread_rival + 1.0 / (n_rival + 1.0))
    m = (pull_best * mean_best + pull_rival * (mean_rival - margin)) / (pull_best + pull_rival)
    m = min(max(m, low), high)
    m_before, slope_before = math.nan, math.nan
    guess_best, guess_rival = 0.0, 0.0
    z = math.inf
    for _ in range(NEWTON_LIMIT):
        k_best, guess_best, _, _ = kinf_weighted(mirror, mirror_weights, 1.0 - m, 1.0, guess_best)
        k_rival, guess_rival, _, _ = kinf_weighted(rival, rival_weights, m + margin, 1.0, guess_rival)
        z = n_best * k_best + n_rival * k_rival
        slope = n_rival * guess_rival - n_best * guess_best
        if slope == 0.0:
            break
        if slope > 0.0:
            high = m
        else:
            low = m
        step = -slope * (m - m_before) / (slope - slope_before)
        if not low < m + step < high or not abs(slope) < math.inf:  # also if there was no step before
            step = 0.5 * (low + high) - m
        # By convexity, Z is above its minimum by no more than its slope times the distance.
        if abs(slope) * (high - low) <= STATISTIC_ERROR * (1.0 + z) or not low < m + step < high:
            break
        m_before, slope_before = m, slope
        m += step
    # Equal in the interior; where m cannot move, at 0 or at 1 - margin, one of them is 0.
    return z, m, max(n_rival * guess_rival, n_best * guess_best)


@jit
def _mean_and_variance(values: Floats, weights: Floats) -> tuple[float, float]:
    total, first, second = 0.0, 0.0, 0.0
    for i in range(values.size):
        w = weight_of(weights, i)
        total += w
        first += w * values[i]
        second += w * values[i] * values[i]
    mean = first / total
    return mean, max(second / total - mean * mean, 0.0)


def grouped(z: Floats, points: int = STATISTIC_POINTS) -> tuple[Floats, Floats]:
    """Return rewards in [0, 1] as values and how often each occurs; more than ``points`` rewards are put on a grid.

    A reward between two points of the grid counts as both, in the proportion that keeps its mean. log(1 - lam (x - m))
    is concave in x, so this can only make Kinf smaller, for every m, and the claim about Z stays true. Z loses about
    n (lam / points)^2 / 8 per arm, 0.0007 for 100,000 rewards with lam = 1 and 4,096 steps.

    >>> grouped(np.array([0.0, 1.0, 1.0]))
    (array([0., 1.]), array([1., 2.]))
    >>> grouped(np.array([0.0, 0.25, 1.0, 1.0]), points=2)
    (array([0. , 0.5, 1. ]), array([1.5, 0.5, 2. ]))
    """
    return Grouped(points).add(z).grouped()


class Grouped:
    """Rewards as :func:`grouped` returns them, to the last bit, however they are divided among calls of ``add``."""

    def __init__(self, points: int = STATISTIC_POINTS) -> None:
        self.points, self._first = points, np.empty(0)  # rewards, while they are few
        self._weights = np.empty((2, 0))  # then those of the points below them, and of the points above

    def add(self, z: Floats) -> "Grouped":
        """Add rewards in [0, 1]."""
        if not self._weights.size:
            z = self._first = np.append(self._first, z)
            if z.size <= self.points:
                return self
            self._first, self._weights = np.empty(0), np.zeros((2, self.points + 1))
        _place(self._weights, np.array(z, np.float64), np.empty(0))  # a copy of one layout, so compiled once
        return self

    def grouped(self) -> tuple[Floats, Floats]:
        """Return values, and how often each occurs."""
        if not self._weights.size:
            values, counts = np.unique(self._first, return_counts=True)
            return values, counts.astype(np.float64)
        return _used(self._weights)


@entry_point
def _place(weights: Floats, z: Floats, times: Floats) -> None:
    """Put rewards on a grid: in the first row, what counts for the points below them, and in the second, above them."""
    points = weights.shape[1] - 1
    for i in range(z.size):
        below = min(int(z[i] * points), points - 1)
        share = z[i] * points - below
        weights[0, below] += weight_of(times, i) * (1.0 - share)
        weights[1, below + 1] += weight_of(times, i) * share


def coarser(values: Floats, weights: Floats, points: int) -> tuple[Floats, Floats]:
    """Return weighted values in [0, 1] on a grid of so many steps, as :func:`grouped` puts rewards on it.

    >>> coarser(np.array([0.25, 1.0]), np.array([3.0, 2.0]), points=2)
    (array([0. , 0.5, 1. ]), array([1.5, 1.5, 2. ]))
    """
    grid = np.zeros((2, points + 1))
    _place(grid, values, weights)
    return _used(grid)


def _used(grid: Floats) -> tuple[Floats, Floats]:
    """Return the points that have a weight, and their weights."""
    weights = grid.sum(axis=0)
    used = np.flatnonzero(weights > 0.0)
    return used / (weights.size - 1), weights[used]


kinf_statistic = entry_point(weighted_statistic)
"""The compiled :func:`weighted_statistic`, for callers in Python."""


POINTS: Final = 64


@jit
def new_grid(n_arms: int) -> Floats:
    """Return the weights of the grid points, one row per arm, before the first reward."""
    return np.zeros((n_arms, POINTS + 1))


@jit
def count_on_grid(weights: Floats, reward: float) -> None:
    """Count one reward in [0, 1] in the row of its arm."""
    place = min(max(reward, 0.0), 1.0) * POINTS
    below = min(int(place), POINTS - 1)
    share = place - below
    weights[below] += 1.0 - share
    weights[below + 1] += share


@jit
def grid_statistic(best: Floats, n_best: float, rival: Floats, n_rival: float, margin: float) -> float:
    """Return Z (``numerics/kinf_statistic.py``) for the weights of two arms.

    >>> import math
    >>> weights = np.zeros((2, POINTS + 1))
    >>> weights[0, -1], weights[1, 0] = 3.0, 3.0
    >>> round(grid_statistic.py_func(weights[0], 3.0, weights[1], 3.0, 0.0), 12) == round(6.0 * math.log(2.0), 12)
    True
    """
    mirror, mirror_weights = _used_steps(best, True)
    values, rival_weights = _used_steps(rival, False)
    return weighted_statistic(mirror, mirror_weights, n_best, values, rival_weights, n_rival, margin)[0]


@jit
def _used_steps(weights: Floats, mirrored: bool) -> tuple[Floats, Floats]:
    """Return the points that have a weight, mirrored for the better arm, and their weights."""
    points, found, n = np.empty(weights.size), np.empty(weights.size), 0
    for i in range(weights.size):
        if weights[i] > 0.0:
            points[n] = (POINTS - i) / POINTS if mirrored else i / POINTS
            found[n] = weights[i]
            n += 1
    return points[:n].copy(), found[:n].copy()
