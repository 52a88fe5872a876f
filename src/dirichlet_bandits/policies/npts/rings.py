"""When the clock of NPTS rings for an arm: whether its index is above that of the leader, and above all others."""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.tolerances import CLOCK_ERROR
from dirichlet_bandits.policies.npts.ceiling import Ceiling, draw, log_ceiling
from dirichlet_bandits.policies.npts.challengers import (
    FALL,
    MASS,
    PAIRED,
    Challengers,
    index_below,
    log_density_of,
    log_tangent,
)
from dirichlet_bandits.policies.npts.frames import fit_frame
from dirichlet_bandits.policies.npts.pairs import HIGH, LOW, above, draw_pair, drawn_below, set_index, surely_above
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats


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
    piece, z = draw(ceiling, tangents[FALL, arm], rng)
    v = ceiling.mean - z
    if not v < policy.upper:
        return math.nan
    u, keep = rng.random() * math.exp(log_ceiling(ceiling, piece, z)), rng.random()
    if not index_below(policy, state, challengers, ceiling.variance, leader, v, u):  # mostly the cheaper question
        return math.nan
    log_f, _ = log_density_of(challengers, arm, rewards(state, arm), policy.upper, v)
    return v if keep < math.exp(log_f - log_tangent(tangents, arm, v)) else math.nan


@jit
def pair_above(
    frames: Floats,
    tangents: Floats,
    lows: Floats,
    upper: float,
    draws: Floats,
    arm: int,
    leader: int,
    rng: np.random.Generator,
) -> int:
    """Indices of the arm and of the leader when the clock rings for their pair: 1 if the arm's is larger, -1 if it is
    not, 0 if that is not known yet."""
    mine, other = draw_pair(frames, tangents, arm, rng)
    if math.isnan(mine):
        return -1
    fit_frame(frames[leader], lows[leader], upper)
    set_index(frames, draws, arm, mine, lows[arm] - upper)
    set_index(frames, draws, leader, other, lows[leader] - upper)
    return 1 if surely_above(draws, arm, leader) else -1 if surely_above(draws, leader, arm) else 0


@shared
def chance_above(policy: NPTSParams, state: History, challengers: Challengers, arm: int, v: float) -> float:
    """P(index > v), an offset from the bound."""
    log_p, error = contour.evaluate(challengers.contours[arm], policy.upper + v, policy.upper)
    if not error <= CLOCK_ERROR:
        log_p = log_crossing(shifted(with_last(rewards(state, arm), policy.upper), -policy.upper - v), np.empty(0))
    return math.exp(log_p)


@shared
def index_above(
    policy: NPTSParams, state: History, challengers: Challengers, draws: Floats, arm: int, k: int, u: float
) -> bool:
    """Whether u < P(index of k is above that of the arm), which is known roughly: as finely as it takes."""
    while u < chance_above(policy, state, challengers, k, draws[LOW, arm]):
        low, high = draws[LOW, arm], draws[HIGH, arm]
        v = 0.5 * (low + high)
        if not low < v < high or u < chance_above(policy, state, challengers, k, high):
            return True
        draws[HIGH if drawn_below(policy, state, challengers, draws, arm, v) else LOW, arm] = v
    return False


@jit
def no_rival(tangents: Floats, arm: int, leader: int, below: float, u: float) -> bool:
    """Whether u alone tells that no third index is above that of the arm, so far below the ceiling's mean."""
    together = steepest = 0.0
    for k in range(tangents.shape[1]):
        if k != leader and k != arm:
            if tangents[PAIRED, k] > 0.0:
                return False
            together, steepest = together + tangents[MASS, k], max(steepest, tangents[FALL, k])
    return u >= (together if below <= 0.0 else together * math.exp(steepest * below))


@shared
def rival_above(
    policy: NPTSParams,
    state: History,
    challengers: Challengers,
    draws: Floats,
    arm: int,
    leader: int,
    below: float,
    u: float,
    rng: np.random.Generator,
) -> bool:
    """Whether the index of some third arm is above that of the arm, so far below the ceiling's mean."""
    frames, tangents, steepest = challengers.frames, challengers.tangents, 0.0
    for k in range(state.pulls.size):
        if k != leader and k != arm:
            if tangents[PAIRED, k] > 0.0:
                set_index(frames, draws, k, rng.standard_normal(), state.lows[k] - policy.upper)
                if above(policy, state, challengers, draws, k, arm):
                    return True
            else:
                steepest = max(steepest, tangents[FALL, k])
    growth = math.exp(steepest * max(below, 0.0))
    for k in range(state.pulls.size):
        if k != leader and k != arm and tangents[PAIRED, k] == 0.0:
            p = growth * tangents[MASS, k]
            if u < p and index_above(policy, state, challengers, draws, arm, k, u):
                return True
            # One variable serves all: what is left of it, given that it is not below p.
            u = (u - p) / (1.0 - p) if u >= p else rng.random()
    return False
