"""NPTS by a clock: the quadratic cost of drawing an index for every arm at every step goes, the law stays.

The leader is pulled unless some challenger's index V_k is above its own, V_0, and above all others. These events
exclude each other, so one clock waits for all of them; its ceiling is the sum over the challengers of

    q_k := P(V_k largest) <= P(V_k > V_0) = integral of f_k(v) P(V_0 < v) dv <= integral of t_k(v) c(v) dv =: r_k.

* t_k is a tangent of the density f_k in logarithmic scale, which is concave: it holds until the arm is pulled.
* c is the ceiling of the leader's distribution function: it holds while the leader does well enough.

When the clock rings, an arm is chosen in proportion to r_k and a v in proportion to t_k(v) c(v). The arm is pulled
with probability f_k(v)/t_k(v) * P(V_0 < v)/c(v), times that of all other challengers staying below v; else the leader.

Why a campaign has the law of the plain loop, whenever it ends:

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
5. Leaving. A campaign begins and ends by rules that know the past alone; plain steps have the law anyway.
"""

import math

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.axis import below
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.density import log_density, log_density_anew
from dirichlet_bandits.numerics.jit import borrowed, jit, jit_inline
from dirichlet_bandits.numerics.tolerances import AXIS_ERROR, CLOCK_ERROR, DENSITY_ERROR
from dirichlet_bandits.policies.history import History, append, rewards
from dirichlet_bandits.policies.npts import NPTSParams
from dirichlet_bandits.policies.tally import Floats, Ints
from dirichlet_bandits.policies.verbs import implements, play
from dirichlet_bandits.simulation.ceiling import Ceiling, draw, integral, log_ceiling, make_ceiling
from dirichlet_bandits.simulation.clocks import geometric
from dirichlet_bandits.simulation.resampling import Groups, learn_law, make_groups, squares_about, weighted_sum
from dirichlet_bandits.simulation.run import Run, ahead, left, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room

_RING = 500  # a ring costs about as much as indices from so many rewards
_DRAW = 60  # an index drawn by groups costs about as much as exponentials for so many rewards
_LEAST = 64  # rewards of a leader
_PATIENCE = 64  # plain steps at most between two campaigns
_MIDDLE = 4.5  # standard deviations from the mean within which the leader's index nearly always is


# Rows of the tangents, a column an arm (one array: Numba counts references): where the tangent of the log-density
# touches, the value there, how fast it falls; the rate r_k; how many rewards the arm's contour knows.
_AT, _VALUE, _FALL, _RATE, _KNOWN = range(5)


@jit
def log_tangent(tangents: Floats, arm: int, v: float) -> float:
    """Of the arm's density, at v."""
    return tangents[_VALUE, arm] - tangents[_FALL, arm] * (v - tangents[_AT, arm])


@jit
def touch(contours: Contours, tangents: Floats, arm: int, x: Floats, b: float, v: float) -> None:
    """The tangent at v; the arm's contour learns the rewards that it does not know yet, or is built anew."""
    if 2 * tangents[_KNOWN, arm] >= x.size:
        for value in x[int(tangents[_KNOWN, arm]) :]:
            contour.append(contours, arm, value, 1)
    else:  # a contour estimates its error for the rewards that it knows, whatever the others
        contour.build(contours, arm, x, np.empty(0), b, v)
    tangents[_KNOWN, arm] = x.size
    value, slope = sure_density(contours, arm, x, b, v)
    tangents[_AT, arm], tangents[_VALUE, arm], tangents[_FALL, arm] = v, value, -slope


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
def set_rate(tangents: Floats, ceiling: Ceiling, arm: int) -> float:
    """r_k."""
    part = np.empty(ceiling.pieces.shape[0])
    total = integral(ceiling, tangents[_FALL, arm], part)
    tangents[_RATE, arm] = math.exp(log_tangent(tangents, arm, ceiling.mean)) * total
    return tangents[_RATE, arm]


@jit
def leader_below(
    groups: Groups, leader: int, x: Floats, b: float, mean: float, variance: float, v: float, u: float
) -> bool:
    """Whether u < P(index < v) for the leader. Where the index hardly ever is, the edge of that region tells."""
    axis = learn_law(groups, leader, x, mean, math.sqrt(variance))
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
    tangents: Floats,
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
            fall = tangents[_FALL, k]
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
def beats_leader(
    contours: Contours,
    groups: Groups,
    tangents: Floats,
    ceiling: Ceiling,
    arm: int,
    leader: int,
    x: Floats,
    x_leader: Floats,
    mean: float,
    b: float,
    rng: np.random.Generator,
) -> float:
    """The clock rings for this arm, of rewards x: its index if it is above that of the leader, else NaN."""
    piece, z = draw(ceiling, tangents[_FALL, arm], rng)
    v = ceiling.mean - z
    if not v < b:
        return math.nan
    log_f, _ = sure_density(contours, arm, x, b, v)
    if rng.random() >= math.exp(log_f - log_tangent(tangents, arm, v)):
        return math.nan
    u = rng.random() * math.exp(log_ceiling(ceiling, piece, z))
    return v if leader_below(groups, leader, x_leader, b, mean, ceiling.variance, v, u) else math.nan


@jit_inline
def pull_and_tell(state: History, run: Run, arm: int) -> History:
    """One pull outside of a stretch."""
    reward = pull(run, arm)
    return state if over(run) else append(state, arm, reward, reward)  # what `update` does for this policy


@jit
def select_by_groups(policy: NPTSParams, state: History, groups: Groups, rng: np.random.Generator) -> int:
    """The policy's choice in law: the arm with the largest index, ties at random."""
    best, largest, ties = 0, -math.inf, 0
    for arm in range(state.pulls.size):
        # Offsets from the bound keep ties exact.
        total, weight = weighted_sum(groups, arm, rewards(state, arm), state.means[arm], policy.upper, rng)
        value = total / weight
        if value > largest:
            best, largest, ties = arm, value, 1
        elif value == largest:
            ties += 1
            if rng.random() * ties < 1.0:
                best = arm
    return best


@jit
def worth(pulls: Ints) -> float:
    """A campaign is worth while if its clock rings less often."""
    return min(min(pulls.sum(), _DRAW * pulls.size) / _RING, 0.9)


@jit
def muster(
    policy: NPTSParams, state: History, contours: Contours, tangents: Floats, ceiling: Ceiling, leader: int
) -> bool:
    """A tangent for everybody; False as soon as together they are too high for a campaign."""
    together, most = 0.0, worth(state.pulls)
    tangents[_RATE, leader] = 0.0
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
def campaign(
    policy: NPTSParams,
    state: History,
    run: Run,
    contours: Contours,
    groups: Groups,
    tangents: Floats,
    leader: int,
    rng: np.random.Generator,
) -> History:
    """Pull the leader, and whoever beats it, while the clock rings seldom enough."""
    pulls, means, lows = state.pulls, state.means, state.lows
    upper, centre = policy.upper, means[leader]
    squares = squares_about(rewards(state, leader), centre)
    ceiling = make_ceiling(pulls[leader], centre, squares, lows[leader], upper)
    if not muster(policy, state, contours, tangents, ceiling, leader):
        return state
    quiet = geometric(math.log(tangents[_RATE].sum()), rng) - 1
    while not over(run):
        n = pulls[leader]
        if not holds(ceiling, pulls[leader], means[leader], lows[leader], squares):
            ceiling = make_ceiling(n, means[leader], squares, lows[leader], upper)
            for arm in range(pulls.size):
                if arm != leader:
                    set_rate(tangents, ceiling, arm)
            if not tangents[_RATE].sum() <= worth(pulls):
                return state
            quiet = geometric(math.log(tangents[_RATE].sum()), rng) - 1
        if quiet > 0:
            state = with_room(state, leader)
            calm, after = pulls_below(ceiling, ahead(run, leader)[:quiet], n, squares, centre)
            done = stretch(run, state, leader, ceiling.mean, ceiling.high, calm)
            squares = after if done == calm else squares + squares_about(rewards(state, leader)[n:], centre)
            quiet -= done
            continue
        arm = who_rings(tangents[_RATE], rng)
        x, x_leader = rewards(state, arm), rewards(state, leader)
        v = beats_leader(contours, groups, tangents, ceiling, arm, leader, x, x_leader, means[leader], upper, rng)
        wins = not math.isnan(v) and not rival_above(state, contours, tangents, leader, arm, upper, v, rng)
        if wins:
            state = pull_and_tell(state, run, arm)
        if wins or tangents[_AT, arm] != ceiling.mean:
            touch(contours, tangents, arm, rewards(state, arm), upper, ceiling.mean)
            set_rate(tangents, ceiling, arm)
            if not tangents[_RATE].sum() <= worth(pulls):
                return state if wins else pull_and_tell(state, run, leader)
        # If it did not win, the leader is pulled in this step too.
        quiet = geometric(math.log(tangents[_RATE].sum()), rng) - (1 if wins else 0)
    return state


@implements(play, NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Nothing is known of the challengers yet."""
    n_arms = state.pulls.size
    groups = make_groups(n_arms, np.full(1, policy.upper))
    play_campaigns(policy, state, run, contour.make(n_arms), groups, np.zeros((5, n_arms)), rng)


@jit
def play_campaigns(
    policy: NPTSParams,
    state: History,
    run: Run,
    contours: Contours,
    groups: Groups,
    tangents: Floats,
    rng: np.random.Generator,
) -> None:
    """Campaigns where they are worth while, plain steps between them."""
    contours, groups, tangents = borrowed(contours), borrowed(groups), borrowed(tangents)
    patience, wait = _PATIENCE, 0
    while not over(run):
        leader = int(state.means.argmax())
        if wait == 0 and state.pulls[leader] >= _LEAST:
            before = left(run)
            state = campaign(policy, state, run, contours, groups, tangents, leader, rng)
            patience = 1 if left(run) < before - 8 else min(2 * patience, _PATIENCE)
            wait = patience
        else:
            wait = max(wait - 1, 0)
            state = pull_and_tell(state, run, select_by_groups(policy, state, groups, rng))
