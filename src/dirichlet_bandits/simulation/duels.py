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
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.dirichlet import BDSParams, QDSParams, RDSParams, bonus, excess, summarise_tail
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.tally import Floats, Ints, shuffle
from dirichlet_bandits.policies.verbs import implements, play, verb
from dirichlet_bandits.simulation.chances import log_crossing_anew
from dirichlet_bandits.simulation.clocks import Clocks, certify, new_clocks, void, wind
from dirichlet_bandits.simulation.run import Run, left, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room

_PRICE = 1200  # a certificate costs about as much as exponentials for so many rewards
_ROOM = 0.25  # how far above the chance at m the ceiling may lie, in logarithm
_WIDEN = 1.5  # when the leader's mean leaves a certificate, the next one is so much wider
_OFTEN = math.log(0.2)  # an arm that wins as often as this, with little data, is better off with duels


class Desk(NamedTuple):
    """What is noted of each challenger."""

    known: Ints  # rewards that an arm's contour has been told
    lost: Ints  # duels lost in a row without a certificate; -1 for an arm whose last chance was worth one
    width: Floats  # half-width of the next certificate


@verb
def resampled(policy: Any, x: Floats) -> Any:
    """What is reweighted for a challenger with rewards x: values and Dirichlet weights (none: all 1)."""


@implements(resampled, BDSParams, RDSParams)
def all_rewards(policy: Any, x: Floats) -> tuple[Floats, Floats]:
    """The rewards as they are."""
    return x, np.empty(0)


@implements(resampled, QDSParams)
def truncated_rewards(policy: QDSParams, x: Floats) -> tuple[Floats, Floats]:
    """The rewards below the tail, and the tail's mean with the weight of the tail."""
    below, tail_mean, tail_size = summarise_tail(x, policy.alpha)
    weights = np.ones(below.size + 1)
    weights[-1] = tail_size
    return np.append(below, tail_mean), weights


@jit
def log_chance(
    policy: Any, state: History, contours: Contours, desk: Desk, arm: int, m: float, m_bonus: float
) -> float:
    """log P(index >= m) with the bonus that belongs to a leader's mean of ``m_bonus``."""
    x = rewards(state, arm)
    b = bonus(policy, x.size, state.tops[arm], excess(x, m_bonus), m_bonus)
    if desk.known[arm] == x.size:
        log_p, error = contour.evaluate(contours, arm, m, b)
        if error <= CLOCK_ERROR:
            return log_p
    values, weights = resampled(policy, x)
    desk.known[arm] = x.size
    return log_crossing_anew(contours, arm, values, weights, b, m)


@jit
def seek_certificate(
    policy: Any, state: History, contours: Contours, desk: Desk, clocks: Clocks, arm: int, m: float
) -> None:
    """A certificate around m, as wide as the arm's experience suggests."""
    void(clocks, arm)
    desk.lost[arm] = 0
    n, gap = state.pulls[arm], m - state.means[arm]
    if desk.width[arm] == 0.0:  # a first guess: log p falls about as fast as for Gaussian rewards
        spread = 0.25 * (state.tops[arm] - state.lows[arm]) + gap
        desk.width[arm] = _ROOM * spread * spread / (2.0 * n * gap)
    reach = min(desk.width[arm], 0.5 * gap)
    if not m - reach > state.means[arm]:
        return
    ceiling = log_chance(policy, state, contours, desk, arm, m - reach, m + reach)
    if ceiling < _OFTEN or n > _PRICE:
        certify(clocks, arm, m - reach, m + reach, ceiling)
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
    short = log_chance(policy, state, contours, desk, arm, m, m) - clocks.ceiling[arm]
    # Next time a width for which the ceiling lies as far above the chance as we like.
    desk.width[arm] = 0.5 * (clocks.high[arm] - clocks.low[arm]) * min(max(-_ROOM / min(short, -1e-3), 0.25), 2.0)
    return rng.random() < math.exp(short)


@jit
def pull_challenger(
    policy: Any,
    state: History,
    contours: Contours,
    desk: Desk,
    clocks: Clocks,
    run: Run,
    arm: int,
    rng: np.random.Generator,
) -> History:
    """A new reward: the arm's certificate is void, its contour learns."""
    reward = pull(run, arm)
    if over(run):
        return state
    if desk.known[arm] == state.pulls[arm]:
        learn(policy, contours, arm, rewards(state, arm), reward)
        desk.known[arm] += 1
    void(clocks, arm)
    desk.lost[arm] = min(desk.lost[arm], 0)
    return verbs.update(policy, state, arm, reward, rng)


@verb
def learn(policy: Any, contours: Contours, arm: int, x: Floats, reward: float) -> Any:
    """Bring the contour of an arm with rewards x up to date with one more."""


@implements(learn, BDSParams, RDSParams)
def learn_reward(policy: Any, contours: Contours, arm: int, x: Floats, reward: float) -> None:
    """One more value."""
    contour.append(contours, arm, reward, 1)


@implements(learn, QDSParams)
def learn_truncated(policy: QDSParams, contours: Contours, arm: int, x: Floats, reward: float) -> None:
    """At most one value changes sides, and the tail gets a new mean and size."""
    below, tail_mean, tail_size = summarise_tail(x, policy.alpha)
    longer = np.append(x, reward)
    new_below, new_mean, new_size = summarise_tail(longer, policy.alpha)
    if new_below.size == below.size:
        if below.size > 0 and reward < below.max():
            contour.append(contours, arm, reward, 1)
            contour.append(contours, arm, below.max(), -1)
    else:
        contour.append(contours, arm, new_below.max() if reward >= new_below.max() else reward, 1)
    contour.append(contours, arm, tail_mean, -tail_size)
    contour.append(contours, arm, new_mean, new_size)


@implements(play, BDSParams, RDSParams, QDSParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Rounds of duels until the run is over."""
    n_arms = state.pulls.size
    clocks = new_clocks(n_arms)
    contours = contour.make(n_arms)
    desk = Desk(np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(n_arms))
    winners = np.empty(n_arms, np.int64)
    now = 0
    pulls, means, lows, highs, ring, lost = state.pulls, state.means, clocks.low, clocks.high, clocks.ring, desk.lost
    while not over(run):
        leader = leader_of(pulls, means, rng)
        m = means[leader]
        n_winners, next_ring, low, high = 0, now + left(run), -np.inf, np.inf
        calm = True  # every other arm stands under a certificate
        for arm in range(n_arms):
            if arm == leader:
                continue
            if pulls[arm] == pulls[leader]:  # does not duel in this round, but will in the next
                calm = False
                continue
            won = False
            if lost[arm] < 0 and not lows[arm] <= m <= highs[arm] and means[arm] < m:
                if lows[arm] < np.inf:  # the leader's mean has left the interval: a wider one
                    desk.width[arm] *= _WIDEN
                seek_certificate(policy, state, contours, desk, clocks, arm, m)
                wind(clocks, arm, now - 1, rng)
            if lows[arm] <= m <= highs[arm]:
                if ring[arm] < now:  # it rang while the arm did not duel
                    wind(clocks, arm, now - 1, rng)
                if ring[arm] == now:
                    won = rings(policy, state, contours, desk, clocks, arm, m, rng)
                    if not won:
                        wind(clocks, arm, now, rng)
            else:
                won = verbs.duel(policy, state, arm, leader, rng)
                if not won:
                    lost[arm] += 1
                    if lost[arm] * (pulls[arm] + 12) >= _PRICE:
                        seek_certificate(policy, state, contours, desk, clocks, arm, m)
                        wind(clocks, arm, now, rng)
                    calm = calm and lows[arm] <= m <= highs[arm]
            if won:
                winners[n_winners] = arm
                n_winners += 1
            if lows[arm] < highs[arm]:
                low, high = max(low, lows[arm]), min(high, highs[arm])
            next_ring = min(next_ring, ring[arm])
        now += 1
        if n_winners > 0:
            shuffle(winners[:n_winners], rng)
            for arm in winners[:n_winners]:
                if not over(run):
                    state = pull_challenger(policy, state, contours, desk, clocks, run, arm, rng)
        else:
            state = with_room(state, leader)
            # In the next rounds too the leader is pulled, until a clock rings or its mean leaves a certificate.
            now += stretch(run, state, leader, low, high, next_ring - now + 1 if calm else 1) - 1
