"""NPTS by a clock: the quadratic cost of drawing an index for every arm at every step goes, the law stays.

The leader is pulled unless some challenger's index V_k is above its own, V_0, and above all others. These events
exclude each other, so one clock waits for all of them; its ceiling is the sum over the challengers of

    q_k := P(V_k largest) <= P(V_k > V_0) = integral of f_k(v) P(V_0 < v) dv <= integral of t_k(v) c(v) dv =: r_k.

* t_k is a tangent of the density f_k in logarithmic scale, which is concave: it holds until the arm is pulled.
* c is the ceiling of the leader's distribution function: it holds while the leader does well enough.

Where an arm is nearly tied with the leader, r_k is the probability of a half-plane instead (``pairs.py``): the argument
below is the same.

When the clock rings, an arm is chosen in proportion to r_k and a v in proportion to t_k(v) c(v). The arm is pulled
with probability f_k(v)/t_k(v) * P(V_0 < v)/c(v), times that of all other challengers staying below v; else the leader.

Why waiting by the clock has the law of the plain loop, whenever it ends:

1. Thinning. A coin shows heads with probability r = sum r_k. If it does, k is chosen with probability r_k/r and pulled
   with probability q_k/r_k; in all other cases the leader is. So k is pulled with probability q_k, for any r_k >= q_k.
2. Waiting. As long as tangents and ceiling stay the same so does r: the coins of these steps are independent of each
   other and of all rewards, and to draw the number of the first head is to toss the coins in advance.
3. Ending. Whether a certificate is good for a step follows from the leader's rewards before the step (``holds``), and
   is asked at every step, however near the clock is to ring. So the coins of the steps up to the end are used all
   alike, and those beyond it are thrown away without having been looked at. Were the question asked only now and then,
   for instance when a ring interrupts a stretch, more heads than tails would be thrown away: challengers would be
   pulled too seldom. So what makes a ceiling too high to be worth its while ends the certificate like what breaks it.
4. Ringing. The coin of that step is spent. Tangents may be drawn anew, and the next coins have the new r.
5. Leaving. Waiting begins and ends by rules that know the past alone; plain steps have the law anyway.
"""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.run import Run, ended, left, upcoming
from dirichlet_bandits.engine.stretch import pull_into_place, stretch, with_places
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, set_all, sum_of
from dirichlet_bandits.numerics.costs import INDEX_COST, LEADER_LEAST, PAIR_RING_COST, PLAIN_STEPS_MOST, RING_COST
from dirichlet_bandits.numerics.resampling import Groups, squares_about, weighted_sum
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.npts.ceiling import Ceiling, integral, make_ceiling
from dirichlet_bandits.policies.npts.challengers import (
    AT,
    FALL,
    MASS,
    PAIRED,
    RATE,
    Challengers,
    draw_tangent,
    log_tangent,
    new_challengers,
)
from dirichlet_bandits.policies.npts.frames import add_pulls, learn_frame, make_window, pulls_within
from dirichlet_bandits.policies.npts.pairs import HIGH, LOW, above, pair_rate
from dirichlet_bandits.policies.npts.rings import index_above_leader, no_rival, pair_above, rival_above
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats, Ints


@jit
def set_rate(tangents: Floats, ceiling: Ceiling, arm: int) -> None:
    """The rate r_k at which the clock rings for this arm, and the tangent's mass above the ceiling's mean."""
    part = np.empty(ceiling.pieces.shape[0])
    total = integral(ceiling, tangents[FALL, arm], part)
    value = math.exp(log_tangent(tangents, arm, ceiling.mean))
    tangents[RATE, arm] = value * total
    tangents[MASS, arm] = value / tangents[FALL, arm] if tangents[FALL, arm] > 0.0 else math.inf


@shared
def select_by_groups(policy: NPTSParams, state: History, groups: Groups, rng: np.random.Generator) -> int:
    """The policy's choice in law: the arm with the largest index, ties at random."""
    state, groups, rng = borrowed(state), borrowed(groups), borrowed(rng)
    best, largest, ties = 0, -math.inf, 0
    for arm in range(state.pulls.size):
        # Offsets from the bound keep ties exact.
        total, weight = weighted_sum(groups, arm, rewards(state, arm), state.means[arm], policy.upper, rng)
        best, largest, ties = larger(best, largest, ties, arm, total / weight, rng)
    return best


@jit
def worth_waiting(pulls: Ints, tangents: Floats) -> bool:
    """Whether rings at these rates are cheaper than plain steps."""
    rate = cost = 0.0
    for arm in range(pulls.size):
        rate += tangents[RATE, arm]
        cost += tangents[RATE, arm] * (PAIR_RING_COST if tangents[PAIRED, arm] > 0.0 else RING_COST)
    return rate <= 0.9 and cost <= min(sum_of(pulls), INDEX_COST * pulls.size)


@shared
def certify(policy: NPTSParams, state: History, challengers: Challengers, ceiling: Ceiling, arm: int) -> bool:
    """A rate for the arm as it is now; False if all rates together are too high to wait."""
    state, challengers = borrowed(state), borrowed(challengers)
    tangents, x = challengers.tangents, rewards(state, arm)
    learn_frame(challengers.frames, arm, x, state.lows[arm], policy.upper)
    if not pair_rate(challengers.frames, tangents, arm):
        if state.means[arm] >= ceiling.mean:
            return False
        draw_tangent(challengers, arm, x, policy.upper, ceiling.mean)
        set_rate(tangents, ceiling, arm)
    return worth_waiting(state.pulls, tangents)


@jit
def holds(ceiling: Ceiling, n: int, mean: float, low: float, squares: float) -> bool:
    """Whether the certificate is good for a leader as it is now."""
    return (
        ceiling.mean <= mean <= ceiling.high
        and n <= ceiling.most
        and squares <= ceiling.variance * n
        and low >= ceiling.low
    )


@jit
def pulls_below(ceiling: Ceiling, block: Floats, n: int, squares: float, centre: float) -> tuple[int, float]:
    """How many of the next rewards the leader may earn before their number, variance or a new low ends the
    certificate, and the sum of squares after them."""
    for i in range(block.size):
        squares += (block[i] - centre) ** 2
        if n + i >= ceiling.most or squares > ceiling.variance * (n + i + 1) or block[i] < ceiling.low:
            return i + 1, squares
    return block.size, squares


@jit
def watch(policy: NPTSParams, state: History, frames: Floats, leader: int) -> None:
    """A new window of the leader."""
    learn_frame(frames, leader, rewards(state, leader), state.lows[leader], policy.upper)
    make_window(frames[-1], frames[leader], state.lows[leader], policy.upper)


@shared
def wait_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, leader: int, rng: np.random.Generator
) -> None:
    """Pull the leader, and whoever beats it, while the clock rings seldom enough and there is room for rewards."""
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    pulls, means, lows, tangents, frames = (
        state.pulls,
        state.means,
        state.lows,
        challengers.tangents,
        challengers.frames,
    )
    upper, centre = policy.upper, means[leader]
    squares = squares_about(rewards(state, leader), centre)
    ceiling = make_ceiling(pulls[leader], centre, squares, lows[leader], upper)
    draws = np.empty((3, pulls.size))
    set_all(tangents[RATE], 0.0)
    set_all(tangents[PAIRED], 0.0)
    watch(policy, state, frames, leader)
    for arm in range(pulls.size):
        if arm != leader and not certify(policy, state, challengers, ceiling, arm):
            return
    total, quiet, wound, lost, pairs = 0.0, 0, False, 0, False
    while not ended(run.progress) and pulls[leader] < state.room[leader]:
        if not wound:
            pairs, total = sum_of(tangents[PAIRED]) > 0.0, sum_of(tangents[RATE])
            quiet = geometric(total, rng) - 1 + lost
            wound, lost = True, 0
        n, block = pulls[leader], upcoming(run, leader)
        held = holds(ceiling, n, means[leader], lows[leader], squares)
        within = pulls_within(frames[-1], frames[leader], block[:quiet], lows[leader]) if pairs else quiet
        if not held or within < 0:
            if not held:
                ceiling = make_ceiling(n, means[leader], squares, lows[leader], upper)
            if within < 0:
                make_window(frames[-1], frames[leader], lows[leader], upper)
            for arm in range(pulls.size):
                if tangents[PAIRED, arm] > 0.0:
                    if not pair_rate(frames, tangents, arm):
                        return
                elif arm != leader and not held:
                    set_rate(tangents, ceiling, arm)
            if not worth_waiting(pulls, tangents):
                return
            wound = False
            continue
        if quiet > 0:
            limit = min(within, state.room[leader] - n)
            calm, after = pulls_below(ceiling, block[:limit], n, squares, centre)
            done = stretch(run, state, leader, ceiling.mean, ceiling.high, calm)
            squares = after if done == calm else squares + squares_about(rewards(state, leader)[n:], centre)
            if pairs:
                add_pulls(frames, leader, rewards(state, leader), within)
            quiet -= done
            continue
        arm = ringing_arm(tangents[RATE], total, rng)
        if tangents[PAIRED, arm] > 0.0:
            found = pair_above(frames, tangents, lows, upper, draws, arm, leader, rng)
            wins = found > 0 or (found == 0 and above(policy, state, challengers, draws, arm, leader))
        else:
            v = index_above_leader(policy, state, challengers, ceiling, arm, leader, rng)
            draws[LOW, arm] = draws[HIGH, arm] = v - upper
            wins = not math.isnan(v)
        if wins:
            below, u = ceiling.mean - upper - draws[LOW, arm], rng.random()
            wins = no_rival(tangents, arm, leader, below, u) or not rival_above(
                policy, state, challengers, draws, arm, leader, below, u, rng
            )
        if wins and not pull_into_place(state, run, arm):
            return
        if wins or (tangents[PAIRED, arm] == 0.0 and tangents[AT, arm] != ceiling.mean):
            if not pairs:
                watch(policy, state, frames, leader)
            if not certify(policy, state, challengers, ceiling, arm):
                if not wins:
                    pull_into_place(state, run, leader)
                return
        wound, lost = False, 0 if wins else 1  # if it did not win, the leader is pulled in this step too


@shortcut(NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    play_by_clock(policy, state, run, new_challengers(state.pulls.size, policy.upper), rng)


@shared
def play_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, rng: np.random.Generator
) -> None:
    """Wait by the clock where that is worth while, plain steps between."""
    run, challengers, rng = borrowed(run), borrowed(challengers), borrowed(rng)
    patience, wait = PLAIN_STEPS_MOST, 0
    while not ended(run.progress):
        leader = argmax_of(state.means)
        if wait == 0 and state.pulls[leader] >= LEADER_LEAST:
            before, state = left(run.progress), with_places(state, leader)
            wait_by_clock(policy, state, run, challengers, leader, rng)
            patience = 0 if left(run.progress) < before - 8 else min(2 * patience + 1, PLAIN_STEPS_MOST)
            wait = patience
        else:
            state = with_places(state, -1)
            while not ended(run.progress):
                wait = max(wait - 1, 0)
                arm = select_by_groups(policy, state, challengers.groups, rng)
                if not pull_into_place(state, run, arm) or wait == 0:
                    break
