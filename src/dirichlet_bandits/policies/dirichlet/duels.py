"""Duels of BDS, RDS and QDS without a draw for each reward, in law.

With many rewards a uniform variable u decides whether the challenger wins, and bounds of the probability from four
power sums (``numerics/expansion.py``) nearly always tell on which side of it u lies. Where they do not, the probability
is computed, from a contour that follows the rewards, or the tail of QDS (``tail.py``). The bound from above is a
ceiling for a clock as well.

Rare rewards have wide bounds, and contours that do not last. But then there are few different values, mostly, and all
rewards of one value weigh as much as a gamma variable: a duel of BDS or RDS draws one for each value.

The bonus wants a pass over the rewards for their shortfall at m; bounds of it nearly always suffice.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import Clocks, new_clocks
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.costs import (
    CONTOUR_LEAST,
    CROSSING_COST,
    DUEL_OVERHEAD,
    EXPANDED_DUEL_COST,
    EXPANSION_LEAST,
    EXPANSION_WIDEST,
    OFTEN,
    TAIL_COST,
    TAIL_OVERHEAD,
    VALUE_COST,
)
from dirichlet_bandits.numerics.expansion import expanded_crossing
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.dirichlet.probability import log_crossing_of
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    mean_shortfall,
    reweighted,
)
from dirichlet_bandits.policies.dirichlet.sums import (
    ERROR,
    HELD,
    all_sums,
    different_values,
    shortfall_bounds,
    take_shortfall,
)
from dirichlet_bandits.policies.dirichlet.tail import follow_tail, forget, make_borders, truncated_sums
from dirichlet_bandits.types import Floats, Ints


class Challengers(NamedTuple):
    """What is known of each arm as a challenger: its contour, its sample, its clock, and notes."""

    contours: Floats
    borders: Floats  # of the tails of QDS, as contours know them
    samples: Floats  # sums for duels, and the tails of QDS as these know them
    clocks: Clocks
    known: Ints  # rewards that its contour has been told
    lost: Ints  # duels lost in a row without a certificate; -1 for an arm that is worth one at once
    width: Floats  # half-width of the next certificate


@shared
def new_challengers(n_arms: int) -> Challengers:
    """Nothing is known yet."""
    return Challengers(
        contour.make(n_arms),
        make_borders(n_arms),
        make_borders(n_arms),
        new_clocks(n_arms),
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
    )


@verb
def duel_cost(policy: Any, sample: Floats, n: int) -> Any:
    """What a duel of a challenger with n rewards costs, in exponentials."""


@implements(duel_cost, BDSParams, RDSParams)
def cost_of_draws(policy: Any, sample: Floats, n: int) -> int:
    """One for each reward; with many rewards power sums decide, or few values."""
    if n < EXPANSION_LEAST:
        return n + DUEL_OVERHEAD
    size = different_values(sample, n)[0].size
    return VALUE_COST * size + DUEL_OVERHEAD if size > 0 and sample[ERROR] > EXPANSION_WIDEST else EXPANDED_DUEL_COST


@implements(duel_cost, QDSParams)
def cost_of_tail(policy: QDSParams, sample: Floats, n: int) -> int:
    """To find the tail takes longer than to draw; with many rewards power sums decide."""
    return TAIL_COST * n + TAIL_OVERHEAD if n < EXPANSION_LEAST else EXPANDED_DUEL_COST


@jit
def plain_is_best(policy: Any, sample: Floats, known: int, n: int) -> bool:
    """Whether a duel is best fought reward by reward: they are few, or the contour that would help knows none yet."""
    return n < CONTOUR_LEAST or (n < EXPANSION_LEAST and (known == 0 or duel_cost(policy, sample, n) <= CROSSING_COST))


@jit
def worth_a_clock(policy: Any, sample: Floats, n: int, p: float) -> bool:
    """Whether clocks are cheaper than duels for an arm with n rewards that wins so often."""
    return p < OFTEN * min(duel_cost(policy, sample, n) / CROSSING_COST, 1.0)


@verb
def catch_up(policy: Any, kept: Floats, border: Floats, x: Floats, known: int) -> Any:
    """Bring the kept contour of an arm, which knows so many of its rewards x, up to date with all of them."""


@implements(catch_up, BDSParams, RDSParams)
def catch_up_with_rewards(policy: Any, kept: Floats, border: Floats, x: Floats, known: int) -> None:
    """All of them are new values."""
    for n in range(known, x.size):
        contour.append(kept, x[n], 1)


@implements(catch_up, QDSParams)
def catch_up_with_tail(policy: QDSParams, kept: Floats, border: Floats, x: Floats, known: int) -> None:
    """Some are in the tail."""
    follow_tail(border, kept, x, known, policy.alpha)


@jit
def log_win_probability(
    policy: Any, kept: Floats, border: Floats, sample: Floats, known: int, x: Floats, b: float, m: float
) -> float:
    """log P(index >= m) with the bonus b for an arm with rewards x; from its contour, if that is any good.

    The contour knows so many of the rewards before, and all of them afterwards.
    """
    if 4 * (x.size - known) < x.size:
        catch_up(policy, kept, border, x, known)
        log_p, error = contour.evaluate(kept, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    forget(border)
    values, weights = different_values(sample, x.size)
    if values.size == 0:
        values, weights = reweighted(policy, x)
    if x.size >= CONTOUR_LEAST:
        log_p, error = contour.rebuilt(kept, values, weights, b, m)
        if error <= CLOCK_ERROR:
            return log_p
    return log_crossing_of(values, weights, b, m)


@verb
def offset_sums(policy: Any, sample: Floats, nothing: Floats, x: Floats, highest: float, m: float) -> Any:
    """S_k, k = 1 ... 4, of the offsets from m of all that a duel reweights besides the bonus, and its largest value."""


@implements(offset_sums, BDSParams, RDSParams)
def sums_of_rewards(
    policy: Any, sample: Floats, nothing: Floats, x: Floats, highest: float, m: float
) -> tuple[float, float, float, float, float]:
    """All rewards alike."""
    s1, s2, s3, s4 = all_sums(sample, x, m)
    return s1, s2, s3, s4, highest


@implements(offset_sums, QDSParams)
def sums_with_tail(
    policy: QDSParams, sample: Floats, nothing: Floats, x: Floats, highest: float, m: float
) -> tuple[float, float, float, float, float]:
    """The tail as often as it counts."""
    return truncated_sums(sample, nothing, x, m, policy.alpha)


@shared
def expanded_win(
    policy: Any,
    sample: Floats,
    nothing: Floats,
    x: Floats,
    lowest: float,
    highest: float,
    b_low: float,
    b_high: float,
    m: float,
) -> tuple[float, float, float]:
    """The probability to win with a bonus between two numbers, a bound of its error, and the bonus's share of that.

    The others' sum has a log-concave law of variance S_2, so its density is at most 1/sqrt(S_2), and that is how fast
    the probability can change with the bonus.
    """
    s1, s2, s3, s4, top = offset_sums(policy, sample, nothing, x, highest, m)
    a = 0.5 * (b_low + b_high) - m
    largest = max(top - m, m - lowest, a)
    p, error = expanded_crossing(s1 + a, s2 + a * a, s3 + a * a * a, s4 + a * a * a * a, largest, sample[HELD:])
    blur = 0.5 * (b_high - b_low) / math.sqrt(s2)
    return p, error + blur, blur


@jit
def duel_by_values(
    policy: Any,
    values: Floats,
    weights: Floats,
    x: Floats,
    highest: float,
    b_low: float,
    b_high: float,
    m: float,
    rng: np.random.Generator,
) -> bool:
    """Whether  sum_i G_i (values_i - m) + E (bonus - m) >= 0  for gamma variables; bounds of the bonus may do."""
    total, weight = 0.0, rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    if total + weight * (b_low - m) < 0.0 <= total + weight * (b_high - m):
        b_low = bonus(policy, x.size, highest, mean_shortfall(x, m), m)
    return total + weight * (b_low - m) >= 0.0


@jit_inline
def duel_by_probability(
    policy: Any,
    state: History,
    challengers: Challengers,
    arm: int,
    m: float,
    ceiling: float,
    rng: np.random.Generator,
) -> tuple[bool, float]:
    """Whether an arm whose mean is below the leader's, m, wins; given that its clock rang, if the ceiling is below 1.

    And its probability, or a bound of it from above if that was enough, or NaN if nothing is known of it.
    """
    x, lowest, highest = rewards(state, arm), state.lows[arm], state.highs[arm]
    sample, kept, border = challengers.samples[arm], challengers.contours[arm], challengers.borders[arm]
    won, settled, chance = False, False, math.nan
    u = rng.random() * ceiling  # at a ring the challenger wins with its probability's share of the ceiling
    look = 1 if x.size >= EXPANSION_LEAST else 0
    least, most = shortfall_bounds(sample, x, m) if look > 0 else (0.0, 0.0)
    while look > 0:
        b_low, b_high = bonus(policy, x.size, highest, least, m), bonus(policy, x.size, highest, most, m)
        p, error, blur = expanded_win(policy, sample, kept[:0], x, lowest, highest, b_low, b_high, m)
        if look == 1 and ceiling == 1.0 and sample[ERROR] > EXPANSION_WIDEST:  # u has not been looked at
            values, weights = different_values(sample, x.size)
            if values.size > 0:
                return duel_by_values(policy, values, weights, x, highest, b_low, b_high, m, rng), chance
        if u < p - error or u >= p + error:
            won, settled = u < p, True
            chance = p + error if ceiling == 1.0 or error <= EXPANSION_WIDEST * ceiling else math.nan
        look = 2 if not settled and 2.0 * blur > error else 0
        if look > 0:
            least = most = take_shortfall(sample, x, m)
    if not settled:
        b = bonus(policy, x.size, highest, take_shortfall(sample, x, m), m)
        known = challengers.known[arm]
        challengers.known[arm] = x.size
        chance = math.exp(log_win_probability(policy, kept, border, sample, known, x, b, m))
        won = u < chance
    return won, chance
