"""Dirichlet Sampling by clocks: the law of the plain loop, at a cost that a settled arm does not notice.

A challenger's data do not change while it loses; only the leader's mean m moves, and slowly. For m in [low, high]
its probability to win is at most p(threshold = low, bonus(high)), because the crossing probability falls in the
threshold and rises in the bonus, and every bonus rises with m. That is the certificate of its clock.

Challengers without a certificate duel in every round, as in the plain loop; after duels for about the price of a
certificate they get one. A duel of BDS or RDS asks whether  sum_i E_i (x_i - m) + E (bonus - m) >= 0,  and gets the
sum from the groups of ``numerics/resampling.py``. The bonus wants a pass over the rewards for their shortfall at m;
bounds of it nearly always suffice. QDS has another tail after every reward, so there is no group to keep: with many
rewards its probability is drawn on, from a contour that follows the tail (``tail.py``).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, jit_inline, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.clocks import (
    Clocks,
    certified,
    certify,
    common_interval,
    due,
    interval,
    new_clocks,
    next_ring,
    outside,
    silence,
    void,
    wind,
)
from dirichlet_bandits.engine.history import History, append, rewards
from dirichlet_bandits.engine.run import Run, over, pull
from dirichlet_bandits.engine.stretch import stretch, with_room
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.tournament import value_of
from dirichlet_bandits.engine.verbs import implements, inlined_verb, shortcut, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.costs import (
    CERTIFICATE_COST,
    CERTIFICATE_ROOM,
    CERTIFICATE_WIDENING,
    CONTOUR_LEAST,
    CROSSING_COST,
    DUEL_OVERHEAD,
    GROUPED_DUEL_COST,
    OFTEN,
    SHORTFALL_NEW_MOST,
    TAIL_COST,
    TAIL_OVERHEAD,
)
from dirichlet_bandits.numerics.resampling import Groups, make_groups, weighted_sum
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
from dirichlet_bandits.policies.dirichlet.tail import follow_tail, forget, make_borders
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.types import Floats, Ints


class Shortfalls(NamedTuple):
    """The last sum of each arm's shortfalls: over how many rewards, the sum, and the m at which it was taken."""

    summed: Ints
    short: Floats
    at: Floats


class Challengers(NamedTuple):
    """What is known of each arm as a challenger: its contour, its clock, and notes.

    The groups of old rewards are apart: to hand over many arrays takes as long as a duel, and certificates want none.
    """

    contours: Floats
    borders: Floats  # of the tails of QDS
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
        contour.make(n_arms), make_borders(n_arms), new_clocks(n_arms), known, lost, np.zeros(n_arms), shortfalls
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
    """To find the tail takes longer than to draw."""
    return TAIL_COST * n + TAIL_OVERHEAD


@jit
def plain_is_best(policy: Any, known: int, n: int) -> bool:
    """Whether a duel is best fought reward by reward: they are few, or the contour that would help knows none yet."""
    return n < CONTOUR_LEAST or (known == 0 and duel_cost(policy, n) > CROSSING_COST)


@jit
def worth_a_clock(policy: Any, n: int, log_p: float) -> bool:
    """Whether clocks are cheaper than duels for an arm with n rewards that wins so often."""
    return log_p < math.log(OFTEN * min(duel_cost(policy, n) / CROSSING_COST, 1.0))


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
def shortfall_bounds(shortfalls: Shortfalls, arm: int, x: Floats, m: float) -> tuple[float, float]:
    """Bounds of the mean shortfall of x at m: each shortfall moves by at most as much as m."""
    summed, sums, at = shortfalls.summed, shortfalls.short, shortfalls.at
    if x.size > summed[arm] + SHORTFALL_NEW_MOST:
        found = mean_shortfall(x, m)
        summed[arm], sums[arm], at[arm] = x.size, found * x.size, m
        return found, found
    short, move = sums[arm], (m - at[arm]) * summed[arm]
    for i in range(summed[arm], x.size):
        short += max(m - x[i], 0.0)
    slack = INDEX_SLACK * abs(short)
    return (short + min(move, 0.0) - slack) / x.size, (short + max(move, 0.0) + slack) / x.size


@jit_inline
def log_win_probability_of(policy: Any, challengers: Challengers, arm: int, x: Floats, b: float, m: float) -> float:
    """The same for the contour of this arm."""
    known = challengers.known[arm]
    challengers.known[arm] = x.size
    return log_win_probability(policy, challengers.contours[arm], challengers.borders[arm], known, x, b, m)


@inlined_verb
def quick_duel(
    policy: Any, state: History, challengers: Challengers, groups: Groups, arm: int, m: float, rng: Any
) -> Any:
    """The duel of a challenger whose mean is below the leader's, m; in law."""


@implements(quick_duel, BDSParams, RDSParams)
def duel_by_groups(
    policy: Any,
    state: History,
    challengers: Challengers,
    groups: Groups,
    arm: int,
    m: float,
    rng: np.random.Generator,
) -> bool:
    """Old rewards together, new ones one by one."""
    x, largest = rewards(state, arm), state.highs[arm]
    total, _ = weighted_sum(groups, arm, x, state.means[arm], m, rng)
    weight = rng.standard_exponential()
    least, most = shortfall_bounds(challengers.shortfalls, arm, x, m)
    if total + weight * (bonus(policy, x.size, largest, least, m) - m) >= 0.0:
        return True
    if total + weight * (bonus(policy, x.size, largest, most, m) - m) < 0.0:
        return False
    return total + weight * (bonus(policy, x.size, largest, mean_shortfall(x, m), m) - m) >= 0.0


@implements(quick_duel, QDSParams)
def duel_by_probability(
    policy: QDSParams,
    state: History,
    challengers: Challengers,
    groups: Groups,
    arm: int,
    m: float,
    rng: np.random.Generator,
) -> bool:
    """Only its probability, not its index, is drawn on."""
    x = rewards(state, arm)
    b = bonus(policy, x.size, state.highs[arm], mean_shortfall(x, m), m)
    log_p = log_win_probability_of(policy, challengers, arm, x, b, m)
    if worth_a_clock(policy, x.size, log_p):
        challengers.lost[arm] = -1
    return rng.random() < math.exp(log_p)


@shared
def seek_certificate(
    policy: Any, state: History, challengers: Challengers, arm: int, m: float, now: int, rng: np.random.Generator
) -> None:
    """A certificate around m from the round ``now`` on, as wide as the arm's experience suggests."""
    challengers.lost[arm] = 0
    n, gap = state.pulls[arm], m - state.means[arm]
    if challengers.width[arm] == 0.0:  # a first guess: log p falls about as fast as for Gaussian rewards
        spread = 0.25 * (state.highs[arm] - state.lows[arm]) + gap
        challengers.width[arm] = CERTIFICATE_ROOM * spread * spread / (2.0 * n * gap)
    reach = min(challengers.width[arm], 0.5 * gap)
    if not m - reach > state.means[arm]:
        return
    x = rewards(state, arm)
    b = bonus(policy, n, state.highs[arm], shortfall_bounds(challengers.shortfalls, arm, x, m + reach)[1], m + reach)
    ceiling = log_win_probability_of(policy, challengers, arm, x, b, m - reach)
    if worth_a_clock(policy, n, ceiling):
        certify(challengers.clocks, arm, m - reach, m + reach, ceiling, now, rng)
        challengers.lost[arm] = -1


@jit_inline
def wins_at_ring(
    policy: Any, state: History, challengers: Challengers, arm: int, m: float, rng: np.random.Generator
) -> bool:
    """The clock of a challenger rings: does it really win?"""
    x, clocks = rewards(state, arm), challengers.clocks
    b = bonus(policy, x.size, state.highs[arm], mean_shortfall(x, m), m)
    short = log_win_probability_of(policy, challengers, arm, x, b, m) - clocks.ceiling[arm]
    # Next time a width for which the ceiling lies as far above the probability as we like.
    low, high = interval(clocks, arm)
    challengers.width[arm] = 0.5 * (high - low) * min(max(-CERTIFICATE_ROOM / min(short, -1e-3), 0.25), 2.0)
    return rng.random() < math.exp(short)


@jit_inline
def wins(
    policy: Any,
    state: History,
    challengers: Challengers,
    groups: Groups,
    arm: int,
    leader: int,
    now: int,
    rng: np.random.Generator,
) -> bool:
    """Whether an arm that is due in the round ``now`` wins."""
    m, clocks, lost = state.means[leader], challengers.clocks, challengers.lost
    if state.pulls[arm] == state.pulls[leader]:  # does not duel in this round
        if certified(clocks, arm):
            wind(clocks, arm, now, rng)
        return False
    if not certified(clocks, arm) and lost[arm] < 0 and state.means[arm] < m:
        seek_certificate(policy, state, challengers, arm, m, now, rng)
        if value_of(clocks.ring, arm) > now:
            return False
    if certified(clocks, arm):
        won = wins_at_ring(policy, state, challengers, arm, m, rng)
        if not won:
            wind(clocks, arm, now, rng)
        return won
    if state.means[arm] >= m or plain_is_best(policy, challengers.known[arm], state.pulls[arm]):
        won = verbs.duel(policy, state, arm, leader, rng)
    else:
        won = quick_duel(policy, state, challengers, groups, arm, m, rng)
    if not won and lost[arm] >= 0:
        lost[arm] += 1
        if lost[arm] * duel_cost(policy, state.pulls[arm]) >= CERTIFICATE_COST:
            seek_certificate(policy, state, challengers, arm, m, now + 1, rng)
    return won


@shared
def renew_certificates(
    policy: Any, state: History, challengers: Challengers, m: float, now: int, rng: np.random.Generator
) -> None:
    """The leader's mean has left some of the intervals: wider ones."""
    clocks = challengers.clocks
    while outside(clocks, m) >= 0:
        arm = outside(clocks, m)
        void(clocks, arm)
        challengers.width[arm] *= CERTIFICATE_WIDENING
        if state.means[arm] < m:
            seek_certificate(policy, state, challengers, arm, m, now, rng)


@jit
def change_leader(clocks: Clocks, lost: Ints, leader: int, new: int) -> int:
    """The old leader becomes a challenger."""
    if new != leader:
        void(clocks, leader)
        lost[leader] = 0
        silence(clocks, new)
    return new


@shortcut(BDSParams, RDSParams, QDSParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    n_arms = state.pulls.size
    play_rounds(policy, state, run, new_challengers(n_arms), make_groups(n_arms, np.empty(0)), rng)


@jit
def play_rounds(
    policy: Any, state: History, run: Run, challengers: Challengers, groups: Groups, rng: np.random.Generator
) -> None:
    """Rounds of duels until the run is over."""
    clocks, lost = challengers.clocks, challengers.lost
    tried, winners = np.empty_like(state.pulls), np.empty_like(state.pulls)
    pulls, means = state.pulls, state.means
    leader = change_leader(clocks, lost, 0, leader_of(pulls, means, rng))
    silence(clocks, leader)
    now, contested = 0, True  # contested: others have been pulled as often as the leader
    while not over(run):
        if contested:
            leader = change_leader(clocks, lost, leader, leader_of(pulls, means, rng))
        if outside(clocks, means[leader]) >= 0:
            renew_certificates(policy, state, challengers, means[leader], now, rng)
        n_winners = 0
        for arm in tried[: due(clocks, now, tried)]:
            if wins(policy, state, challengers, groups, arm, leader, now, rng):
                winners[n_winners] = arm
                n_winners += 1
        now += 1
        quiet = max(next_ring(clocks) - now, 0) + 1
        if n_winners == 0 and quiet > 1:
            # In the next rounds too the leader is pulled, until a clock rings or its mean leaves a certificate.
            state = with_room(state, leader)
            low, high = common_interval(clocks)
            now += stretch(run, state, leader, low, high, quiet) - 1
            contested = False
            continue
        shuffle(winners[:n_winners], rng)
        for i in range(max(n_winners, 1)):
            arm = winners[i] if n_winners > 0 else leader
            reward = pull(run, arm)
            if over(run):
                break
            state = append(state, arm, reward, reward)  # what `update` does for these policies
            if certified(clocks, arm):
                void(clocks, arm)
            lost[arm] = min(lost[arm], 0)
            contested = arm != leader and (contested or pulls[arm] >= pulls[leader])
