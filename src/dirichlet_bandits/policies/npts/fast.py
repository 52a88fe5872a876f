"""Steps of NPTS in which only the indices close to the leader's are drawn.

When arms are nearly tied, any of them may be pulled at every step, so their indices are drawn at every step. This is
cheap: with many rewards, an index is compared through its normal variable (``quantiles.py``); with fewer, its old
rewards are drawn as a group (``numerics/resampling.py``). All other arms are *far*: one clock waits until one of their
indices may be the largest. If the leader is clear, all other arms are far.

Why a step has the distribution of the plain loop:

1. The near arms' indices are drawn from their distributions; let v be the largest of them. If v is not surely above a
   number ``foot``, the indices of all other arms are drawn too, and the largest is pulled.
2. Otherwise, far arm k is pulled with probability q_k = P(V_k > v and V_k above all other far indices); else the near
   arm with the index v is pulled. As log-densities are concave, q_k is at most the mass r_k of the arm's tangent above
   the foot.
3. A coin shows heads with probability r = sum r_k. If it does, k is chosen with probability r_k/r, and y is drawn from
   the tangent above the foot. Then k is pulled if y > v, with probability density/tangent at y, and if no other far
   index is above y. The probability of all this together is q_k.
4. The coins are independent of the near arms' indices and of all rewards, and r stays the same until a far arm is
   pulled, so the number of the first head is drawn in advance.
5. A contest ends after a given number of steps, when a far arm is pulled, or after a step in which v was not above the
   foot. None of these depends on coins that are still to come.

NPTS without drawing every index. A run has the distribution of the plain loop.

The plain loop draws an index for every arm at every step, with one exponential per reward. After an opening in which
this is the cheapest way, the shortcut plays *contests*. In a contest, only the
indices of arms close to the leader are drawn, without one weight per reward, and one clock waits for all other arms.
For example, with ten arms of which two are nearly tied, two indices are drawn at most steps instead of ten.
"""

import math

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, shared
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.repeated_pulls import pull_into_place, with_places
from dirichlet_bandits.engine.run import Run, ended, pull_alone
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, sum_of
from dirichlet_bandits.numerics.costs import (
    CONTEST_SHARE,
    CONTEST_STEPS,
    FAR_CHEAP,
    FAR_EACH,
    FAR_MOST,
    FOOT,
    LEADER_LEAST,
    PLAIN_PULLS,
)
from dirichlet_bandits.numerics.expansion import normal_below
from dirichlet_bandits.numerics.resampling import weighted_sum
from dirichlet_bandits.policies.npts.challengers import (
    ContestRecords,
    index_below,
    is_largest,
    learn,
    log_tangent,
    new_challengers,
    refresh_tangent,
)
from dirichlet_bandits.policies.npts.quantiles import index_bounds
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Ints


@jit
def draw_index(state: History, challengers: ContestRecords, arm: int, rng: np.random.Generator) -> None:
    """Draw an index, measured from the bound: either bounds on it or the index itself."""
    drawn, fitted = challengers.draws[arm], challengers.polynomials[arm]
    if fitted.reach > 0.0:
        drawn.z = rng.standard_normal()
        drawn.low, drawn.high = index_bounds(fitted, drawn.z, state.lows[arm] - challengers.upper, False)
    else:
        x = rewards(state, arm)
        total, weight = weighted_sum(challengers.groups, arm, x, state.means[arm], challengers.upper, rng)
        drawn.low = drawn.high = total / weight


@shared
def drawn_below(state: History, challengers: ContestRecords, arm: int, v: float) -> bool:
    """Whether the index drawn for the arm lies below v, measured from the bound."""
    drawn = challengers.draws[arm]
    if v <= drawn.low or v >= drawn.high:
        return bool(drawn.low < v)
    return index_below(state, challengers, arm, challengers.upper + v, normal_below(drawn.z))


@shared
def index_is_larger(state: History, challengers: ContestRecords, first: int, second: int) -> bool:
    """Whether the first of two indices whose bounds overlap is larger.

    Finer bounds decide, or else a search for a number between the indices.
    """
    one, other = challengers.draws[first], challengers.draws[second]
    for k in (first, second):
        drawn, lowest = challengers.draws[k], state.lows[k] - challengers.upper
        if drawn.low < drawn.high:
            drawn.low, drawn.high = index_bounds(challengers.polynomials[k], drawn.z, lowest, True)
    # Usually the index that is known less well lies beyond one end of the other's bounds; if that one is exact, surely.
    wide, narrow = (first, other) if one.high - one.low > other.high - other.low else (second, one)
    if drawn_below(state, challengers, wide, narrow.low):
        return wide == second
    if not drawn_below(state, challengers, wide, narrow.high):
        return wide == first
    low, high = max(one.low, other.low), min(one.high, other.high)
    while True:
        v = 0.5 * (low + high)
        below = drawn_below(state, challengers, first, v)
        if below != drawn_below(state, challengers, second, v):
            return not below
        if not low < v < high:  # no number is between them
            return bool(one.low + one.high > other.low + other.high)
        low, high = (low, v) if below else (v, high)


@jit
def better(
    state: History, challengers: ContestRecords, best: int, ties: int, arm: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Return the arm with the largest index so far and how many arms tie for it, after one more arm."""
    if best < 0:
        return arm, 1
    largest, drawn = challengers.draws[best], challengers.draws[arm]
    if drawn.high < largest.low:
        return best, ties
    if drawn.low > largest.high:
        return arm, 1
    if drawn.low == largest.high and drawn.high == largest.low:
        return (arm if rng.random() * (ties + 1) < 1.0 else best), ties + 1
    return (arm, 1) if index_is_larger(state, challengers, arm, best) else (best, ties)


@shared
def split(state: History, challengers: ContestRecords, order: Ints, leader: int) -> tuple[int, float]:
    """Put the near arms first and set the masses of the others; return how many are near, and the foot."""
    fitted, tangents = challengers.polynomials, challengers.tangents
    near, far, total = 0, order.size, 0.0
    for arm in range(order.size):
        learn(state, challengers, arm)
    mean, deviation = challengers.upper + fitted[leader].mean, fitted[leader].deviation
    foot = mean - FOOT * deviation if state.pulls[leader] >= LEADER_LEAST else -math.inf
    for arm in range(order.size):
        tangent = tangents[arm]
        tangent.mass = 0.0
        if arm != leader and state.means[arm] + fitted[arm].deviation < foot:
            refresh_tangent(state, challengers, arm, mean, deviation)
            mass = math.exp(log_tangent(tangent, foot)) / tangent.fall
            most = FAR_CHEAP if fitted[arm].reach > 0.0 else FAR_EACH
            if 0.0 <= mass <= min(most, FAR_MOST - total):
                tangent.mass = mass
                total += mass
                far -= 1
                order[far] = arm
                continue
        order[near] = arm
        near += 1
    return near, foot


@shared
def far_winner(
    state: History, challengers: ContestRecords, total: float, foot: float, best: int, rng: np.random.Generator
) -> int:
    """Return the far arm that is pulled when the clock rings, or else the best of the near arms."""
    arm = ringing_arm(challengers.tangents["mass"], total, rng)
    y = foot + rng.standard_exponential() / challengers.tangents[arm].fall
    above = y < challengers.upper and drawn_below(state, challengers, best, y - challengers.upper)
    return arm if above and is_largest(state, challengers, arm, y, rng) else best


@jit
def largest_index(
    state: History, challengers: ContestRecords, order: Ints, near: int, foot: float, rng: np.random.Generator
) -> tuple[int, bool]:
    """Return the arm with the largest index, and whether far arms were drawn.

    The indices of the near arms are drawn, and those of the far arms if none of them is surely above the foot.
    """
    best, ties, i, drawn = -1, 0, 0, near
    while i < drawn:
        draw_index(state, challengers, order[i], rng)
        best, ties = better(state, challengers, best, ties, order[i], rng)
        i += 1
        if i == near and challengers.draws[best].low <= foot - challengers.upper:  # step 1
            drawn = order.size
    return best, drawn > near


@shared
def contest(
    state: History, run: Run, challengers: ContestRecords, order: Ints, leader: int, rng: np.random.Generator
) -> None:
    """Play some steps while there is room for rewards."""
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    order = borrowed(order)
    near, foot = split(state, challengers, order, leader)
    total, steps = sum_of(challengers.tangents["mass"]), CONTEST_STEPS + int(sum_of(state.pulls)) // CONTEST_SHARE
    quiet = geometric(total, rng)  # step 4
    while steps > 0:
        best, more = largest_index(state, challengers, order, near, foot, rng)
        quiet -= 1
        if more:
            steps = 0  # step 5
        elif quiet == 0:
            quiet, arm = geometric(total, rng), far_winner(state, challengers, total, foot, best, rng)  # step 3
            if arm != best:
                best, steps = arm, 0
        if not pull_into_place(state, run, best):
            return
        learn(state, challengers, best)
        steps -= 1


@shortcut(NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    state = play_opening(policy, state, run, rng)
    challengers, order = new_challengers(state.pulls.size, policy.upper), np.empty(state.pulls.size, np.int64)
    while not ended(run.progress):
        leader = argmax_of(state.means)
        state = with_places(state, leader)
        contest(state, run, challengers, order, leader, rng)


@shared
def play_opening(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> History:
    """Draw every index while the arms have few rewards, when this is the cheapest way."""
    run, rng = borrowed(run), borrowed(rng)
    for _ in range(int(sum_of(state.pulls)), PLAIN_PULLS * state.pulls.size):
        if ended(run.progress):
            break
        arm = verbs.select(policy, state, rng)
        state = verbs.update(policy, state, arm, pull_alone(run, arm), rng)
    return state
