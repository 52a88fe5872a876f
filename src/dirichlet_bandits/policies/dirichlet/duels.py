"""Duels of BDS, RDS and QDS without one draw per reward.

A duel is decided by one uniform variable u: the challenger wins if u lies below its probability of winning p. Usually,
rough bounds on p are enough to decide. With many rewards, four power sums give such bounds (``numerics/expansion.py``).
Only if u lies between the bounds is p itself computed, from a contour (``numerics/contour.py``). For example, if p lies
between 0.030 and 0.031, then u = 0.4 loses and u = 0.02 wins, and only one u in a thousand requires p.

The bonus depends on the mean shortfall of the rewards from the leader's mean, which takes one pass over the rewards.
The power sums bound the shortfall as well. The uncertainty of the bonus is added to the width of the bounds on p.

If large rewards are rare, the bounds are wide. We decide whether they are too wide before we compare u with anything.
If they are, the duel is decided by draws instead. (Letting u decide where it can, and drawing where it cannot, would be
another distribution.)
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import Clocks, new_clocks
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.costs import (
    CEILING_ERROR,
    CONTOUR_LEAST,
    EXPANSION_LEAST,
    EXPANSION_WIDEST,
)
from dirichlet_bandits.numerics.expansion import expanded_crossing
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.dirichlet.probability import follow_all, log_crossing_of
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    mean_shortfall,
    reweighted,
)
from dirichlet_bandits.policies.dirichlet.sums import Offsets, all_sums, new_samples, shortfall_bounds, take_shortfall
from dirichlet_bandits.policies.dirichlet.tail import tail_sums
from dirichlet_bandits.types import Floats, Ints

_FEW = 16  # different values that are merged, at most

NOTES = np.dtype(
    [
        ("followed", np.int64),  # rewards that the contour includes
        ("since", np.int64),  # the round from which the certificate holds
        ("width", np.float64),  # half the width of the next certificate; 0 before the first
        ("credit", np.float64),  # cost of the lost duels since the last certificate, or what that one has spared
        ("price", np.float64),  # the credit for which the arm gets a certificate, relative to its cost
    ],
    align=True,
)


class Challengers(NamedTuple):
    """What is known about each arm as a challenger."""

    samples: Any  # records of ``sums.SAMPLE``
    notes: Any  # records of ``NOTES``
    contours: Floats
    clocks: Clocks
    winners: Ints  # of the last round


@shared
def new_challengers(n_arms: int) -> Challengers:
    """Return the records of arms before their first duel."""
    notes = np.zeros(n_arms, NOTES)
    for arm in range(n_arms):
        notes[arm].price = 2.0
    winners = np.empty(n_arms, np.int64)
    return Challengers(new_samples(n_arms), notes, contour.make(n_arms), new_clocks(n_arms), winners)


@verb
def offset_sums(policy: Any, sample: Any, state: History, arm: int, m: float) -> Any:
    """Return power sums of the offsets from m of all values that a duel reweights, except the bonus."""


@implements(offset_sums, BDSParams, RDSParams)
def sums_of_rewards(policy: Any, sample: Any, state: History, arm: int, m: float) -> Offsets:
    """Return the power sums of the rewards, each with weight 1."""
    s1, s2, s3, s4 = all_sums(sample, rewards(state, arm), m)
    return Offsets(s1, s2, s3, s4, max(state.highs[arm] - m, m - state.lows[arm]))


@implements(offset_sums, QDSParams)
def sums_with_tail(policy: QDSParams, sample: Any, state: History, arm: int, m: float) -> Offsets:
    """Return the power sums of the rewards below the tail and of the tail's mean, with the weight of the tail."""
    return tail_sums(sample, rewards(state, arm), state.lows[arm], m, policy.alpha)


@jit
def exact_bonus(policy: Any, sample: Any, state: History, arm: int, m: float) -> float:
    """Compute the bonus of an arm at m."""
    x = rewards(state, arm)
    return bonus(policy, x.size, state.highs[arm], take_shortfall(sample, x, m), m)


@jit
def bonus_bounds(policy: Any, sample: Any, state: History, arm: int, m: float) -> tuple[float, float]:
    """Return bounds on the bonus of an arm at m; its sample must include all rewards."""
    n, highest = state.pulls[arm], state.highs[arm]
    least, most = shortfall_bounds(sample, m)
    return bonus(policy, n, highest, least, m), bonus(policy, n, highest, most, m)


@shared
def expanded_win(offsets: Offsets, b_low: float, b_high: float, m: float, held: Any) -> tuple[float, float]:
    """Return the probability of winning with a bonus between two numbers, and a bound on the error.

    The sum of the other values has a log-concave density and the variance S_2, so the density is at most 1/sqrt(S_2).
    This limits how fast the probability can change with the bonus.
    """
    s1, s2, s3, s4, largest = offsets
    a = 0.5 * (b_low + b_high) - m
    p, error = expanded_crossing(s1 + a, s2 + a * a, s3 + a * a * a, s4 + a * a * a * a, max(largest, a), held)
    return p, error + 0.5 * (b_high - b_low) / math.sqrt(s2)


@jit
def merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values with their weights summed if there are few; otherwise, the same values and weights.

    >>> merged(np.array([0.0, 1.0, 0.0]), np.empty(0))
    (array([0., 1.]), array([2., 1.]))
    """
    different, sums, n = np.empty(_FEW), np.empty(_FEW), 0
    for i in range(values.size):
        k = 0
        while k < n and different[k] != values[i]:
            k += 1
        if k == _FEW:
            return values, weights
        if k == n:
            different[k], sums[k] = values[i], 0.0
            n += 1
        sums[k] += weight_of(weights, i)
    return different[:n], sums[:n]


@shared
def duel_by_draws(policy: Any, state: History, arm: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the arm wins, using one gamma variable per distinct value if there are few of them."""
    state, rng = borrowed(state), borrowed(rng)
    m, x = state.means[leader], rewards(state, arm)
    values, weights = merged(*reweighted(policy, x))
    if values.size > _FEW or weights.size == 0:
        return verbs.duel(policy, state, arm, leader, rng)
    total = (bonus(policy, x.size, state.highs[arm], mean_shortfall(x, m), m) - m) * rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    return total >= 0.0


@verb
def follow_cost(policy: Any, n: int) -> Any:
    """Return the cost of adding one reward to a contour of n rewards, relative to rebuilding it for one more reward."""


@implements(follow_cost, BDSParams, RDSParams)
def cost_of_value(policy: Any, n: int) -> int:
    """Return a constant, because only one factor per node changes."""
    return 4


@implements(follow_cost, QDSParams)
def cost_of_split(policy: QDSParams, n: int) -> int:
    """Return a cost that grows with n, because finding the tail takes a pass over the rewards."""
    return 10 + n // 8


@jit
def log_win_probability(policy: Any, state: History, challengers: Challengers, arm: int, b: float, m: float) -> float:
    """Return log P(index >= m) with the bonus b, from the arm's contour, which is rebuilt if it does not cover m."""
    x, kept, note = rewards(state, arm), challengers.contours[arm], challengers.notes[arm]
    if note.followed > 0 and (x.size - note.followed) * follow_cost(policy, x.size) < x.size:
        follow_all(policy, kept, x, note.followed)
        note.followed = x.size
        log_p, error = contour.evaluate(kept, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    values, weights = merged(*reweighted(policy, x))
    if x.size >= CONTOUR_LEAST:
        note.followed = x.size
        log_p, error = contour.rebuilt(kept, values, weights, b, m)
        if error <= CLOCK_ERROR:
            return log_p
    return log_crossing_of(values, weights, b, m)


@shared
def log_ceiling(policy: Any, state: History, challengers: Challengers, arm: int, low: float, high: float) -> float:
    """Return the logarithm of a bound on the arm's probability of winning, for leader's means in an interval."""
    state, challengers = borrowed(state), borrowed(challengers)
    sample = challengers.samples[arm]
    if state.pulls[arm] >= EXPANSION_LEAST:
        offsets = offset_sums(policy, sample, state, arm, low)
        b = bonus_bounds(policy, sample, state, arm, high)[1]
        p, error = expanded_win(offsets, b, b, low, sample.held)
        if error < CEILING_ERROR * p:
            return math.log(p + error)
    return log_win_probability(policy, state, challengers, arm, exact_bonus(policy, sample, state, arm, high), low)


@shared
def lies_below(policy: Any, state: History, challengers: Challengers, arm: int, m: float, u: float) -> bool:
    """Whether u lies below the arm's probability of winning against a leader's mean m, with the exact bonus."""
    state, challengers = borrowed(state), borrowed(challengers)
    sample = challengers.samples[arm]
    b = exact_bonus(policy, sample, state, arm, m)
    if state.pulls[arm] >= EXPANSION_LEAST:
        p, error = expanded_win(offset_sums(policy, sample, state, arm, m), b, b, m, sample.held)
        if abs(u - p) >= error:
            return u < p
    return u < math.exp(log_win_probability(policy, state, challengers, arm, b, m))


@jit_inline
def duel_by_probability(
    policy: Any,
    state: History,
    challengers: Challengers,
    arm: int,
    leader: int,
    ceiling: float,
    rng: np.random.Generator,
) -> bool:
    """Whether an arm whose mean is below the leader's wins, given that its clock rang if the ceiling is below 1."""
    m, sample, p, error = state.means[leader], challengers.samples[arm], 0.0, math.inf
    if state.pulls[arm] >= EXPANSION_LEAST:
        offsets = offset_sums(policy, sample, state, arm, m)
        b_low, b_high = bonus_bounds(policy, sample, state, arm, m)
        p, error = expanded_win(offsets, b_low, b_high, m, sample.held)
        if ceiling == 1.0 and error > EXPANSION_WIDEST:
            return duel_by_draws(policy, state, arm, leader, rng)
    elif ceiling == 1.0:
        return verbs.duel(policy, state, arm, leader, rng)
    u = rng.random() * ceiling  # at a ring the challenger wins with its probability's share of the ceiling
    return u < p if abs(u - p) >= error else lies_below(policy, state, challengers, arm, m, u)
