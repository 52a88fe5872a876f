"""Dirichlet Sampling by clocks: the law of the plain loop, at a cost that a settled arm does not notice.

A challenger's data do not change while it loses; only the leader's mean m moves, and slowly. For m in [low, high]
its chance to win is at most p(threshold = low, bonus(high)), because the crossing probability falls in the
threshold and rises in the bonus, and every bonus rises with m. That is the certificate of its clock.

Challengers without a certificate duel in every round, as in the plain loop; after duels for about the price of a
certificate they get one.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.jit import borrowed, jit, jit_inline
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.dirichlet import BDSParams, QDSParams, RDSParams, bonus, excess
from dirichlet_bandits.policies.history import History, append, rewards
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.tally import shuffle
from dirichlet_bandits.policies.verbs import implements, play
from dirichlet_bandits.simulation.chances import (
    Desk,
    duels,
    effort,
    excess_bounds,
    log_chance,
    make_desk,
    plainly,
    worthwhile,
)
from dirichlet_bandits.simulation.clocks import (
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
from dirichlet_bandits.simulation.queue import value_of
from dirichlet_bandits.simulation.resampling import Groups, make_groups
from dirichlet_bandits.simulation.run import Run, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room

_PRICE = 1200  # a certificate costs about as much as exponentials for so many rewards
_ROOM = 0.25  # how far above the chance at m the ceiling may lie, in logarithm
_WIDEN = 1.5  # when the leader's mean leaves a certificate, the next one is so much wider


@jit
def seek_certificate(
    policy: Any,
    state: History,
    contours: Contours,
    desk: Desk,
    clocks: Clocks,
    arm: int,
    m: float,
    now: int,
    rng: np.random.Generator,
) -> None:
    """A certificate around m from the round ``now`` on, as wide as the arm's experience suggests."""
    desk.lost[arm] = 0
    n, gap = state.pulls[arm], m - state.means[arm]
    if desk.width[arm] == 0.0:  # a first guess: log p falls about as fast as for Gaussian rewards
        spread = 0.25 * (state.tops[arm] - state.lows[arm]) + gap
        desk.width[arm] = _ROOM * spread * spread / (2.0 * n * gap)
    reach = min(desk.width[arm], 0.5 * gap)
    if not m - reach > state.means[arm]:
        return
    x = rewards(state, arm)
    b = bonus(policy, n, state.tops[arm], excess_bounds(desk, arm, x, m + reach)[1], m + reach)
    ceiling = log_chance(policy, x, b, contours, desk, arm, m - reach)
    if worthwhile(policy, n, ceiling):
        certify(clocks, arm, m - reach, m + reach, ceiling, now, rng)
        desk.lost[arm] = -1


@jit
def rings(
    policy: Any,
    state: History,
    contours: Contours,
    desk: Desk,
    clocks: Clocks,
    arm: int,
    m: float,
    rng: np.random.Generator,
) -> bool:
    """The clock of a challenger rings: does it really win?"""
    x = rewards(state, arm)
    b = bonus(policy, x.size, state.tops[arm], excess(x, m), m)
    short = log_chance(policy, x, b, contours, desk, arm, m) - clocks.ceiling[arm]
    # Next time a width for which the ceiling lies as far above the chance as we like.
    low, high = interval(clocks, arm)
    desk.width[arm] = 0.5 * (high - low) * min(max(-_ROOM / min(short, -1e-3), 0.25), 2.0)
    return rng.random() < math.exp(short)


@jit_inline
def wins(
    policy: Any,
    state: History,
    contours: Contours,
    groups: Groups,
    desk: Desk,
    clocks: Clocks,
    arm: int,
    leader: int,
    now: int,
    rng: np.random.Generator,
) -> bool:
    """Whether an arm that is due in the round ``now`` wins."""
    m = state.means[leader]
    if state.pulls[arm] == state.pulls[leader]:  # does not duel in this round
        if certified(clocks, arm):
            wind(clocks, arm, now, rng)
        return False
    if not certified(clocks, arm) and desk.lost[arm] < 0 and state.means[arm] < m:
        seek_certificate(policy, state, contours, desk, clocks, arm, m, now, rng)
        if value_of(clocks.ring, arm) > now:
            return False
    if certified(clocks, arm):
        won = rings(policy, state, contours, desk, clocks, arm, m, rng)
        if not won:
            wind(clocks, arm, now, rng)
        return won
    if state.means[arm] >= m or plainly(policy, desk, arm, state.pulls[arm]):
        won = verbs.duel(policy, state, arm, leader, rng)
    else:
        x = rewards(state, arm)
        won = duels(policy, x, state.means[arm], state.tops[arm], m, contours, groups, desk, arm, rng)
    if not won and desk.lost[arm] >= 0:
        desk.lost[arm] += 1
        if desk.lost[arm] * effort(policy, state.pulls[arm]) >= _PRICE:
            seek_certificate(policy, state, contours, desk, clocks, arm, m, now + 1, rng)
    return won


@jit
def renew_certificates(
    policy: Any,
    state: History,
    contours: Contours,
    desk: Desk,
    clocks: Clocks,
    m: float,
    now: int,
    rng: np.random.Generator,
) -> None:
    """The leader's mean has left some of the intervals: wider ones."""
    while outside(clocks, m) >= 0:
        arm = outside(clocks, m)
        void(clocks, arm)
        desk.width[arm] *= _WIDEN
        if state.means[arm] < m:
            seek_certificate(policy, state, contours, desk, clocks, arm, m, now, rng)


@jit
def change_leader(clocks: Clocks, desk: Desk, leader: int, new: int) -> int:
    """The old leader becomes a challenger."""
    if new != leader:
        void(clocks, leader)
        desk.lost[leader] = 0
        silence(clocks, new)
    return new


@implements(play, BDSParams, RDSParams, QDSParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Nothing is known of the challengers yet."""
    n_arms = state.pulls.size
    groups, desk, clocks = make_groups(n_arms, np.empty(0)), make_desk(n_arms), new_clocks(n_arms)
    play_rounds(policy, state, run, contour.make(n_arms), groups, desk, clocks, rng)


@jit
def play_rounds(
    policy: Any,
    state: History,
    run: Run,
    contours: Contours,
    groups: Groups,
    desk: Desk,
    clocks: Clocks,
    rng: np.random.Generator,
) -> None:
    """Rounds of duels until the run is over."""
    contours, groups, desk, clocks = borrowed(contours), borrowed(groups), borrowed(desk), borrowed(clocks)
    tried, winners = np.empty_like(state.pulls), np.empty_like(state.pulls)
    pulls, means = state.pulls, state.means
    leader = change_leader(clocks, desk, 0, leader_of(pulls, means, rng))
    silence(clocks, leader)
    now, contested = 0, True  # contested: others have been pulled as often as the leader
    while not over(run):
        if contested:
            leader = change_leader(clocks, desk, leader, leader_of(pulls, means, rng))
        if outside(clocks, means[leader]) >= 0:
            renew_certificates(policy, state, contours, desk, clocks, means[leader], now, rng)
        n_winners = 0
        for arm in tried[: due(clocks, now, tried)]:
            if wins(policy, state, contours, groups, desk, clocks, arm, leader, now, rng):
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
            desk.lost[arm] = min(desk.lost[arm], 0)
            contested = arm != leader and (contested or pulls[arm] >= pulls[leader])
