"""Dirichlet Sampling by clocks: the law of the plain loop, at a cost that a settled arm does not notice.

A challenger's data do not change while it loses; only the leader's mean m moves, and slowly. For m in [low, high]
its chance to win is at most p(threshold = low, bonus(high)), because the crossing probability falls in the
threshold and rises in the bonus, and every bonus rises with m. That is the certificate of its clock.

Challengers without a certificate duel in every round, as in the plain loop; after duels for about the price of a
certificate they get one.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.jit import borrowed, jit, jit_inline
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.dirichlet import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    excess,
)
from dirichlet_bandits.policies.history import History, reserve, rewards
from dirichlet_bandits.policies.reweighting import learn, resampled
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.tally import Floats, Ints, shuffle
from dirichlet_bandits.policies.verbs import implements, play, verb
from dirichlet_bandits.simulation.chances import log_crossing_anew
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
from dirichlet_bandits.simulation.run import BLOCK, Run, over, pull
from dirichlet_bandits.simulation.stretch import stretch

_PRICE = 1200  # a certificate costs about as much as exponentials for so many rewards
_CHEAP = 100  # a chance from a kept contour costs about as much as exponentials for so many rewards
_ROOM = 0.25  # how far above the chance at m the ceiling may lie, in logarithm
_WIDEN = 1.5  # when the leader's mean leaves a certificate, the next one is so much wider
_OFTEN = 0.4  # an arm that wins as often as this is better off without a certificate


class Desk(NamedTuple):
    """What is noted of each challenger."""

    known: Ints  # rewards that an arm's contour has been told
    lost: Ints  # duels lost in a row without a certificate; -1 for an arm whose last chance was worth one
    width: Floats  # half-width of the next certificate


@verb
def effort(policy: Any, n: int) -> Any:
    """What a duel of a challenger with n rewards costs, in exponentials."""


@implements(effort, BDSParams, RDSParams)
def effort_of_draws(policy: Any, n: int) -> int:
    """One for each reward."""
    return n + 12


@implements(effort, QDSParams)
def effort_of_tail(policy: QDSParams, n: int) -> int:
    """To find the tail takes longer than to draw."""
    return 3 * n + 80


@jit
def log_chance(
    policy: Any, state: History, contours: Contours, desk: Desk, arm: int, m: float, m_bonus: float
) -> float:
    """log P(index >= m) with the bonus that belongs to a leader's mean of ``m_bonus``."""
    x = rewards(state, arm)
    b = bonus(policy, x.size, state.tops[arm], excess(x, m_bonus), m_bonus)
    known = desk.known[arm]
    desk.known[arm] = x.size
    if 4 * (x.size - known) < x.size:
        for n in range(known, x.size):
            learn(policy, contours, arm, x[:n], x[n])
        log_p, error = contour.evaluate(contours, arm, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    values, weights = resampled(policy, x)
    return log_crossing_anew(contours, arm, values, weights, b, m)


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
    ceiling = log_chance(policy, state, contours, desk, arm, m - reach, m + reach)
    if worthwhile(policy, n, ceiling):
        certify(clocks, arm, m - reach, m + reach, ceiling, now, rng)
        desk.lost[arm] = -1


@jit
def worthwhile(policy: Any, n: int, log_p: float) -> bool:
    """Whether clocks are cheaper than duels for an arm with n rewards that wins so often."""
    return log_p < math.log(_OFTEN * min(effort(policy, n) / _CHEAP, 1.0))


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
    short = log_chance(policy, state, contours, desk, arm, m, m) - clocks.ceiling[arm]
    # Next time a width for which the ceiling lies as far above the chance as we like.
    low, high = interval(clocks, arm)
    desk.width[arm] = 0.5 * (high - low) * min(max(-_ROOM / min(short, -1e-3), 0.25), 2.0)
    return rng.random() < math.exp(short)


@jit
def duels(
    policy: Any,
    state: History,
    contours: Contours,
    desk: Desk,
    arm: int,
    leader: int,
    rng: np.random.Generator,
) -> bool:
    """The duel of a challenger without a certificate; with many rewards only its chance, not its index, is drawn on."""
    n, m = state.pulls[arm], state.means[leader]
    if effort(policy, n) <= _CHEAP or desk.known[arm] == 0 or state.means[arm] >= m:
        return verbs.duel(policy, state, arm, leader, rng)
    log_p = log_chance(policy, state, contours, desk, arm, m, m)
    if worthwhile(policy, n, log_p):
        desk.lost[arm] = -1
    return rng.random() < math.exp(log_p)


@jit_inline
def wins(
    policy: Any,
    state: History,
    contours: Contours,
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
    won = duels(policy, state, contours, desk, arm, leader, rng)
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


@jit_inline
def pull_challenger(
    policy: Any, state: History, desk: Desk, clocks: Clocks, run: Run, arm: int, rng: np.random.Generator
) -> History:
    """A new reward: the arm's certificate is void."""
    reward = pull(run, arm)
    if over(run):
        return state
    void(clocks, arm)
    desk.lost[arm] = min(desk.lost[arm], 0)
    return verbs.update(policy, state, arm, reward, rng)


@implements(play, BDSParams, RDSParams, QDSParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Nothing is known of the challengers yet."""
    n_arms = state.pulls.size
    desk = Desk(np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(n_arms))
    play_rounds(policy, state, run, contour.make(n_arms), desk, new_clocks(n_arms), rng)


@jit
def play_rounds(
    policy: Any,
    state: History,
    run: Run,
    contours: Contours,
    desk: Desk,
    clocks: Clocks,
    rng: np.random.Generator,
) -> None:
    """Rounds of duels until the run is over."""
    contours, desk, clocks = borrowed(contours), borrowed(desk), borrowed(clocks)
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
            if wins(policy, state, contours, desk, clocks, arm, leader, now, rng):
                winners[n_winners] = arm
                n_winners += 1
        now += 1
        if n_winners > 0:
            shuffle(winners[:n_winners], rng)
            for arm in winners[:n_winners]:
                if not over(run):
                    state = pull_challenger(policy, state, desk, clocks, run, arm, rng)
                    contested = contested or pulls[arm] >= pulls[leader]
        else:
            if state.room[leader] < pulls[leader] + BLOCK:
                state = reserve(state, leader, BLOCK)
            # In the next rounds too the leader is pulled, until a clock rings or its mean leaves a certificate.
            low, high = common_interval(clocks)
            now += stretch(run, state, leader, low, high, max(next_ring(clocks) - now, 0) + 1) - 1
            contested = False
