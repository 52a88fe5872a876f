"""NPTS by a clock: the quadratic cost of drawing an index for every arm at every step goes, the law stays.

The leader is pulled unless some challenger's index V_k is above its own, V_0, and above all others. These events
exclude each other, so one clock waits for all of them; its ceiling is the sum over the challengers of

    P(V_k largest) <= P(V_k > V_0) = integral of f_k(v) P(V_0 < v) dv <= integral of t_k(v) c(v) dv =: r_k.

* t_k is a tangent of the density f_k in logarithmic scale, which is concave: it holds until the arm is pulled.
* c is the ceiling of the leader's distribution function: it holds while the leader does well enough.

When the clock rings, an arm is chosen in proportion to r_k and a v in proportion to t_k(v) c(v). The arm is pulled
with probability f_k(v)/t_k(v) * P(V_0 < v)/c(v), times that of all other challengers staying below v; else the leader.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.axis import Axis, below, forget, learn, make_axis
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import AXIS_ERROR, CLOCK_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.npts import NPTSParams
from dirichlet_bandits.policies.tally import Floats, Ints
from dirichlet_bandits.policies.verbs import implements, play
from dirichlet_bandits.simulation.ceiling import Ceiling, draw, integral, log_ceiling, make_ceiling
from dirichlet_bandits.simulation.clocks import geometric
from dirichlet_bandits.simulation.run import Run, ahead, left, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room

_RING = 500  # a ring costs about as much as indices from so many rewards
_LEAST = 32  # rewards of a leader
_PATIENCE = 64  # plain steps at most between two campaigns
_MIDDLE = 3.5  # standard deviations from the mean within which the leader's index nearly always is
_HIGHER, _MORE = 1.0, 1.5  # standard deviations of the mean, factor of rewards, after which a ceiling is too high


class Tangents(NamedTuple):
    """For each arm the tangent of its log-density: where it touches, the value there, how fast it falls; the rate r_k,
    and how many rewards its contour knows."""

    at: Floats
    value: Floats
    fall: Floats
    rate: Floats
    known: Ints


@jit
def log_tangent(tangents: Tangents, arm: int, v: float) -> float:
    """Of the arm's density, at v."""
    return tangents.value[arm] - tangents.fall[arm] * (v - tangents.at[arm])


@jit
def touch(contours: Contours, tangents: Tangents, arm: int, x: Floats, b: float, v: float) -> None:
    """The tangent at v; the arm's contour learns the rewards that it does not know yet."""
    if 2 * tangents.known[arm] >= x.size:
        for value in x[tangents.known[arm] :]:
            contour.append(contours, arm, value, 1)
    tangents.known[arm] = x.size
    value, slope = sure_density(contours, arm, x, b, v)
    tangents.at[arm], tangents.value[arm], tangents.fall[arm] = v, value, -slope


@jit
def sure_density(contours: Contours, arm: int, x: Floats, b: float, v: float) -> tuple[float, float]:
    """log f(v) and its slope; the contour is built anew where it does not cover v."""
    log_f, slope, error = log_density(contours, arm, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    contour.build(contours, arm, x, np.empty(0), b, v)
    log_f, slope, error = log_density(contours, arm, v, b)
    if error <= DENSITY_ERROR:
        return log_f, slope
    return log_density_anew(np.append(x, b), v)


@jit
def set_rate(tangents: Tangents, ceiling: Ceiling, arm: int) -> float:
    """r_k."""
    part = np.empty(ceiling.pieces.shape[0])
    total = integral(ceiling, tangents.fall[arm], part)
    tangents.rate[arm] = math.exp(log_tangent(tangents, arm, ceiling.mean)) * total
    return tangents.rate[arm]


@jit
def leader_below(axis: Axis, x: Floats, b: float, mean: float, variance: float, v: float, u: float) -> bool:
    """Whether u < P(index < v) for the leader. Where the index hardly ever is, the edge of that region tells."""
    learn(axis, x, b, mean, math.sqrt(variance))
    deviation = math.sqrt(variance / x.size)
    inside = min(max(v, mean - _MIDDLE * deviation), mean + _MIDDLE * deviation)
    p, error = below(axis, inside)
    if error <= AXIS_ERROR:
        if v >= inside and u < p:
            return True
        if v <= inside and u >= p:
            return False
    return u < -math.expm1(log_crossing(np.append(x, b) - v, np.empty(0)))


@jit
def rival_above(
    state: History,
    contours: Contours,
    tangents: Tangents,
    leader: int,
    arm: int,
    b: float,
    v: float,
    rng: np.random.Generator,
) -> bool:
    """Whether the index of some third arm is above v; the tangent of its density usually tells that it is not."""
    for k in range(state.pulls.size):
        if k != leader and k != arm:
            u = rng.random()
            fall = tangents.fall[k]
            if fall <= 0.0 or u * fall < math.exp(log_tangent(tangents, k, v)):
                log_p, error = contour.evaluate(contours, k, v, b)
                if not error <= CLOCK_ERROR:
                    log_p = log_crossing(np.append(rewards(state, k), b) - v, np.empty(0))
                if u < math.exp(log_p):
                    return True
    return False


@jit
def who_rings(rates: Floats, rng: np.random.Generator) -> int:
    """An arm in proportion to its rate; the leader's is 0."""
    u = rng.random() * rates.sum()
    arm = 0
    for k in range(rates.size):
        if rates[k] > 0.0:
            arm = k
            if u < rates[k]:
                break
            u -= rates[k]
    return arm


@jit
def challenger_wins(
    policy: NPTSParams,
    state: History,
    contours: Contours,
    axis: Axis,
    tangents: Tangents,
    ceiling: Ceiling,
    leader: int,
    arm: int,
    rng: np.random.Generator,
) -> bool:
    """The clock rings for this arm: is its index the largest?"""
    b = policy.upper
    piece, z = draw(ceiling, tangents.fall[arm], rng)
    v = ceiling.mean - z
    if not v < b:
        return False
    log_f, _ = sure_density(contours, arm, rewards(state, arm), b, v)
    if rng.random() >= math.exp(log_f - log_tangent(tangents, arm, v)):
        return False
    u = rng.random() * math.exp(log_ceiling(ceiling, piece, z))
    return leader_below(
        axis, rewards(state, leader), b, state.means[leader], ceiling.variance, v, u
    ) and not rival_above(state, contours, tangents, leader, arm, b, v, rng)


@jit
def pull_and_tell(policy: NPTSParams, state: History, run: Run, arm: int, rng: np.random.Generator) -> History:
    """One pull outside of a stretch."""
    reward = pull(run, arm)
    return state if over(run) else verbs.update(policy, state, arm, reward, rng)


@jit
def worth(pulls: Ints) -> float:
    """A campaign is worth while if its clock rings less often."""
    return min(pulls.sum() / _RING, 0.9)


@jit
def muster(
    policy: NPTSParams, state: History, contours: Contours, tangents: Tangents, ceiling: Ceiling, leader: int
) -> bool:
    """A tangent for everybody; False as soon as together they are too high for a campaign."""
    together, most = 0.0, worth(state.pulls)
    tangents.rate[leader] = 0.0
    for arm in range(state.pulls.size):
        if arm != leader:
            if state.means[arm] >= ceiling.mean:
                return False
            touch(contours, tangents, arm, rewards(state, arm), policy.upper, ceiling.mean)
            together += set_rate(tangents, ceiling, arm)
            if not together <= most:
                return False
    return True


@jit
def holds(ceiling: Ceiling, state: History, leader: int, squares: float) -> bool:
    """Whether the ceiling is one for the leader as it is now, and not far too high."""
    n, above = state.pulls[leader], state.means[leader] - ceiling.mean
    return (
        0.0 <= above <= _HIGHER * ceiling.deviation
        and n <= _MORE * ceiling.n
        and squares <= ceiling.variance * n
        and state.lows[leader] >= ceiling.low
    )


@jit
def pulls_below(ceiling: Ceiling, block: Floats, n: int, squares: float, centre: float) -> int:
    """How many of the next rewards the leader may earn before its variance or a new low breaks the ceiling."""
    for i in range(block.size):
        squares += (block[i] - centre) ** 2
        if squares > ceiling.variance * (n + i + 1) or block[i] < ceiling.low:
            return i + 1
    return block.size


@jit
def squares_about(x: Floats, centre: float) -> float:
    """Sum of squared distances."""
    total = 0.0
    for value in x:
        total += (value - centre) ** 2
    return total


@jit
def campaign(
    policy: NPTSParams,
    state: History,
    run: Run,
    contours: Contours,
    axis: Axis,
    tangents: Tangents,
    leader: int,
    rng: np.random.Generator,
) -> History:
    """Pull the leader, and whoever beats it, while the clock rings seldom enough."""
    upper, centre = policy.upper, state.means[leader]
    squares = squares_about(rewards(state, leader), centre)
    ceiling = make_ceiling(state.pulls[leader], centre, squares, state.lows[leader], upper)
    if not muster(policy, state, contours, tangents, ceiling, leader):
        return state
    forget(axis)
    quiet = geometric(math.log(tangents.rate.sum()), rng) - 1
    while not over(run):
        n = state.pulls[leader]
        if not holds(ceiling, state, leader, squares):
            ceiling = make_ceiling(n, state.means[leader], squares, state.lows[leader], upper)
            for arm in range(state.pulls.size):
                if arm != leader:
                    set_rate(tangents, ceiling, arm)
            if not tangents.rate.sum() <= worth(state.pulls):
                return state
            quiet = geometric(math.log(tangents.rate.sum()), rng) - 1
        if quiet > 0:
            state = with_room(state, leader)
            calm = min(quiet, pulls_below(ceiling, ahead(run, leader), n, squares, centre))
            quiet -= stretch(run, state, leader, ceiling.mean, math.inf, calm)
            squares += squares_about(rewards(state, leader)[n:], centre)
            continue
        arm = who_rings(tangents.rate, rng)
        if challenger_wins(policy, state, contours, axis, tangents, ceiling, leader, arm, rng):
            state = pull_and_tell(policy, state, run, arm, rng)
        else:
            state = pull_and_tell(policy, state, run, leader, rng)
            squares += squares_about(rewards(state, leader)[n:], centre)
        if tangents.at[arm] != ceiling.mean or tangents.known[arm] < state.pulls[arm]:
            touch(contours, tangents, arm, rewards(state, arm), upper, ceiling.mean)
            set_rate(tangents, ceiling, arm)
            if not tangents.rate.sum() <= worth(state.pulls):
                return state
        quiet = geometric(math.log(tangents.rate.sum()), rng) - 1
    return state


@implements(play, NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Campaigns where they are worth while, plain steps between them."""
    n_arms = state.pulls.size
    contours, axis = contour.make(n_arms), make_axis()
    tangents = Tangents(
        np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, np.int64)
    )
    patience, wait = 1, 0
    while not over(run):
        leader = int(state.means.argmax())
        if wait == 0 and state.pulls[leader] >= _LEAST:
            before = left(run)
            state = campaign(policy, state, run, contours, axis, tangents, leader, rng)
            patience = 1 if left(run) < before - 8 else min(2 * patience, _PATIENCE)
            wait = patience
        else:
            wait = max(wait - 1, 0)
            state = pull_and_tell(policy, state, run, verbs.select(policy, state, rng), rng)
