"""Measure the evidence of two arms' rewards against "this arm is no better than that one", for rewards in [0, 1].

An arm's rewards contradict a mean if betting against that mean would have made a fortune. The evidence against "arm b
is no better than arm a" is the logarithm of the wealth that the best such bets on both arms would have made, for the
mean at which this wealth is smallest.

For arms b and a with n_b and n_a rewards and empirical distributions F_b and F_a,

    Z(d) = min over m of  n_b Kinf-(F_b, m) + n_a Kinf(F_a, m + d)

is the evidence against mu_a >= mu_b + d. Kinf(F, m) is the largest mean of log(1 - lam (x - m)) over
0 <= lam <= 1/(1 - m), and Kinf-(F, m) is Kinf of the rewards 1 - x at 1 - m.

The derivative of n Kinf(F, m) in m is n lam, so the minimum is where n_a lam_a = n_b lam_b, and the derivative of Z in
d is that number. Z is convex.

Rewards are counted on a grid, so that the cost of the evidence does not grow with their number. A reward between two
points of the grid counts as both, in the proportion that keeps its mean. log(1 - lam (x - m)) is concave in x, so the
evidence can only become smaller, by about n (lam / POINTS)^2 / 8 per arm. Rewards of 0 and 1, and all multiples of
1 / POINTS, are counted exactly.

Reference: Honda and Takemura (2010), An asymptotically optimal bandit algorithm for bounded support models, COLT.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.kinf import kinf_weighted
from dirichlet_bandits.numerics.tolerances import NEWTON_LIMIT, STATISTIC_ERROR
from dirichlet_bandits.types import Floats


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
    mirror, mirror_weights = _used(best, True)
    values, rival_weights = _used(rival, False)
    return weighted_statistic(mirror, mirror_weights, n_best, values, rival_weights, n_rival, margin)[0]


@jit
def _used(weights: Floats, mirrored: bool) -> tuple[Floats, Floats]:
    """Return the points that have a weight, mirrored for the better arm, and their weights."""
    points, found, n = np.empty(weights.size), np.empty(weights.size), 0
    for i in range(weights.size):
        if weights[i] > 0.0:
            points[n] = (POINTS - i) / POINTS if mirrored else i / POINTS
            found[n] = weights[i]
            n += 1
    return points[:n].copy(), found[:n].copy()
