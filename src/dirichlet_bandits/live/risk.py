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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.arms import CVaR, Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for, mirrored
from dirichlet_bandits.live.intervals import Interval
from dirichlet_bandits.live.logged_rounds import LoggedRounds, read_rounds
from dirichlet_bandits.live.off_policy import wanted_by_policy, weights_of
from dirichlet_bandits.numerics.cvar import cvar
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Row
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between

BOUNDED: Final = "confidence sequence for a CVaR: any distribution within the bounds"
UNBOUNDED: Final = "none: without bounds a reward that has not been seen yet could move a CVaR by any amount"

_GRID: Final = np.arange(257) / 256.0  # of q in [0, 1], to which the rewards are scaled
THETAS: Final = 2.0 ** np.arange(-12, 12)
_SURE: Final = 1e-9  # propensities that sum to 1 within it are those of rounds of one arm


@dataclass(frozen=True)
class RiskEstimate:
    """The CVaR of the rewards of another choice, estimated from the log of a study.

    ``value`` is the CVaR of the log reweighted by pi/p, with weights divided by their sum. The CVaR of the choice's
    rewards lies between ``low`` and ``high`` with the ``confidence``, at all times at once, over the ``rounds`` that
    count. Rounds that were cut short or come after the last reward do not count; nor, for fixed weights of arms, do
    those in which one of the arms could not come. In the interval, trials without a reward (``missing``) count as the
    worst reward at the lower end and as the best at the upper end. ``unsupported`` and ``effective_rounds`` are as in
    :class:`Estimate`.

    Reference: see ``live/risk.py``.
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


def asked_cvar(objective: object) -> CVaR | None:
    """Return the CVaR that should be estimated; None for the mean.

    >>> asked_cvar(None), asked_cvar(CVaR(0.2))
    (None, CVaR(level=0.2))
    """
    if objective is None or isinstance(objective, Mean):
        return None
    if not isinstance(objective, CVaR):
        raise ArgumentError("objective", "Mean() or CVaR(level)", objective)
    return objective


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
    told: Sequence[Floats], level: float, bounds: tuple[float, float], confidences: Floats, direction: str = MAXIMIZE
) -> tuple[list[Interval], str]:
    """Return the sequence of each arm with its own confidence, and its assumptions in words, or why there is none.

    If the study has costs, the large ones are bad.
    """
    lower, upper = bounds
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return [Interval(-math.inf, math.inf)] * len(told), UNBOUNDED
    turn = mirrored(direction, lower, upper).turn
    found = [
        cvar_sequence(turn(x), lower, upper, level, float(confidence)) if x.size else Interval(lower, upper)
        for x, confidence in zip(told, confidences, strict=True)
    ]
    return [Interval(*sorted((turn(low), turn(high)))) for low, high in found], BOUNDED


def estimate_cvar(
    events: Sequence[Row],
    choice: Policy | Mapping[str, float] | str,
    seed: int,
    objective: CVaR,
    bounds: tuple[float, float],
    confidence: float,
    direction: str = MAXIMIZE,
) -> RiskEstimate:
    """Estimate the CVaR of the rewards of another choice, from events that were read with their data.

    If the study has costs, the large ones are bad.
    """
    number_between("confidence", confidence, 0, 1)
    lower, upper = bounds
    if not (math.isfinite(lower) and math.isfinite(upper)):
        expected = (
            "two finite numbers between which all rewards lie, for the policy knows none: "
            "without them one reward that has not been seen yet could move a CVaR by any amount"
        )
        raise ArgumentError("bounds", expected, bounds)
    rounds = read_rounds(events)
    wanted, counted, lost = wanted_in_rounds(events, choice, seed, rounds, direction)
    log = rounds.logged(wanted, counted)
    turn = mirrored(direction, lower, upper).turn
    reward = turn(log.reward)
    w = log.weights()
    told = w > 0.0
    z = np.where(np.isnan(reward), 0.0, (reward - lower) / (upper - lower))  # a missing one may be the worst
    n = wanted.shape[0]
    mass = float(np.where((rounds.propensities > 0.0) & counted[:, None], wanted, 0.0).sum())
    interval = Interval(lower, upper)
    if mass > 0.0:
        known = _sums(log.row[told], log.weight[told], z[told], n)
        worst = _sums(log.row, log.weight, z, n) if not told.all() else known
        most = largest_weight(rounds.propensities, wanted, counted)
        interval = _scaled(_ends(known, worst, mass, most, objective.level, confidence), lower, upper)
    low, high = sorted((turn(interval.low), turn(interval.high)))
    return RiskEstimate(
        objective=objective.name,
        value=turn(cvar(reward[told], objective.level, w[told])) if told.any() else math.nan,
        low=low,
        high=high,
        confidence=confidence,
        rounds=int(counted.sum()),
        effective_rounds=log.effective_rounds(),
        unsupported=lost,
        missing=int(np.isnan(log.reward).sum()),
    )


def wanted_in_rounds(
    events: Sequence[Row], choice: Policy | Mapping[str, float] | str, seed: int, rounds: LoggedRounds, direction: str
) -> tuple[Floats, np.ndarray, dict[str, float]]:
    """Return what the choice would do in each round, which rounds count, and which part the log does not cover."""
    possible, names = rounds.propensities > 0.0, rounds.journal.names
    if isinstance(choice, Policy):
        decider = Decider(choice, seed, direction_for(choice, direction), with_floors=False)
        wanted = wanted_by_policy(events, decider, rounds)
        return wanted, rounds.complete, rounds.unsupported(wanted, possible)
    weights = weights_of(choice, names)
    # Whether an arm could come was known when the round was drawn: a choice of rounds that favors no reward.
    counted = rounds.complete & possible[:, weights > 0.0].all(axis=1)
    never = ~(possible & rounds.complete[:, None]).any(axis=0) & (weights > 0.0)
    lost = {names[k]: float(weights[k]) for k in np.flatnonzero(never)}
    return np.tile(weights, (possible.shape[0], 1)), counted, lost


def largest_weight(p: Floats, wanted: Floats, counted: np.ndarray) -> float:
    """Return the most that the weights of a round can sum to: the largest, or all if several arms may be in it."""
    ratios = np.where(p > 0.0, wanted, 0.0) / np.where(p > 0.0, p, 1.0)
    single = p.sum(axis=1) <= 1.0 + _SURE
    return float(np.where(single, ratios.max(axis=1), ratios.sum(axis=1))[counted].max())


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
