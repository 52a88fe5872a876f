"""Bounds for the mean reward of another choice, and for the difference of two arms, that survive drift.

They use the recorded propensities only, so the distributions of the arms may change from round to round. With rewards
brought to [0, 1], let p_j(a) be the propensity of arm a in round j, and x its reward. For a choice pi put

    U_j = sum over the arms a of the round of  pi_j(a) x / p_j(a),      V_j = the same with 1 - x,

and for the difference of arms a and b, over the rounds in which both could come,

    U_j = 1{a in the round} x/p_j(a) + 1{b in the round} (1 - x)/p_j(b),      V_j = the same with a and b exchanged.

Given the past, U_j and V_j have means u_j and t_j - u_j: t_j is the weight that the choice puts on arms that could
come, or 2, and the average of the u_j is what is asked for (the difference is u_j - 1). Neither is negative. So the two
supermartingales of ``risk.py``, at the single point q = 1 of its grid, bound the sum of the u_j from both sides, from U
and again from V, at all times at once: four bounds for each of the theta share the probability of error. In a round of
several arms each is counted with its own propensity, as the means of sums need no independence.

Trials without a reward count as whatever is worst for each end. Nothing is assumed about the rewards but their bounds.

Reference: Waudby-Smith, Wu, Ramdas, Karampatziakis and Mineiro (2024), Anytime-valid off-policy inference for
contextual bandits, ACM/IMS JDS 1; see also ``risk.py``.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.intervals import Bounds, Interval, are_finite
from dirichlet_bandits.inference.logged_rounds import LoggedRounds
from dirichlet_bandits.inference.off_policy import Estimate, Wanted, arm_number, estimate_rounds, largest_weight
from dirichlet_bandits.inference.risk import THETAS, Sums, greatest, least
from dirichlet_bandits.types import Floats, Ints


@dataclass(frozen=True)
class DifferenceEstimate:
    """The excess of arm ``a``'s rewards over those of arm ``b``, on average over the same ``rounds``.

    ``value`` is unbiased if no reward is missing; otherwise, missing rewards are assumed to be like the others of their
    arm. The average difference of the two means in these rounds lies between ``low`` and
    ``high`` with the ``confidence``, at all times at once, even if the arms change. Rounds in which one of the arms
    could not come do not count, nor do those that were cut short or come after the last reward; ``missing`` trials
    count as whatever is worst for each end.

    Reference: see ``inference/off_policy_intervals.py``.
    """

    a: str
    b: str
    value: float
    low: float
    high: float
    confidence: float
    rounds: int
    missing: int


class _TwoSided(NamedTuple):
    """Trials with their rounds, weights for x and for 1 - x, and rewards in [0, 1] (NaN if missing)."""

    row: Ints
    of_reward: Floats
    of_rest: Floats
    z: Floats


def estimate_mean(log: LoggedRounds, wanted: Wanted, bounds: Bounds, confidence: float) -> Estimate:
    """Estimate what another choice would have earned, with an interval if the rewards have two bounds."""
    found = estimate_rounds(log, wanted.spread)
    if not are_finite(bounds):
        return found
    mass, interval = wanted.mass(log), Interval(*bounds)
    if mass > 0.0:
        seen = log.weighted(wanted.in_rounds, wanted.counted)
        trials = _TwoSided(seen.row, seen.weight, np.zeros(seen.row.size), _scaled(seen.reward, bounds))
        most = largest_weight(log, wanted.in_rounds, wanted.counted)
        ends = _ends(trials, wanted.counted.size, mass, most, 1.0, confidence)
        interval = Interval(*(bounds[0] + end * (bounds[1] - bounds[0]) for end in ends))
    return dataclasses.replace(found, low=interval.low, high=interval.high, confidence=confidence)


def estimate_difference(log: LoggedRounds, a: str, b: str, bounds: Bounds, confidence: float) -> DifferenceEstimate:
    """Estimate by how much the rewards of one arm exceed those of another, for rewards with two bounds."""
    one, two = (arm_number(log.names, name) for name in (a, b))
    if one == two:
        raise ArgumentError("b", "another arm than a", b)
    both = np.zeros_like(log.propensities)
    both[:, [one, two]] = 1.0
    counted = log.complete & (log.propensities[:, [one, two]] > 0.0).all(axis=1)
    seen, n, unit = log.weighted(both, counted), int(counted.sum()), bounds[1] - bounds[0]
    first, used = seen.arm == one, seen.weight > 0.0
    z = _scaled(seen.reward, bounds)
    trials = _TwoSided(seen.row, np.where(first, seen.weight, 0.0), np.where(first, 0.0, seen.weight), z)
    low, high = -1.0, 1.0
    if n:
        most = largest_weight(log, both, counted)
        low, high = (end - 1.0 for end in _ends(trials, counted.size, float(n), most, 2.0, confidence))
    totals = seen.weight * seen.filled()
    means = [totals[arm].sum() / n if (arm & used & seen.told).any() else math.nan for arm in (first, ~first)]
    missing = int((used & ~seen.told).sum())
    return DifferenceEstimate(a, b, float(means[0] - means[1]), low * unit, high * unit, confidence, n, missing)


def _scaled(reward: Floats, bounds: Bounds) -> Floats:
    return (reward - bounds[0]) / (bounds[1] - bounds[0])


def _ends(trials: _TwoSided, n: int, mass: float, most: float, total: float, confidence: float) -> Interval:
    """Return bounds for the average of u_j, from 0 to ``total``."""
    price = math.log(4.0 * THETAS.size / (1.0 - confidence))
    missing = np.isnan(trials.z)
    x, rest = np.where(missing, 0.0, trials.z), np.where(missing, 0.0, 1.0 - trials.z)
    up = trials.of_reward * x + trials.of_rest * rest
    down = trials.of_reward * rest + trials.of_rest * x
    unknown = np.where(missing, trials.of_reward + trials.of_rest, 0.0)  # what a missing reward could add to either
    bounds = [
        (
            float(least(_sums(trials.row, y, n), mass, price)[0]),
            _greatest(trials.row, y + unknown, n, mass, most, price),
        )
        for y in (up, down)
    ]
    low = max(bounds[0][0], total - bounds[1][1], 0.0)
    high = min(bounds[0][1], total - bounds[1][0], total)
    return Interval(low, high) if low <= high else Interval(0.0, total)  # else an event of probability 1 - confidence


def _greatest(row: Ints, y: Floats, n: int, mass: float, most: float, price: float) -> float:
    return float(greatest(_sums(row, y, n), mass, np.array([most]), price)[0])


def _sums(row: Ints, y: Floats, n: int) -> Sums:
    """Return sums over rounds, as arrays of one point."""
    of_round = np.bincount(row, y, n)
    return Sums(np.array([of_round.sum()]), np.array([of_round @ of_round]))
