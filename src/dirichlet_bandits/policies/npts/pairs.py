"""An arm and the leader that are nearly tied: how often a clock rings for the arm, and whether it wins when it does.

Each of the two indices is known roughly from a normal variable (``frames.py``). For z_k and z_0 in a box, the arm's
index lies below the line TOP + DEVIATION z_k and the leader's above FLOOR + UNIT z_0, for as long as the leader's
window holds. So the arm can win only if (z_k, z_0) lies in the half-plane

    DEVIATION z_k - UNIT z_0 > FLOOR - TOP

or outside of the box. The probabilities of these regions together are the rate of the clock. When it rings, a pair is
drawn from one of them; a pair that lies in m of them counts once in m times. Nearly always the bounds of the two
indices tell which is larger; if not, a number between them is sought with their distribution functions.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.numerics.costs import PAIR_LEAST
from dirichlet_bandits.numerics.draws import normal_above
from dirichlet_bandits.numerics.expansion import normal_below
from dirichlet_bandits.policies.npts.challengers import FOOT, INSIDE, LENGTH, PAIRED, RATE, Challengers, index_below
from dirichlet_bandits.policies.npts.frames import BOX, DEVIATION, FLOOR, SIDE, TOP, UNIT, WIDEST_BOX, index_bounds
from dirichlet_bandits.policies.npts.rule import NPTSParams
from dirichlet_bandits.types import Floats

# Rows of the draws of a step, a column an arm: the normal variable, and between which numbers the index lies.
Z, LOW, HIGH = range(3)

_BEYOND: Final = 0.5 * math.erfc(WIDEST_BOX * math.sqrt(0.5))


@jit
def beyond(box: float) -> float:
    """P(|z| > box), mostly for the widest of them."""
    return 2.0 * (_BEYOND if box == WIDEST_BOX else normal_below(-box))


@jit
def pair_rate(frames: Floats, tangents: Floats, arm: int) -> bool:
    """Set the rate of an arm; False if the arm or the leader is not known by a normal variable, or wins too seldom."""
    frame, window = frames[arm], frames[-1]
    tangents[PAIRED, arm] = 0.0
    if not (frame[BOX] > 0.0 and window[SIDE] > 0.0):
        return False
    length = math.sqrt(frame[DEVIATION] * frame[DEVIATION] + window[UNIT] * window[UNIT])
    foot = (window[FLOOR] - frame[TOP]) / length
    inside = normal_below(-foot)
    outside = beyond(frame[BOX]) + beyond(window[SIDE])
    if not inside + PAIR_LEAST >= outside:
        return False
    tangents[PAIRED, arm] = 1.0
    tangents[RATE, arm] = inside + outside
    tangents[LENGTH, arm], tangents[FOOT, arm], tangents[INSIDE, arm] = length, foot, inside
    return True


@shared
def draw_pair(frames: Floats, tangents: Floats, arm: int, rng: np.random.Generator) -> tuple[float, float]:
    """The normal variables of the arm and of the leader when the clock rings; NaN if the leader wins at once."""
    frame, window, length, foot = frames[arm], frames[-1], tangents[LENGTH, arm], tangents[FOOT, arm]
    u = rng.random() * tangents[RATE, arm] - tangents[INSIDE, arm]
    if u < 0.0:
        w, t = normal_above(foot, rng), rng.standard_normal()
        a, b = frame[DEVIATION] / length, window[UNIT] / length
        mine, other = a * w + b * t, a * t - b * w
    else:
        mine, other = rng.standard_normal(), rng.standard_normal()
        sign = 1.0 if rng.random() < 0.5 else -1.0
        if u < beyond(frame[BOX]):
            mine = sign * normal_above(frame[BOX], rng)
        else:
            other = sign * normal_above(window[SIDE], rng)
    regions = 1 if frame[DEVIATION] * mine - window[UNIT] * other > foot * length else 0
    regions += (1 if abs(mine) > frame[BOX] else 0) + (1 if abs(other) > window[SIDE] else 0)
    if regions > 1 and rng.random() * regions >= 1.0:
        return math.nan, math.nan
    return mine, other


@jit
def set_index(frames: Floats, draws: Floats, arm: int, z: float, lowest: float) -> None:
    """Write down what is known of an index with this normal variable."""
    draws[Z, arm] = z
    draws[LOW, arm], draws[HIGH, arm] = index_bounds(frames[arm], z, lowest, False)


@jit
def surely_above(draws: Floats, arm: int, other: int) -> bool:
    """Whether the bounds of two indices tell that the first is larger."""
    return draws[LOW, arm] > draws[HIGH, other]


@shared
def drawn_below(
    policy: NPTSParams, state: History, challengers: Challengers, draws: Floats, arm: int, v: float
) -> bool:
    """Whether the index that was drawn for the arm lies below v, an offset from the bound."""
    low, high = draws[LOW, arm], draws[HIGH, arm]
    if v <= low or v >= high:
        return low < v
    variance = challengers.frames[arm, DEVIATION] ** 2 * state.pulls[arm]
    return index_below(policy, state, challengers, variance, arm, policy.upper + v, normal_below(draws[Z, arm]))


@shared
def above(policy: NPTSParams, state: History, challengers: Challengers, draws: Floats, arm: int, other: int) -> bool:
    """Whether the index drawn for an arm lies above that of another one: by their bounds, else by a search for a number
    between them."""
    if surely_above(draws, arm, other) or surely_above(draws, other, arm):
        return surely_above(draws, arm, other)
    for k in (arm, other):
        if draws[LOW, k] < draws[HIGH, k]:
            draws[LOW, k], draws[HIGH, k] = index_bounds(
                challengers.frames[k], draws[Z, k], state.lows[k] - policy.upper, True
            )
    low, high = max(draws[LOW, arm], draws[LOW, other]), min(draws[HIGH, arm], draws[HIGH, other])
    if low > high:
        return surely_above(draws, arm, other)
    # Whether the one that is known less well lies on this or that side of the other is mostly told at once.
    wide, narrow = arm, other
    if draws[HIGH, arm] - draws[LOW, arm] < draws[HIGH, other] - draws[LOW, other]:
        wide, narrow = other, arm
    if drawn_below(policy, state, challengers, draws, wide, draws[LOW, narrow]):
        return wide == other
    if not drawn_below(policy, state, challengers, draws, wide, draws[HIGH, narrow]):
        return wide == arm
    while True:
        v = 0.5 * (low + high)
        first = drawn_below(policy, state, challengers, draws, arm, v)
        second = drawn_below(policy, state, challengers, draws, other, v)
        if first != second:
            return second
        if not low < v < high:  # no number is between them
            return draws[LOW, arm] + draws[HIGH, arm] > draws[LOW, other] + draws[HIGH, other]
        if first:
            high = v
        else:
            low = v
