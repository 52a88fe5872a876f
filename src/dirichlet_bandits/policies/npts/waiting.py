"""Waiting for the challengers of a clear leader: the ring of the one clock, and the wait."""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.repeated_pulls import pull_into_place, pull_while
from dirichlet_bandits.engine.run import Run, ended, upcoming
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.costs import CONTEST_COST, INDEX_COST, RING_COST
from dirichlet_bandits.numerics.resampling import squares_about
from dirichlet_bandits.policies.npts.ceiling import Ceiling, draw, integral, log_ceiling, make_ceiling
from dirichlet_bandits.policies.npts.challengers import (
    Challengers,
    index_below,
    log_density_of,
    log_tangent,
    refresh_tangent,
    rival_above,
)
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats

_NEAR = 0.1  # a larger rate suggests that the arm would be near in a contest


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
    """Return how many of the next rewards the leader may earn before their number, variance or a new low ends the
    certificate, and the sum of squares after them."""
    for i in range(block.size):
        squares += (block[i] - centre) ** 2
        if n + i >= ceiling.most or squares > ceiling.variance * (n + i + 1) or block[i] < ceiling.low:
            return i + 1, squares
    return block.size, squares


@shared
def set_rate(challengers: Challengers, ceiling: Ceiling, arm: int) -> None:
    """Set the rate r_k at which the clock rings for the arm, and the tangent's mass above the ceiling's mean."""
    known = challengers.arms[arm]
    value = math.exp(log_tangent(known, ceiling.mean))
    known.rate = value * integral(ceiling, known.fall, np.empty(ceiling.pieces.size))
    known.mass = value / known.fall if known.fall > 0.0 else math.inf


@shared
def set_rates(policy: NPTSParams, state: History, challengers: Challengers, ceiling: Ceiling, leader: int) -> bool:
    """Set the rates of all challengers; False if they are too high to wait."""
    arms, room = challengers.arms, 2.0 * (ceiling.high - ceiling.mean)
    for arm in range(arms.size):
        if arm != leader and state.means[arm] + 1.5 * arms[arm].deviation >= ceiling.mean:
            return False
    for arm in range(arms.size):
        arms[arm].rate = arms[arm].mass = 0.0
        if arm != leader:
            refresh_tangent(policy, state, challengers, arm, ceiling.mean, room)
            set_rate(challengers, ceiling, arm)
            if not arms[arm].rate <= 0.9:
                return False
    return worth_waiting(state, challengers, leader)


@shared
def worth_waiting(state: History, challengers: Challengers, leader: int) -> bool:
    """Whether rings at these rates are cheaper than a contest."""
    arms = challengers.arms
    rate, cost = 0.0, float(CONTEST_COST)
    for arm in range(arms.size):
        rate += arms[arm].rate
        if (arm == leader or arms[arm].rate > _NEAR) and not arms[arm].reach > 0.0:
            cost += min(state.pulls[arm], INDEX_COST)
    return rate <= 0.9 and RING_COST * rate <= cost


@shared
def wins(
    policy: NPTSParams,
    state: History,
    challengers: Challengers,
    ceiling: Ceiling,
    arm: int,
    leader: int,
    rng: np.random.Generator,
) -> bool:
    """Whether the arm for which the clock rings is pulled (step 1)."""
    known = challengers.arms[arm]
    piece, z = draw(ceiling, known.fall, rng)
    v = ceiling.mean - z
    if not v < policy.upper:
        return False
    u, keep = rng.random() * math.exp(log_ceiling(ceiling, piece, z)), rng.random()
    if not index_below(policy, state, challengers, ceiling.variance, leader, v, u):  # usually the cheaper question
        return False
    log_f, _ = log_density_of(challengers, arm, rewards(state, arm), policy.upper, v)
    if keep >= math.exp(log_f - log_tangent(known, v)):
        return False
    return not rival_above(policy, state, challengers, arm, v, ceiling.mean, rng)


@shared
def wait_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, leader: int, rng: np.random.Generator
) -> None:
    """Pull the leader, and the arms that beat it, while the clock rings seldom enough and there is room for rewards."""
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    pulls, means, lows, arms = state.pulls, state.means, state.lows, challengers.arms
    centre = means[leader]
    squares = squares_about(rewards(state, leader), centre)
    ceiling = make_ceiling(pulls[leader], centre, squares, lows[leader], policy.upper)
    if not set_rates(policy, state, challengers, ceiling, leader):
        return
    total, quiet = 0.0, -1  # the clock is not set
    while not ended(run.progress) and pulls[leader] < state.room[leader]:
        n = pulls[leader]
        if not holds(ceiling, n, means[leader], lows[leader], squares):  # step 3
            ceiling, quiet = make_ceiling(n, means[leader], squares, lows[leader], policy.upper), -1
            if not set_rates(policy, state, challengers, ceiling, leader):
                return
        if quiet < 0:
            total = sum_of(arms.rate)
            quiet = geometric(total, rng) - 1  # step 2
        if quiet > 0:
            block = upcoming(run, leader)[: min(quiet, state.room[leader] - n)]
            calm, after = pulls_below(ceiling, block, n, squares, centre)
            done = pull_while(run, state, leader, ceiling.mean, ceiling.high, calm)
            squares = after if done == calm else squares + squares_about(rewards(state, leader)[n:], centre)
            quiet -= done
            continue
        arm, quiet = ringing_arm(arms.rate, total, rng), -1  # step 4
        won = wins(policy, state, challengers, ceiling, arm, leader, rng)
        if not pull_into_place(state, run, arm if won else leader):
            return
        if not won:
            squares += (rewards(state, leader)[n] - centre) ** 2
        if won or arms[arm].at != ceiling.mean:
            if state.means[arm] >= ceiling.mean:
                return
            refresh_tangent(policy, state, challengers, arm, ceiling.mean, 0.0)
            set_rate(challengers, ceiling, arm)
            if not worth_waiting(state, challengers, leader):
                return
