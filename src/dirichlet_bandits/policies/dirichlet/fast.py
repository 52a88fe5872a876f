"""Dirichlet Sampling by clocks: the law of the plain loop, at a cost that a settled arm does not notice.

A challenger's data do not change while it loses; only the leader's mean m moves, and slowly. For m in [low, high]
its probability to win is at most p(threshold = low, bonus(high)), because the crossing probability falls in the
threshold and rises in the bonus, and every bonus rises with m. That is the certificate of its clock.

Challengers without a certificate duel in every round, as in the plain loop; after duels for about the price of a
certificate they get one. What a duel costs, and how it is decided, stands in ``duels.py``.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import (
    Clocks,
    certified,
    certify,
    common_interval,
    due,
    interval,
    next_ring,
    outside,
    silence,
    void,
    wind,
)
from dirichlet_bandits.engine.history import History, reserve, rewards
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.stretch import stretch
from dirichlet_bandits.engine.tally import count, shuffle
from dirichlet_bandits.engine.tournament import value_of
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.costs import (
    CEILING_ERROR,
    CERTIFICATE_COST,
    CERTIFICATE_ROOM,
    CERTIFICATE_WIDENING,
    EXPANSION_LEAST,
)
from dirichlet_bandits.policies.dirichlet.duels import (
    Challengers,
    duel_by_probability,
    duel_cost,
    expanded_win,
    log_win_probability,
    new_challengers,
    plain_is_best,
    worth_a_clock,
)
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
)
from dirichlet_bandits.policies.dirichlet.sums import shortfall_bounds
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.types import Floats, Ints

_LEADER, _NOW, _CONTESTED = range(3)  # contested: others have been pulled as often as the leader


@shared
def seek_certificate(
    policy: Any, state: History, challengers: Challengers, arm: int, m: float, now: int, rng: np.random.Generator
) -> None:
    """A certificate around m from the round ``now`` on, as wide as the arm's experience suggests."""
    state, challengers, rng = borrowed(state), borrowed(challengers), borrowed(rng)
    challengers.lost[arm] = 0
    n, gap = state.pulls[arm], m - state.means[arm]
    if challengers.width[arm] == 0.0:  # a first guess: log p falls about as fast as for Gaussian rewards
        spread = 0.25 * (state.highs[arm] - state.lows[arm]) + gap
        challengers.width[arm] = CERTIFICATE_ROOM * spread * spread / (2.0 * n * gap)
    reach = min(challengers.width[arm], 0.5 * gap)
    if not m - reach > state.means[arm]:
        return
    x = rewards(state, arm)
    sample, kept, known = challengers.samples[arm], challengers.contours[arm], challengers.known[arm]
    b = bonus(policy, n, state.highs[arm], shortfall_bounds(sample, x, m + reach)[1], m + reach)
    ceiling = math.nan
    if n >= EXPANSION_LEAST:
        p, error, _ = expanded_win(policy, sample, kept[:0], x, state.lows[arm], state.highs[arm], b, b, m - reach)
        if error < CEILING_ERROR * p:
            ceiling = math.log(p + error)
    if math.isnan(ceiling):
        challengers.known[arm] = n
        ceiling = log_win_probability(policy, kept, challengers.borders[arm], sample, known, x, b, m - reach)
    if worth_a_clock(policy, sample, n, math.exp(ceiling)):
        certify(challengers.clocks, arm, m - reach, m + reach, ceiling, now, rng)
        challengers.lost[arm] = -1
    elif n >= EXPANSION_LEAST:
        challengers.width[arm] = 0.5 * reach


@jit
def adjust_width(clocks: Clocks, width: Floats, arm: int, short: float) -> None:
    """Next time a width for which the ceiling lies as far above the probability as we like; now it is so far."""
    low, high = interval(clocks, arm)
    width[arm] = 0.5 * (high - low) * min(max(-CERTIFICATE_ROOM / min(short, -1e-3), 0.25), 2.0)


@jit_inline
def wins(
    policy: Any,
    state: History,
    challengers: Challengers,
    arm: int,
    leader: int,
    now: int,
    rng: np.random.Generator,
) -> bool:
    """Whether an arm that is due in the round ``now`` wins."""
    m, clocks, lost, sample = state.means[leader], challengers.clocks, challengers.lost, challengers.samples[arm]
    if state.pulls[arm] == state.pulls[leader]:  # does not duel in this round
        if certified(clocks, arm):
            wind(clocks, arm, now, rng)
        return False
    if state.means[arm] >= m:  # without a certificate, which would have ended
        return True
    if not certified(clocks, arm) and lost[arm] < 0:
        seek_certificate(policy, state, challengers, arm, m, now, rng)
        if value_of(clocks.ring, arm) > now:
            return False
    timed = certified(clocks, arm)
    if not timed and plain_is_best(policy, sample, challengers.known[arm], state.pulls[arm]):
        won = verbs.duel(policy, state, arm, leader, rng)
    else:
        ceiling = clocks.ceiling[arm] if timed else 0.0
        won, chance = duel_by_probability(policy, state, challengers, arm, m, math.exp(ceiling), rng)
        if timed:
            if not won:
                wind(clocks, arm, now, rng)
            if not math.isnan(chance):
                adjust_width(clocks, challengers.width, arm, math.log(chance) - ceiling)
        elif worth_a_clock(policy, sample, state.pulls[arm], chance * (1.0 + 2.0 * CERTIFICATE_ROOM)):
            lost[arm] = -1  # a certificate's ceiling will be higher by its room
    if not (won or timed) and lost[arm] >= 0:
        lost[arm] += 1
        if lost[arm] * duel_cost(policy, sample, state.pulls[arm]) >= CERTIFICATE_COST:
            seek_certificate(policy, state, challengers, arm, m, now + 1, rng)
    return won


@shared
def renew_certificates(
    policy: Any, state: History, challengers: Challengers, m: float, now: int, rng: np.random.Generator
) -> None:
    """The leader's mean has left some of the intervals: wider ones."""
    state, challengers, rng = borrowed(state), borrowed(challengers), borrowed(rng)
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
    challengers, arms, at = new_challengers(n_arms), np.empty((2, n_arms), np.int64), np.zeros(3, np.int64)
    silence(challengers.clocks, at[_LEADER])  # until the first round
    at[_CONTESTED] = 1
    while not ended(run.progress):
        for arm in arms[0, : play_rounds(policy, state, run, challengers, arms, at, rng)]:
            state = reserve(state, arm, 1)


@partial(shared, sources_of=verbs.policy_sources)
def play_rounds(
    policy: Any,
    state: History,
    run: Run,
    challengers: Challengers,
    arms: Ints,
    at: Ints,
    rng: np.random.Generator,
) -> int:
    """Rounds of duels until the run is over, or an arm has no more room; how many arms the last round has pulled."""
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    pulls, means, pool, first, room = state.pulls, state.means, state.pool, state.start, state.room
    clocks, lost, winners, tried = challengers.clocks, challengers.lost, arms[0], arms[1]
    leader, now, contested = at[_LEADER], at[_NOW], at[_CONTESTED] > 0
    n_winners, full = 0, False
    while not full and not ended(run.progress):
        if contested:
            leader = change_leader(clocks, lost, leader, leader_of(pulls, means, rng))
        if outside(clocks, means[leader]) >= 0:
            renew_certificates(policy, state, challengers, means[leader], now, rng)
        n_winners = 0
        for arm in tried[: due(clocks, now, tried)]:
            if wins(policy, state, challengers, arm, leader, now, rng):
                winners[n_winners] = arm
                n_winners += 1
        now += 1
        quiet = max(next_ring(clocks) - now, 0) + 1
        if n_winners == 0:
            winners[0], n_winners = leader, 1
            if quiet > 1:
                # In the next rounds too the leader is pulled, until a clock rings or its mean leaves a certificate.
                low, high = common_interval(clocks)
                now += stretch(run, state, leader, low, high, min(quiet, room[leader] - pulls[leader])) - 1
                contested, full = False, pulls[leader] == room[leader]
                continue
        shuffle(winners[:n_winners], rng)
        for i in range(n_winners):
            arm = winners[i]
            reward = pull(run, arm)
            if ended(run.progress):
                break
            pool[first[arm] + pulls[arm]] = reward
            count(state, arm, reward)  # with that, what `update` does for these policies
            if certified(clocks, arm):
                void(clocks, arm)
            lost[arm] = min(lost[arm], 0)
            contested = arm != leader and (contested or pulls[arm] >= pulls[leader])
            full = full or pulls[arm] == room[arm]
    at[_LEADER], at[_NOW], at[_CONTESTED] = leader, now, contested
    return n_winners
