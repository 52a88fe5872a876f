"""NPTS by clocks: the quadratic cost of drawing an index for every arm at every step goes, the law stays.

Pick a level q a few standard deviations below the leader's mean. The leader is pulled unless some challenger's
index reaches q or the leader's own falls below it; both are rare and independent at each step, so both are waited
for with clocks. While q stands and a challenger is not pulled, its chance to reach q does not change at all.

* A challenger's clock rings: its index is drawn on the condition that it reaches q, by inversion, and it wins
  with the probability that the leader's index is below that, a crossing probability of the leader's rewards.
* The leader's alarm has a ceiling from Bernstein's inequality. With a_i = q - x_i <= A and z = mean - q,

      P(index < q) <= prod_i 1 / (1 - lam a_i) <= exp(-N lam z + lam^2 sum_i a_i^2 / (2 (1 - lam A)));

  when it rings, a tilted draw decides whether the index really fell below q.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.contour import Contours
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR, INVERSION
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.npts import NPTSParams
from dirichlet_bandits.policies.tally import Floats, Ints
from dirichlet_bandits.policies.verbs import implements, play
from dirichlet_bandits.simulation.chances import log_crossing_anew, try_above
from dirichlet_bandits.simulation.clocks import geometric
from dirichlet_bandits.simulation.queue import NEVER
from dirichlet_bandits.simulation.run import BLOCK, Run, ahead, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room

_NEARER, _FARTHER = 1.0, 2.0  # the level is chosen anew when the mean comes so much nearer or farther
_RING = 1000  # an event in a campaign costs about as much as indices from so many rewards
_LEAST = 32  # rewards of a leader
_SECANTS = 60  # five are usual


class Challengers(NamedTuple):
    """For each arm the chance to reach the level (a logarithm), the ring of its clock, rewards its contour knows,
    and how far an index goes beyond the level."""

    chance: Floats
    ring: Ints
    known: Ints
    scale: Floats


@jit
def depth(n: int) -> float:
    """Standard deviations of the leader's index between its mean and the level: alarms get rarer as they get dearer."""
    return 1.5 + math.log10(n)


@jit
def worth(pulls: Ints) -> float:
    """A campaign is worth while if all challengers together reach the level less often."""
    return min(pulls.sum() / _RING, 0.9)


@jit
def log_reach(contours: Contours, known: Ints, arm: int, x: Floats, b: float, q: float) -> float:
    """log P(index of the arm >= q); its contour learns the rewards that it does not know yet."""
    if 2 * known[arm] >= x.size:
        for value in x[known[arm] :]:
            contour.append(contours, arm, value, 1)
        known[arm] = x.size
        log_p, error = contour.evaluate(contours, arm, q, b)
        if error <= CLOCK_ERROR:
            return log_p
    known[arm] = x.size
    return log_crossing_anew(contours, arm, x, np.empty(0), b, q)


@jit
def leader_beaten(
    contours: Contours,
    known: Ints,
    leader: int,
    x: Floats,
    b: float,
    q: float,
    v: float,
    mean: float,
    deviation: float,
    ceiling: float,
    rng: np.random.Generator,
) -> bool:
    """Whether the leader's index, which reaches q, stays below v: with probability 1 - P(>= v) / P(>= q).

    P(>= q) is one less at most exp(ceiling): that usually settles it without computing it.
    """
    u = rng.random()
    # Where the index hardly ever is, its chances at the edge of that region settle nearly everything.
    inside = min(max(v, mean - 3.0 * deviation), mean + 4.0 * deviation)
    beyond = math.exp(_leader_reach(contours, known, leader, x, b, inside))
    if v >= inside and u < 1.0 - beyond / -math.expm1(min(ceiling, -1e-3)):
        return True
    if v <= inside and u >= 1.0 - beyond:
        return False
    log_beyond = log_crossing(np.append(x, b) - v, np.empty(0))
    return u < -math.expm1(log_beyond - log_crossing(np.append(x, b) - q, np.empty(0)))


@jit
def _leader_reach(contours: Contours, known: Ints, leader: int, x: Floats, b: float, v: float) -> float:
    """log P(leader's index >= v), with an absolute error that no uniform number notices."""
    for value in x[known[leader] :] if 2 * known[leader] >= x.size else x[:0]:
        contour.append(contours, leader, value, 1)
    log_p, error = contour.evaluate(contours, leader, v, b)
    if 2 * known[leader] < x.size or error * math.exp(log_p) > CLOCK_ERROR:
        contour.build(contours, leader, x, np.empty(0), b, x.mean())
        log_p, error = contour.evaluate(contours, leader, v, b)
    known[leader] = x.size
    if error * math.exp(log_p) <= CLOCK_ERROR:
        return log_p
    return log_crossing(np.append(x, b) - v, np.empty(0))


@jit
def draw_above(
    contours: Contours, all_: Challengers, arm: int, x: Floats, b: float, q: float, rng: np.random.Generator
) -> float:
    """The index on the condition that it reaches q, by inversion: where log P(index >= v) has fallen as far as it must.

    The logarithm is concave in v, nearly straight, and the secant method wants a handful of evaluations.
    """
    fall = math.log(1.0 - rng.random())
    low, high = q, b
    v, value = q, 0.0
    step = -fall * all_.scale[arm]
    for _ in range(_SECANTS):
        w = v + step
        if not low < w < high:
            w = 0.5 * (low + high)
        found, error = contour.evaluate(contours, arm, w, b)
        if not error <= CLOCK_ERROR:
            found = log_crossing(np.append(x, b) - w, np.empty(0))
        found -= all_.chance[arm]
        if found > fall:
            low = w
        else:
            high = w
        step = (fall - found) * (w - v) / (found - value)
        v, value = w, found
        if abs(found - fall) <= INVERSION:
            break
    all_.scale[arm] = (v - q) / max(-fall, 1e-3)
    return v


@jit
def alarm_ceiling(n: int, z: float, squares: float, reach: float) -> tuple[float, float]:
    """Bernstein's bound on log P(index < q) for n rewards of mean q + z, and the tilt that gives it."""
    lam = z * n / (squares + z * n * reach)
    return -n * lam * z + lam * lam * squares / (2.0 * (1.0 - lam * reach)), lam


@jit
def leader_falls(
    policy: NPTSParams, x: Floats, q: float, lam: float, ceiling: float, rng: np.random.Generator
) -> float:
    """The leader's alarm rings: its index if it really falls below q, else NaN."""
    bound = -math.log(1.0 + lam * (policy.upper - q))
    for value in x:
        bound -= math.log1p(lam * (value - q))
    if rng.random() >= math.exp(bound - ceiling):
        return math.nan
    return try_above(x, policy.upper, q, -lam, rng)


@jit
def winner_of_all(
    policy: NPTSParams, state: History, leader: int, q: float, fallen: float, rng: np.random.Generator
) -> int:
    """Everybody's index is below q, the leader's being known: who has the largest?"""
    best, best_index = leader, fallen
    for arm in range(state.pulls.size):
        if arm != leader:
            value = q
            while value >= q:
                value = verbs.index(policy, state, arm, 0, 0.0, rng)
            if value > best_index:
                best, best_index = arm, value
    return best


@jit
def pull_and_tell(policy: NPTSParams, state: History, run: Run, arm: int, rng: np.random.Generator) -> History:
    """One pull outside of a stretch."""
    reward = pull(run, arm)
    return state if over(run) else verbs.update(policy, state, arm, reward, rng)


@jit
def muster(policy: NPTSParams, state: History, contours: Contours, all_: Challengers, leader: int, q: float) -> bool:
    """Everybody's chance to reach q; False as soon as together they are too large for a campaign."""
    together = 0.0
    for arm in range(state.pulls.size):
        if arm != leader:
            if state.means[arm] >= q:
                return False
            all_.chance[arm] = log_reach(contours, all_.known, arm, rewards(state, arm), policy.upper, q)
            together += math.exp(all_.chance[arm])
            if together > worth(state.pulls):
                return False
    return True


@jit
def campaign(
    policy: NPTSParams,
    state: History,
    run: Run,
    contours: Contours,
    all_: Challengers,
    leader: int,
    q: float,
    rng: np.random.Generator,
) -> History:
    """Pull the leader, and whoever beats it, until the level is no longer well chosen."""
    n_arms, upper = state.pulls.size, policy.upper
    for arm in range(n_arms):
        all_.ring[arm] = geometric(all_.chance[arm], rng) - 1 if arm != leader else NEVER
    squares = ((rewards(state, leader) - q) ** 2).sum()
    now = 0
    while not over(run):
        n, z, low = state.pulls[leader], state.means[leader] - q, state.lows[leader]
        deviation = math.sqrt(max(squares / n - z * z, 0.0) / n)
        if not (depth(n) - _NEARER) * deviation <= z <= (depth(n) + _FARTHER) * deviation:
            return state
        # For the next few pulls a ceiling that holds whatever the rewards are, as long as none sets a new low.
        few = min(max(n // 64, 1), BLOCK)
        block = ahead(run, leader)
        for i in range(min(few, block.size)):
            if block[i] < low:
                few = i + 1
                break
        widest = max(q - low, upper - q)
        least = 0.9 * z
        ceiling, lam = alarm_ceiling(n, least, squares + few * widest * widest, max(q - low, 0.0))
        alarm = now + geometric(ceiling, rng) - 1
        next_ring = all_.ring.min()
        calm = min(few, next_ring - now, alarm - now)
        if calm > 0:
            state = with_room(state, leader)
            done = stretch(run, state, leader, q + least, math.inf, calm)
            for value in rewards(state, leader)[n:]:
                squares += (value - q) ** 2
            now += done
            continue
        # Somebody may be pulled instead of the leader in this step.
        x = rewards(state, leader)
        fallen = leader_falls(policy, x, q, lam, ceiling, rng) if alarm == now else math.nan
        best, best_index = -1, -math.inf
        for arm in range(n_arms):
            if all_.ring[arm] == now:
                value = draw_above(contours, all_, arm, rewards(state, arm), upper, q, rng)
                if value > best_index:
                    best, best_index = arm, value
                all_.ring[arm] = now + geometric(all_.chance[arm], rng)
        now += 1
        if not math.isnan(fallen):
            if best < 0:
                best = winner_of_all(policy, state, leader, q, fallen, rng)
        elif best < 0 or not leader_beaten(
            contours, all_.known, leader, x, upper, q, best_index, q + z, deviation, ceiling, rng
        ):
            best = leader
        state = pull_and_tell(policy, state, run, best, rng)
        if best == leader:
            squares += (rewards(state, leader)[-1] - q) ** 2
        else:
            if state.means[best] >= q:
                return state
            all_.chance[best] = log_reach(contours, all_.known, best, rewards(state, best), upper, q)
            if all_.chance[best] > math.log(worth(state.pulls)):
                return state
            all_.ring[best] = now + geometric(all_.chance[best], rng) - 1
    return state


@implements(play, NPTSParams)
def play_npts(policy: NPTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Campaigns where they are worth while, plain steps between them."""
    n_arms = state.pulls.size
    contours = contour.make(n_arms)
    all_ = Challengers(np.zeros(n_arms), np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64), np.zeros(n_arms))
    patience, wait = 1, 0
    while not over(run):
        leader = int(state.means.argmax())
        if wait == 0 and state.pulls[leader] >= _LEAST:
            x = rewards(state, leader)
            q = state.means[leader] - depth(x.size) * x.std() / math.sqrt(x.size)
            if q < state.means[leader] and muster(policy, state, contours, all_, leader, q):
                before = run.pulls.sum()
                state = campaign(policy, state, run, contours, all_, leader, q, rng)
                patience = 1 if run.pulls.sum() > before + 8 else min(2 * patience, 64)
            else:
                patience = min(2 * patience, 64)
            wait = patience
        else:
            wait = max(wait - 1, 0)
            state = pull_and_tell(policy, state, run, verbs.select(policy, state, rng), rng)
