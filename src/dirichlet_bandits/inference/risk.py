"""Intervals for a CVaR that hold at all times at once, for an arm or for another choice.

The CVaR at level a is the largest value of  g(q) = q - h(q)/a,  h(q) = E (q - X)^+  (Rockafellar and Uryasev, 2000).
So bounds of h at the points of a grid, fixed before any reward is seen, bound the CVaR: from below by the best point of
the grid, and from above between neighbors too, where h rises, and by no more than q does.

In round j let Y_j = sum over its arms of w_j (q - x)^+, with w = 1 for the rewards of an arm, and w = pi/p for another
choice, p being the recorded propensity: then E[Y_j | the past] = m_j h_j(q), m_j being the weight that the choice puts
on arms with p > 0. For every theta > 0, as log(1 + y) >= y - y^2/2 for y >= 0, and with Y_j <= B known beforehand,

    exp( theta (sum Y_j - sum E Y_j) - theta^2/2 sum Y_j^2 )                                     and, for theta B < 1,
    exp( theta (sum E Y_j - sum Y_j) - (-log(1 - theta B) - theta B) sum (Y_j / B)^2 )           (Fan et al., 2015)

are supermartingales that start at 1: each exceeds 1/delta, at any time, with a probability of at most delta. All points
of the grid and all theta of another one share the probability of error. Nothing is asymptotic; rewards need bounds, and
those of an arm must be independent draws of one distribution, as for its mean (``intervals.py``).

References: Rockafellar and Uryasev (2000), Optimization of conditional value-at-risk; Fan, Grama and Liu (2015),
Exponential inequalities for martingales with applications, EJP 20; Howard, Ramdas, McAuliffe and Sekhon (2021),
Time-uniform, nonparametric, nonasymptotic confidence sequences, Annals of Statistics 49; Waudby-Smith, Wu, Ramdas,
Karampatziakis and Mineiro (2024), Anytime-valid off-policy inference for contextual bandits, ACM/IMS JDS 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.environments import CVaR
from dirichlet_bandits.inference.intervals import Bounds, Interval, are_finite
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.inference.off_policy import Wanted, largest_weight
from dirichlet_bandits.numerics.cvar import cvar
from dirichlet_bandits.types import Floats, Ints

BOUNDED: Final = "confidence sequence for a CVaR: any distribution within the bounds"
UNBOUNDED: Final = "none: without bounds a reward that has not been seen yet could move a CVaR by any amount"

_GRID: Final = np.arange(257) / 256.0  # of q in [0, 1], to which the rewards are scaled
THETAS: Final = 2.0 ** np.arange(-12, 12)


@dataclass(frozen=True)
class RiskEstimate:
    """The CVaR of the rewards of another choice, estimated from the log of a study.

    ``value`` is the CVaR of the log reweighted by pi/p, with weights divided by their sum. The CVaR of the choice's
    rewards lies between ``low`` and ``high`` with the ``confidence``, at all times at once, over the ``rounds`` that
    count. Rounds that were cut short or come after the last reward do not count; nor, for fixed weights of arms, do
    those in which one of the arms could not come. In the interval, trials without a reward (``missing``) count as the
    worst reward at the lower end and as the best at the upper end. ``unsupported`` and ``effective_rounds`` are as in
    :class:`Estimate`.

    Reference: see ``inference/risk.py``.
    """

    objective: str
    value: float
    low: float
    high: float
    confidence: float
    rounds: int
    effective_rounds: float
    unsupported: dict[str, float]
    missing: int


class Sums(NamedTuple):
    """The sums of Y_j and of Y_j^2 for each q of the grid."""

    first: Floats
    second: Floats


def cvar_sequence(x: Floats, lower: float, upper: float, level: float, confidence: float) -> Interval:
    """Return a confidence sequence for the CVaR of rewards in [lower, upper]; exact at every sample size.

    >>> interval = cvar_sequence(np.random.default_rng(0).random(5000), 0.0, 1.0, 0.2, 0.95)
    >>> interval.low < 0.1 < interval.high
    True

    Reference: see the top of this file.
    """
    z = np.sort((x - lower) / (upper - lower))
    below = np.searchsorted(z, _GRID, side="right")
    sums, squares = np.append(0.0, np.cumsum(z)), np.append(0.0, np.cumsum(z * z))
    first = below * _GRID - sums[below]
    second = below * _GRID**2 - 2.0 * _GRID * sums[below] + squares[below]
    found = Sums(np.maximum(first, 0.0), np.maximum(second, 0.0))
    return _scaled(_ends(found, found, float(x.size), 1.0, level, confidence), lower, upper)


def cvar_sequences(
    told: Sequence[Floats], level: float, bounds: Bounds, confidences: Floats
) -> tuple[list[Interval], str]:
    """Return the sequence of each arm with its own confidence, and its assumptions in words, or why there is none."""
    if not are_finite(bounds):
        return [Interval(-math.inf, math.inf)] * len(told), UNBOUNDED
    found = [
        cvar_sequence(x, *bounds, level, float(confidence)) if x.size else Interval(*bounds)
        for x, confidence in zip(told, confidences, strict=True)
    ]
    return found, BOUNDED


def estimate_cvar(
    log: LoggedRounds, wanted: Wanted, objective: CVaR, bounds: Bounds, confidence: float
) -> RiskEstimate:
    """Estimate the CVaR of the rewards of another choice, for rewards with two bounds of which small ones are bad."""
    lower, upper = bounds
    trials = log.weighted(wanted.in_rounds, wanted.counted)
    w, row, reward = trials.weights(), trials.row, trials.reward
    told = w > 0.0
    z = np.where(trials.told, (reward - lower) / (upper - lower), 0.0)  # a missing one may be the worst
    n, mass = wanted.counted.size, wanted.mass(log)
    interval = Interval(lower, upper)
    if mass > 0.0:
        known = _sums(row[told], trials.weight[told], z[told], n)
        worst = _sums(row, trials.weight, z, n) if not told.all() else known
        most = largest_weight(log, wanted.in_rounds, wanted.counted)
        interval = _scaled(_ends(known, worst, mass, most, objective.level, confidence), lower, upper)
    return RiskEstimate(
        objective=objective.name,
        value=cvar(reward[told], objective.level, w[told]) if told.any() else math.nan,
        low=interval.low,
        high=interval.high,
        confidence=confidence,
        rounds=int(wanted.counted.sum()),
        effective_rounds=trials.effective_rounds(),
        unsupported=wanted.lost,
        missing=int((~trials.told).sum()),
    )


def _sums(row: Ints, weight: Floats, z: Floats, n: int) -> Sums:
    """Return sums over rounds for each q of the grid."""
    first, second = np.zeros(_GRID.size), np.zeros(_GRID.size)
    for k, q in enumerate(_GRID):
        y = np.bincount(row, weight * np.maximum(q - z, 0.0), n)
        first[k], second[k] = y.sum(), y @ y
    return Sums(first, second)


def least(sums: Sums, mass: float, price: float) -> Floats:
    """Return lower bounds of sum E Y_j / mass, each wrong with probability exp(-price) for each theta."""
    theta = THETAS[:, None]
    return np.asarray(((sums.first - 0.5 * theta * sums.second - price / theta) / mass).max(axis=0))


def greatest(sums: Sums, mass: float, b: Floats, price: float) -> Floats:
    """Return upper bounds of sum E Y_j / mass for Y_j <= b, each wrong with probability exp(-price) for each theta."""
    theta = THETAS[:, None]
    t = theta * b
    inside = t < 1.0
    psi = np.where(inside, -np.log1p(-np.where(inside, t, 0.0)) - t, 0.0)
    upper = (sums.first + psi / (theta * b * b) * sums.second + price / theta) / mass
    return np.asarray(np.where(inside, upper, math.inf).min(axis=0))


def _ends(known: Sums, worst: Sums, mass: float, most: float, level: float, confidence: float) -> Interval:
    """Return bounds of the CVaR in [0, 1]; ``known`` bounds h from below, and ``worst`` from above."""
    price = math.log(2.0 * (_GRID.size - 1) * THETAS.size / (1.0 - confidence))
    below = np.maximum.accumulate(np.maximum(least(known, mass, price), 0.0))
    above = greatest(Sums(worst.first[1:], worst.second[1:]), mass, _GRID[1:] * most, price)
    low = max(float((_GRID[1:] - above / level).max()), 0.0)
    rise = np.clip(np.diff(below), 0.0, _GRID[1])
    high = min(float((_GRID[1:] - rise - below[:-1] / level).max()), 1.0)
    return Interval(low, high) if low <= high else Interval(0.0, 1.0)  # else an event of probability 1 - confidence


def _scaled(interval: Interval, lower: float, upper: float) -> Interval:
    return Interval(lower + interval.low * (upper - lower), lower + interval.high * (upper - lower))
