"""Which arm NPTS pulls: the law of a reweighted mean is a crossing probability, and who is the largest an integral.

Large samples are compressed to a few weighted points. In a growing study the points follow the rewards: a compressed
sample has the first moments of what it stands for, so two of them side by side may be compressed again, and the
moments are still those of all their rewards. Blocks of rewards are joined in pairs, pairs of pairs and so on, like the
digits of a binary counter. Thus a sample depends on the rewards alone, not on when somebody looked at it.
"""

import functools
import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.argmax import Tails, Variable, constant
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.contour import NUMBERS, TOTAL, build, evaluate, make
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.saddle import saddle
from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES, CONTOUR_ERROR
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.npts.rule import NPTS
from dirichlet_bandits.types import Floats

_UNDERFLOW: Final = -746.0  # the logarithm of what is 0 in double precision
_FEW: Final = 16  # with fewer distinct values the index's law is a spline with knots that matter
_BLOCK: Final = 2 * COMPRESSED_NODES  # as many rewards are their own sample


def resampling_propensities(policy: NPTS, state: History) -> Floats:
    """The index exceeds v with the crossing probability of the rewards and the bound at v."""
    every, upper = moved_rewards(state, policy.upper)
    return random_index_propensities([resampled_index(*compress(x, np.empty(0)), upper) for x in every])


def moved_rewards(state: History, upper: float) -> tuple[list[Floats], float]:
    """The rewards of all arms and the bound, less the very first reward: far from 0 digits would be lost."""
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = every[0][0]
    return [x - origin for x in every], float(upper - origin)


def resampled_index(points: Floats, weights: Floats, upper: float) -> Variable:
    """The index of NPTS for a sample, compressed if it is large."""
    knots = np.unique(points)
    points, weights = np.append(points, upper), np.append(weights, 1.0)
    if knots[0] == upper:
        return constant(upper)
    total = weights.sum()
    centre = float(weights @ points / total)
    offsets = points - centre
    unit = 2.0 ** math.frexp(np.abs(offsets).max())[1]  # exact, and squares of tiny rewards do not vanish
    width = unit * math.sqrt(weights @ (offsets / unit) ** 2 / total / (total + 1.0))
    if knots.size > _FEW:
        knots = knots[:1]  # smooth elsewhere: at a value the law has as many derivatives as there are others
    tails: Tails = functools.partial(_crossing_tails, points, weights, centre)
    # Logarithms of n factors near 1, each about 1/sqrt(n) from it, are summed and cancel.
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return Variable(centre, width, tails, np.append(knots, upper), rounding)


def _crossing_tails(points: Floats, weights: Floats, centre: float, v: Floats) -> tuple[Floats, Floats]:
    log_above, log_below = np.empty(v.shape), np.empty(v.shape)
    _fill(points, weights, centre, np.ascontiguousarray(v), log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@jit
def log_ceiling(offsets: Floats, weights: Floats) -> float:
    """Chernoff's bound: log P(sum_i a_i G_i >= 0) <= -sum_i w_i log(1 - s a_i) for every s in [0, 1/max a]."""
    top = offsets.max()
    if top <= 0.0:
        return -np.inf if top < 0.0 else 0.0
    e, _ = saddle(offsets, weights, top)
    total, scale = 0.0, top * (1.0 + e)
    for i in range(offsets.size):  # a product of arrays would import a large part of SciPy
        total -= weights[i] * math.log1p(-offsets[i] / scale)
    return total


@entry_point
def _fill(points: Floats, weights: Floats, centre: float, v: Floats, log_below: Floats, log_above: Floats) -> None:
    """Logarithms of both tails of the index at each v; an entry point."""
    contour = make(1)[0]
    n, held = points.size - 1, 0.0
    for row in range(v.shape[0]):
        # Of the event or of its complement, whichever is the rarer; one contour serves a row, and maybe the next.
        first, last, bound = v[row, 0], v[row, -1], points[n]
        sign = 1.0 if 0.5 * (first + last) > centre else -1.0
        if log_ceiling(sign * (points - (first if sign > 0.0 else last)), weights) < _UNDERFLOW:
            log_above[row], log_below[row] = (-np.inf, 0.0) if sign > 0.0 else (0.0, -np.inf)
            continue
        at_first = evaluate(contour, sign * first, sign * bound)[1]
        at_last = evaluate(contour, sign * last, sign * bound)[1]
        if sign != held or not max(at_first, at_last) <= CONTOUR_ERROR:
            build(contour, sign * points[:n], weights[:n], sign * bound, sign * 0.5 * (first + last))
            contour[NUMBERS, TOTAL] = np.round(contour[NUMBERS, TOTAL])  # a whole power is the cheapest
            held = sign
        for j in range(v.shape[1]):
            log_p, error = evaluate(contour, sign * v[row, j], sign * bound)
            if not error <= CONTOUR_ERROR:
                log_p = log_crossing(sign * (points - v[row, j]), weights)
            rest = np.log(-np.expm1(min(log_p, 0.0)))
            log_above[row, j] = log_p if sign > 0.0 else rest
            log_below[row, j] = rest if sign > 0.0 else log_p


class Block(NamedTuple):
    """Points and weights that stand for so many rewards in a row."""

    size: int
    points: Floats
    weights: Floats


class IncrementalSamples:
    """The same in a growing study, from samples that follow the rewards."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        (self._upper,) = policy.params
        self._blocks: list[list[Block]] = [[] for _ in range(n_arms)]

    def propensities(self, state: History) -> Floats:
        """As the plain ones, from the samples."""
        every, upper = moved_rewards(state, self._upper)
        samples = [follow(blocks, x) for blocks, x in zip(self._blocks, every, strict=True)]
        return random_index_propensities([resampled_index(points, weights, upper) for _, points, weights in samples])


def follow(blocks: list[Block], x: Floats) -> Block:
    """Bring an arm's blocks, large ones first, up to its rewards x; all of them as one.

    >>> blocks, x = [], np.arange(200.0)
    >>> sample = follow(blocks, x)
    >>> [block.size for block in blocks], round(float(sample.weights @ sample.points) / 200, 9)
    ([128, 64], 99.5)

    Reference: the head of this file.
    """
    held = sum(block.size for block in blocks)
    while x.size - held >= _BLOCK:
        block = Block(_BLOCK, x[held : held + _BLOCK].copy(), np.ones(_BLOCK))
        held += _BLOCK
        while blocks and blocks[-1].size == block.size:
            block = joined([blocks.pop(), block])
        blocks.append(block)
    rest = Block(x.size - held, x[held:], np.ones(x.size - held))
    return joined([*blocks, rest])


def joined(blocks: list[Block]) -> Block:
    """One sample for the rewards of several blocks."""
    points = np.concatenate([block.points for block in blocks])
    weights = np.concatenate([block.weights for block in blocks])
    return Block(sum(block.size for block in blocks), *compress(points, weights))
