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

from dirichlet_bandits.compiler import borrowed, jit, jit_inline, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.clocks import Clocks, new_clocks
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.costs import CEILING_ERROR, EXPANSION_LEAST, EXPANSION_WIDEST
from dirichlet_bandits.numerics.expansion import expanded_crossing
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.dirichlet.probability import FEW, log_win_probability, merged
from dirichlet_bandits.policies.dirichlet.rule import bonus, bonus_of, reweighted
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, offset_sums, shortfall_bounds, take_shortfall
from dirichlet_bandits.types import Floats, Ints, Records

NOTES = np.dtype(
    [
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
    contours: Records  # ``CONTOUR``
    clocks: Clocks
    winners: Ints  # of the last round


@shared
def new_challengers(n_arms: int) -> Challengers:
    """Return the records of arms before their first duel."""
    notes = np.zeros(n_arms, NOTES)
    for arm in range(n_arms):
        notes[arm].price = 2.0
    winners = np.empty(n_arms, np.int64)
    return Challengers(np.zeros(n_arms, SAMPLE), notes, contour.make(n_arms), new_clocks(n_arms), winners)


@shared
def rough_win(
    policy: Any, sample: Any, x: Floats, lowest: float, highest: float, low: float, high: float
) -> tuple[float, float]:
    """Return the probability of reaching the mean ``low`` with the bonus at the mean ``high``, and an error bound.

    The sum of all values but the bonus has a log-concave density and the variance S_2, so the density is at most
    1/sqrt(S_2). This limits how fast the probability can change with the bonus.
    """
    s1, s2, s3, s4, largest = offset_sums(policy, sample, x, lowest, highest, low)
    least, most = shortfall_bounds(sample, high)
    b, b_high = bonus(policy, x.size, highest, least, high), bonus(policy, x.size, highest, most, high)
    a, slack = 0.5 * (b + b_high) - low, 0.5 * (b_high - b)
    p, error = expanded_crossing(s1 + a, s2 + a * a, s3 + a * a * a, s4 + a * a * a * a, max(largest, a), sample.held)
    return p, error + slack / math.sqrt(s2)


@shared
def duel_by_draws(policy: Any, state: History, arm: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the arm wins, using one gamma variable per distinct value if there are few of them."""
    state, rng = borrowed(state), borrowed(rng)
    m, x = state.means[leader], rewards(state, arm)
    values, weights = merged(*reweighted(policy, x))
    if values.size > FEW:  # not merged
        return verbs.duel(policy, state, arm, leader, rng)
    total = (bonus_of(policy, state, arm, m) - m) * rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    return total >= 0.0


@shared
def log_win(policy: Any, state: History, challengers: Challengers, arm: int, low: float, high: float) -> float:
    """Return the logarithm of the probability of reaching the mean ``low`` with the bonus at the mean ``high``."""
    state, challengers = borrowed(state), borrowed(challengers)
    x, sample = rewards(state, arm), challengers.samples[arm]
    b = bonus(policy, x.size, state.highs[arm], take_shortfall(sample, x, high), high)
    return log_win_probability(policy, x, b, low, challengers.contours[arm], sample, CLOCK_ERROR)


@jit
def log_ceiling(policy: Any, state: History, challengers: Challengers, arm: int, low: float, high: float) -> float:
    """Return the logarithm of a bound on the arm's probability of winning, for leader's means in an interval."""
    x, sample = rewards(state, arm), challengers.samples[arm]
    if x.size >= EXPANSION_LEAST:
        p, error = rough_win(policy, sample, x, state.lows[arm], state.highs[arm], low, high)
        if error < CEILING_ERROR * p:
            return math.log(p + error)
    return log_win(policy, state, challengers, arm, low, high)


@shared
def lies_below(policy: Any, state: History, challengers: Challengers, arm: int, m: float, u: float) -> bool:
    """Whether u lies below the arm's probability of winning against a leader's mean m."""
    state, challengers = borrowed(state), borrowed(challengers)
    x, sample = rewards(state, arm), challengers.samples[arm]
    if x.size >= EXPANSION_LEAST:
        take_shortfall(sample, x, m)
        p, error = rough_win(policy, sample, x, state.lows[arm], state.highs[arm], m, m)
        if abs(u - p) >= error:
            return u < p
    return u < math.exp(log_win(policy, state, challengers, arm, m, m))


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
    m, p, error = state.means[leader], 0.0, math.inf
    if state.pulls[arm] >= EXPANSION_LEAST:
        x, lowest, highest = rewards(state, arm), state.lows[arm], state.highs[arm]
        p, error = rough_win(policy, challengers.samples[arm], x, lowest, highest, m, m)
        if ceiling == 1.0 and error > EXPANSION_WIDEST:
            return duel_by_draws(policy, state, arm, leader, rng)
    elif ceiling == 1.0:
        return verbs.duel(policy, state, arm, leader, rng)
    u = rng.random() * ceiling  # at a ring the challenger wins with its probability's share of the ceiling
    return u < p if abs(u - p) >= error else lies_below(policy, state, challengers, arm, m, u)
