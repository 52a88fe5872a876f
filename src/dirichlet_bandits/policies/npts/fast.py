"""NPTS by a clock: the quadratic cost of drawing an index for every arm at every step goes, the law stays.

The leader is pulled unless some challenger's index V_k is above its own, V_0, and above all others. These events
exclude each other, so one clock waits for all of them; its ceiling is the sum over the challengers of

    q_k := P(V_k largest) <= P(V_k > V_0) = integral of f_k(v) P(V_0 < v) dv <= integral of t_k(v) c(v) dv =: r_k.

* t_k is a tangent of the density f_k in logarithmic scale, which is concave: it holds until the arm is pulled.
* c is the ceiling of the leader's distribution function: it holds while the leader does well enough.

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
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History, append, rewards
from dirichlet_bandits.engine.run import Run, left, over, pull, upcoming
from dirichlet_bandits.engine.stretch import stretch, with_room
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import argmax_of, shifted, sum_of, with_last
from dirichlet_bandits.numerics.characteristic import below
from dirichlet_bandits.numerics.costs import INDEX_COST, LEADER_LEAST, PLAIN_STEPS_MOST, RING_COST
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.resampling import Groups, learn_law, make_groups, squares_about, weighted_sum
from dirichlet_bandits.numerics.tolerances import CHARACTERISTIC_ERROR, CLOCK_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.npts.ceiling import Ceiling, draw, integral, log_ceiling, make_ceiling
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats, Ints

_MIDDLE = 4.5  # standard deviations from the mean within which the leader's index nearly always is


# Rows of the tangents, a column an arm (one array: Numba counts references): where the tangent of the log-density
# touches, the value there, how fast it falls; the rate r_k; how many rewards the arm's contour knows.
_AT, _VALUE, _FALL, _RATE, _KNOWN = range(5)


class Challengers(NamedTuple):
    """What is known of each arm: its contour, its old rewards as a group, the tangent of its index's log-density."""

    contours: Floats
    groups: Groups
    tangents: Floats


@shared
def new_challengers(n_arms: int, upper: float) -> Challengers:
    """Nothing is known yet."""
    return Challengers(contour.make(n_arms), make_groups(n_arms, np.full(1, upper)), np.zeros((5, n_arms)))


@jit
def log_tangent(tangents: Floats, arm: int, v: float) -> float:
    """Tangent of the arm's log-density, at v."""
    return tangents[_VALUE, arm] - tangents[_FALL, arm] * (v - tangents[_AT, arm])


@jit
def log_density_of(challengers: Challengers, arm: int, x: Floats, b: float, v: float) -> tuple[float, float]:
    """log f(v) and its slope for the arm's index; the contour is built anew where it does not cover v."""
    kept = challengers.contours[arm]
    log_f, slope, error = log_density(kept, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    contour.build(kept, x, np.empty(0), b, v)
    log_f, slope, error = log_density(kept, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    return log_density_anew(with_last(x, b), v)


@shared
def draw_tangent(challengers: Challengers, arm: int, x: Floats, b: float, v: float) -> None:
    """The tangent at v; the arm's contour learns the rewards that it does not know yet, or is built anew."""
    kept, tangents = challengers.contours[arm], challengers.tangents
    if 2 * tangents[_KNOWN, arm] >= x.size:
        for value in x[int(tangents[_KNOWN, arm]) :]:
            contour.append(kept, value, 1)
    else:  # a contour estimates its error for the rewards that it knows, whatever the others
        contour.build(kept, x, np.empty(0), b, v)
    tangents[_KNOWN, arm] = x.size
    value, slope = log_density_of(challengers, arm, x, b, v)
    tangents[_AT, arm], tangents[_VALUE, arm], tangents[_FALL, arm] = v, value, -slope


@jit
def set_rate(tangents: Floats, ceiling: Ceiling, arm: int) -> float:
    """The rate r_k at which the clock rings for this arm."""
    part = np.empty(ceiling.pieces.shape[0])
    total = integral(ceiling, tangents[_FALL, arm], part)
    tangents[_RATE, arm] = math.exp(log_tangent(tangents, arm, ceiling.mean)) * total
    return tangents[_RATE, arm]


@shared
def leader_below(
    policy: NPTSParams, state: History, groups: Groups, ceiling: Ceiling, leader: int, v: float, u: float
) -> bool:
    """Whether u < P(index < v) for the leader. Where the index hardly ever is, the edge of that region tells."""
    x, mean = rewards(state, leader), state.means[leader]
    law = learn_law(groups, leader, x, mean, math.sqrt(ceiling.variance))
    deviation = math.sqrt(ceiling.variance / x.size)
    inside = min(max(v, mean - _MIDDLE * deviation), mean + _MIDDLE * deviation)
    p, error = below(law, inside)
    if error <= CHARACTERISTIC_ERROR:
        if v >= inside and u < p:
            return True
        if v <= inside and u >= p:
            return False
    return u < -math.expm1(log_crossing(shifted(with_last(x, policy.upper), -v), np.empty(0)))


@shared
def index_above_leader(
    policy: NPTSParams,
    state: History,
    challengers: Challengers,
    ceiling: Ceiling,
    arm: int,
    leader: int,
    rng: np.random.Generator,
) -> float:
    """The clock rings for this arm: its index if it is above that of the leader, else NaN."""
    tangents = challengers.tangents
    piece, z = draw(ceiling, tangents[_FALL, arm], rng)
    v = ceiling.mean - z
    if not v < policy.upper:
        return math.nan
    log_f, _ = log_density_of(challengers, arm, rewards(state, arm), policy.upper, v)
    if rng.random() >= math.exp(log_f - log_tangent(tangents, arm, v)):
        return math.nan
    u = rng.random() * math.exp(log_ceiling(ceiling, piece, z))
    return v if leader_below(policy, state, challengers.groups, ceiling, leader, v, u) else math.nan


@shared
def rival_above(
    policy: NPTSParams,
    state: History,
    challengers: Challengers,
    arm: int,
    leader: int,
    v: float,
    rng: np.random.Generator,
) -> bool:
    """Whether the index of some third arm is above v; the tangent of its density usually tells that it is not."""
    contours, tangents, b = challengers.contours, challengers.tangents, policy.upper
    for k in range(state.pulls.size):
        if k != leader and k != arm:
            u = rng.random()
            fall = tangents[_FALL, k]
            if fall <= 0.0 or u * fall < math.exp(log_tangent(tangents, k, v)):
                log_p, error = contour.evaluate(contours[k], v, b)
                if not error <= CLOCK_ERROR:
                    log_p = log_crossing(shifted(with_last(rewards(state, k), b), -v), np.empty(0))
                if u < math.exp(log_p):
                    return True
    return False


@jit_inline
def pull_and_tell(state: History, run: Run, arm: int) -> History:
    """One pull outside of a stretch."""
    reward = pull(run, arm)
    return state if over(run) else append(state, arm, reward, reward)  # what `update` does for this policy


@shared
def select_by_groups(policy: NPTSParams, state: History, groups: Groups, rng: np.random.Generator) -> int:
    """The policy's choice in law: the arm with the largest index, ties at random."""
    best, largest, ties = 0, -math.inf, 0
    for arm in range(state.pulls.size):
        # Offsets from the bound keep ties exact.
        total, weight = weighted_sum(groups, arm, rewards(state, arm), state.means[arm], policy.upper, rng)
        best, largest, ties = larger(best, largest, ties, arm, total / weight, rng)
    return best


@jit
def highest_rate(pulls: Ints) -> float:
    """The rate of rings up to which waiting is cheaper than plain steps."""
    return min(min(sum_of(pulls), INDEX_COST * pulls.size) / RING_COST, 0.9)


@shared
def certify_all(policy: NPTSParams, state: History, challengers: Challengers, ceiling: Ceiling, leader: int) -> bool:
    """A tangent and a rate for everybody; False as soon as together they are too high to wait."""
    together, most = 0.0, highest_rate(state.pulls)
    challengers.tangents[_RATE, leader] = 0.0
    for arm in range(state.pulls.size):
        if arm != leader:
            if state.means[arm] >= ceiling.mean:
                return False
            draw_tangent(challengers, arm, rewards(state, arm), policy.upper, ceiling.mean)
            together += set_rate(challengers.tangents, ceiling, arm)
            if not together <= most:
                return False
    return True


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


@shared
def wait_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, leader: int, rng: np.random.Generator
) -> History:
    """Pull the leader, and whoever beats it, while the clock rings seldom enough."""
    pulls, means, lows, tangents = state.pulls, state.means, state.lows, challengers.tangents
    upper, centre = policy.upper, means[leader]
    squares = squares_about(rewards(state, leader), centre)
    ceiling = make_ceiling(pulls[leader], centre, squares, lows[leader], upper)
    if not certify_all(policy, state, challengers, ceiling, leader):
        return state
    quiet = geometric(math.log(sum_of(tangents[_RATE])), rng) - 1
    while not over(run):
        n = pulls[leader]
        if not holds(ceiling, pulls[leader], means[leader], lows[leader], squares):
            ceiling = make_ceiling(n, means[leader], squares, lows[leader], upper)
            for arm in range(pulls.size):
                if arm != leader:
                    set_rate(tangents, ceiling, arm)
            if not sum_of(tangents[_RATE]) <= highest_rate(pulls):
                return state
            quiet = geometric(math.log(sum_of(tangents[_RATE])), rng) - 1
        if quiet > 0:
            state = with_room(state, leader)
            calm, after = pulls_below(ceiling, upcoming(run, leader)[:quiet], n, squares, centre)
            done = stretch(run, state, leader, ceiling.mean, ceiling.high, calm)
            squares = after if done == calm else squares + squares_about(rewards(state, leader)[n:], centre)
            quiet -= done
            continue
        arm = ringing_arm(tangents[_RATE], sum_of(tangents[_RATE]), rng)
        v = index_above_leader(policy, state, challengers, ceiling, arm, leader, rng)
        wins = not math.isnan(v) and not rival_above(policy, state, challengers, arm, leader, v, rng)
        if wins:
            state = pull_and_tell(state, run, arm)
        if wins or tangents[_AT, arm] != ceiling.mean:
            draw_tangent(challengers, arm, rewards(state, arm), upper, ceiling.mean)
            set_rate(tangents, ceiling, arm)
            if not sum_of(tangents[_RATE]) <= highest_rate(pulls):
                return state if wins else pull_and_tell(state, run, leader)
        # If it did not win, the leader is pulled in this step too.
        quiet = geometric(math.log(sum_of(tangents[_RATE])), rng) - (1 if wins else 0)
    return state


@shortcut(NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    play_by_clock(policy, state, run, new_challengers(state.pulls.size, policy.upper), rng)


@jit
def play_by_clock(
    policy: NPTSParams, state: History, run: Run, challengers: Challengers, rng: np.random.Generator
) -> None:
    """Wait by the clock where that is worth while, plain steps between."""
    patience, wait = PLAIN_STEPS_MOST, 0
    while not over(run):
        leader = argmax_of(state.means)
        if wait == 0 and state.pulls[leader] >= LEADER_LEAST:
            before = left(run)
            state = wait_by_clock(policy, state, run, challengers, leader, rng)
            patience = 1 if left(run) < before - 8 else min(2 * patience, PLAIN_STEPS_MOST)
            wait = patience
        else:
            wait = max(wait - 1, 0)
            state = pull_and_tell(state, run, select_by_groups(policy, state, challengers.groups, rng))
