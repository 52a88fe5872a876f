"""Duels of BDS, RDS and QDS without a draw for each reward, in law.

A duel of BDS or RDS asks whether  sum_i E_i (x_i - m) + E (bonus - m) >= 0,  and gets the sum from the groups of
``numerics/resampling.py``. The bonus wants a pass over the rewards for their shortfall at m; bounds of it nearly always
suffice.

QDS has another tail after every reward, so there is no group to keep. With many rewards a uniform variable u decides
whether the challenger wins, and bounds of the probability from four power sums (``numerics/expansion.py``) nearly
always tell on which side of it u lies. Where they do not, the probability is computed, from a contour that follows the
tail (``tail.py``). The bound from above is a ceiling for a clock as well.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import (
    Clocks,
    new_clocks,
)
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.tournament import NEVER
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.costs import (
    CONTOUR_LEAST,
    CROSSING_COST,
    DUEL_OVERHEAD,
    EXPANDED_DUEL_COST,
    EXPANSION_LEAST,
    GROUPED_DUEL_COST,
    OFTEN,
    SHORTFALL_NEW_MOST,
    TAIL_COST,
    TAIL_OVERHEAD,
)
from dirichlet_bandits.numerics.expansion import expanded_crossing
from dirichlet_bandits.numerics.resampling import Groups, weighted_sum
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR, INDEX_SLACK
from dirichlet_bandits.policies.dirichlet.probability import log_crossing_of
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    mean_shortfall,
    reweighted,
)
from dirichlet_bandits.policies.dirichlet.tail import HELD, follow_tail, forget, make_borders, truncated_sums
from dirichlet_bandits.types import Floats, Ints


class Shortfalls(NamedTuple):
    """The last sum of each arm's shortfalls: over how many rewards, the sum, and the m at which it was taken."""

    summed: Ints
    short: Floats
    at: Floats


class Challengers(NamedTuple):
    """What is known of each arm as a challenger: its contour, its power sums, its clock, and notes.

    The groups of old rewards are apart: to hand over many arrays takes as long as a duel, and certificates want none.
    """

    contours: Floats
    borders: Floats  # of the tails of QDS, as contours know them
    samples: Floats  # power sums for duels, and the tails of QDS as these know them
    clocks: Clocks
    known: Ints  # rewards that its contour has been told
    lost: Ints  # duels lost in a row without a certificate; -1 for an arm that is worth one at once
    width: Floats  # half-width of the next certificate
    shortfalls: Shortfalls


@shared
def new_challengers(n_arms: int) -> Challengers:
    """Nothing is known yet."""
    known, lost, summed = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    shortfalls = Shortfalls(summed, np.zeros(n_arms), np.zeros(n_arms))
    return Challengers(
        contour.make(n_arms),
        make_borders(n_arms),
        make_borders(n_arms),
        new_clocks(n_arms),
        known,
        lost,
        np.zeros(n_arms),
        shortfalls,
    )


@verb
def duel_cost(policy: Any, n: int) -> Any:
    """What a duel of a challenger with n rewards costs, in exponentials."""


@implements(duel_cost, BDSParams, RDSParams)
def cost_of_draws(policy: Any, n: int) -> int:
    """One for each reward, or as much as a draw from a group and the new rewards."""
    return min(n, GROUPED_DUEL_COST) + DUEL_OVERHEAD


@implements(duel_cost, QDSParams)
def cost_of_tail(policy: QDSParams, n: int) -> int:
    """To find the tail takes longer than to draw; with many rewards power sums decide."""
    return TAIL_COST * n + TAIL_OVERHEAD if n < EXPANSION_LEAST else EXPANDED_DUEL_COST


@verb
def expansion_least(policy: Any) -> Any:
    """The number of rewards from which on power sums decide duels."""


@implements(expansion_least, BDSParams, RDSParams)
def no_expansion(policy: Any) -> int:
    """Draws from groups are cheaper."""
    return NEVER


@implements(expansion_least, QDSParams)
def expansion_of_tail(policy: QDSParams) -> int:
    """Fewer rewards have bounds too wide to decide."""
    return EXPANSION_LEAST


@jit
def plain_is_best(policy: Any, known: int, n: int) -> bool:
    """Whether a duel is best fought reward by reward: they are few, or the contour that would help knows none yet."""
    return n < CONTOUR_LEAST or (known == 0 and n < expansion_least(policy) and duel_cost(policy, n) > CROSSING_COST)


@jit
def worth_a_clock(policy: Any, n: int, p: float) -> bool:
    """Whether clocks are cheaper than duels for an arm with n rewards that wins so often."""
    return p < OFTEN * min(duel_cost(policy, n) / CROSSING_COST, 1.0)


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
def log_win_probability(policy: Any, kept: Floats, border: Floats, known: int, x: Floats, b: float, m: float) -> float:
    """log P(index >= m) with the bonus b for an arm with rewards x; from its contour, if that is any good.

    The contour knows so many of the rewards before, and all of them afterwards.
    """
    if 4 * (x.size - known) < x.size:
        catch_up(policy, kept, border, x, known)
        log_p, error = contour.evaluate(kept, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    forget(border)
    values, weights = reweighted(policy, x)
    if values.size >= CONTOUR_LEAST:
        log_p, error = contour.rebuilt(kept, values, weights, b, m)
        if error <= CLOCK_ERROR:
            return log_p
    return log_crossing_of(values, weights, b, m)


@jit
def take_shortfall(shortfalls: Shortfalls, arm: int, x: Floats, m: float) -> float:
    """The mean shortfall of x at m; bounds of later ones begin from here."""
    found = mean_shortfall(x, m)
    shortfalls.summed[arm], shortfalls.short[arm], shortfalls.at[arm] = x.size, found * x.size, m
    return found


@jit
def shortfall_bounds(shortfalls: Shortfalls, arm: int, x: Floats, m: float) -> tuple[float, float]:
    """Bounds of the mean shortfall of x at m: each shortfall moves by at most as much as m."""
    summed, sums, at = shortfalls.summed, shortfalls.short, shortfalls.at
    if x.size > summed[arm] + SHORTFALL_NEW_MOST:
        found = take_shortfall(shortfalls, arm, x, m)
        return found, found
    short, move = sums[arm], (m - at[arm]) * summed[arm]
    for i in range(summed[arm], x.size):
        short += max(m - x[i], 0.0)
    slack = INDEX_SLACK * abs(short)
    return (short + min(move, 0.0) - slack) / x.size, (short + max(move, 0.0) + slack) / x.size


@verb
def expanded_win(
    policy: Any, sample: Floats, nothing: Floats, x: Floats, lowest: float, b_low: float, b_high: float, m: float
) -> Any:
    """The probability to win with a bonus between two numbers, a bound of its error, and the bonus's share of that."""


@implements(expanded_win, BDSParams, RDSParams)
def not_expanded(
    policy: Any, sample: Floats, nothing: Floats, x: Floats, lowest: float, b_low: float, b_high: float, m: float
) -> tuple[float, float, float]:
    """Never asked for."""
    return 0.0, math.inf, 0.0


@implements(expanded_win, QDSParams)
def expanded_win_of_tail(
    policy: QDSParams, sample: Floats, nothing: Floats, x: Floats, lowest: float, b_low: float, b_high: float, m: float
) -> tuple[float, float, float]:
    """The tail as often as it counts.

    The others' sum has a log-concave law of variance S_2, so its density is at most 1/sqrt(S_2), and that is how fast
    the probability can change with the bonus.
    """
    s1, s2, s3, s4, top = truncated_sums(sample, nothing, x, m, policy.alpha)
    a = 0.5 * (b_low + b_high) - m
    largest = max(top - m, m - lowest, a)
    p, error = expanded_crossing(s1 + a, s2 + a * a, s3 + a * a * a, s4 + a * a * a * a, largest, sample[HELD:])
    blur = 0.5 * (b_high - b_low) / math.sqrt(s2)
    return p, error + blur, blur


@verb
def duel_by_groups(
    policy: Any, state: History, shortfalls: Shortfalls, groups: Groups, arm: int, m: float, rng: Any
) -> Any:
    """A duel in law, old rewards together and new ones one by one; and whether this policy has such duels."""


@implements(duel_by_groups, BDSParams, RDSParams)
def sum_of_groups(
    policy: Any,
    state: History,
    shortfalls: Shortfalls,
    groups: Groups,
    arm: int,
    m: float,
    rng: np.random.Generator,
) -> tuple[bool, bool]:
    """Whether  sum_i E_i (x_i - m) + E (bonus - m) >= 0; bounds of the bonus nearly always suffice."""
    x, largest = rewards(state, arm), state.highs[arm]
    total, _ = weighted_sum(groups, arm, x, state.means[arm], m, rng)
    weight = rng.standard_exponential()
    least, most = shortfall_bounds(shortfalls, arm, x, m)
    low, high = bonus(policy, x.size, largest, least, m), bonus(policy, x.size, largest, most, m)
    if total + weight * (low - m) < 0.0 <= total + weight * (high - m):
        low = bonus(policy, x.size, largest, mean_shortfall(x, m), m)
    return total + weight * (low - m) >= 0.0, True


@implements(duel_by_groups, QDSParams)
def no_groups(
    policy: QDSParams,
    state: History,
    shortfalls: Shortfalls,
    groups: Groups,
    arm: int,
    m: float,
    rng: np.random.Generator,
) -> tuple[bool, bool]:
    """The tail is another one after every reward."""
    return False, False


@jit_inline
def duel_by_probability(
    policy: Any,
    state: History,
    challengers: Challengers,
    groups: Groups,
    arm: int,
    m: float,
    ceiling: float,
    rng: np.random.Generator,
) -> tuple[bool, float]:
    """Whether an arm whose mean is below the leader's, m, wins; given that its clock rang, if the ceiling is below 1.

    And its probability, or a bound of it from above if that was enough, or NaN if nothing is known of it.
    """
    x, lowest, highest = rewards(state, arm), state.lows[arm], state.highs[arm]
    sample, kept, shortfalls = challengers.samples[arm], challengers.contours[arm], challengers.shortfalls
    won, settled, chance = False, False, math.nan
    if ceiling == 1.0:
        won, settled = duel_by_groups(policy, state, shortfalls, groups, arm, m, rng)
    if settled:
        return won, chance
    u = rng.random() * ceiling  # at a ring the challenger wins with its probability's share of the ceiling
    again = x.size >= expansion_least(policy)
    least, most = shortfall_bounds(shortfalls, arm, x, m) if again else (0.0, 0.0)
    while again:
        b_low, b_high = bonus(policy, x.size, highest, least, m), bonus(policy, x.size, highest, most, m)
        p, error, blur = expanded_win(policy, sample, kept[:0], x, lowest, b_low, b_high, m)
        if u < p - error or u >= p + error:
            won, settled, chance = u < p, True, p + error
        again = not settled and 2.0 * blur > error
        if again:
            least = most = take_shortfall(shortfalls, arm, x, m)
    if not settled:
        b = bonus(policy, x.size, highest, mean_shortfall(x, m), m)
        known = challengers.known[arm]
        challengers.known[arm] = x.size
        chance = math.exp(log_win_probability(policy, kept, challengers.borders[arm], known, x, b, m))
        won = u < chance
    return won, chance
