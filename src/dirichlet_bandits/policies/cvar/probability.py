"""Propensities of B-CVTS and M-CVTS: the CVaR of a reweighted sample is a mixture of crossing probabilities.

The index of M-CVTS has the distribution of that of a sample in which every value occurs once more often than it was
observed, because Dirichlet weights with integer parameters are sums of weights with parameter 1. An index equals the
smallest value with positive probability, when all weight that counts falls on it, so arms may tie there.

In a large sample, few values matter individually: those among which the n + 1 smallest may end. Larger values never
count, and smaller values, which always do, are compressed to a few weighted points. So the cost grows with the square
root of the number of rewards.
"""

import functools
import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.argmax import RandomVariable, Tails, constant
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.cvar_crossing import log_cvar_tails_beyond, new_base, new_scratch
from dirichlet_bandits.numerics.discrete import log_binomial
from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES, PANEL_NEGLIGIBLE
from dirichlet_bandits.policies.cvar.rule import BCVTS, MCVTS, ValueCounts
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.types import Floats

_UNDERFLOW: Final = -150.0  # tails below exp(-150) = 1e-65 count as 0: such a pull will never occur
_FEW: Final = 24  # with at most so many values, the distribution is a spline with knots that matter

_BLOCK: Final = 2 * COMPRESSED_NODES  # fewer values are not compressed


def resampled_cvar_propensities(policy: BCVTS, state: History) -> Floats:
    """Return the propensities of B-CVTS.

    The origin is the largest of the arms' smallest rewards.

    Only indices above that number can be the largest, and arms may differ by little just above it; with another origin,
    the integral would lose those digits.
    """
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = max(x[0] for x in every)
    return random_index_propensities(
        [reweighted_cvar(np.append(x, policy.upper) - origin, float(policy.level)) for x in every]
    )


def posterior_cvar_propensities(policy: MCVTS, state: ValueCounts) -> Floats:
    """Return the propensities of M-CVTS, where every value counts once more often than it was observed."""
    support = np.array(policy.support) - policy.support[0]
    return random_index_propensities(
        [reweighted_cvar(np.repeat(support, 1 + counts), float(policy.level)) for counts in state.counts]
    )


def reweighted_cvar(x: Floats, level: float) -> RandomVariable:
    """Return the distribution of the CVaR of ordered values with Dirichlet(1, ..., 1) weights.

    It is treated as constant if it differs from the smallest value with a probability below the last bit of 1.
    Otherwise, center and width are those of the part that differs.
    """
    log_chances = log_binomial(x.size - 1, level)
    seen = int(np.flatnonzero(log_chances >= _UNDERFLOW)[-1]) + 1  # more values than these hardly ever take part
    highest, x, log_chances = float(x[-1]), x[:seen], log_chances[:seen]
    chances, sizes = np.where(x > x[0], np.exp(log_chances), 0.0), np.arange(1.0, x.size + 1.0)
    moves = float(chances.sum())
    if moves < PANEL_NEGLIGIBLE:
        return constant(float(x[0]))
    chances /= moves
    # Given n: the mean of n + 1 values, and their variance over n + 2.
    means = np.cumsum(x) / sizes
    spreads = np.maximum(np.cumsum(x * x) / sizes - means**2, 0.0) / (sizes + 1.0)
    center = float(chances @ means)
    width = math.sqrt(float(chances @ (spreads + (means - center) ** 2)))
    if not width > 0.0:  # of values that differ in the last bits, or too rarely
        width = highest - float(x[0])
    count = float(chances @ sizes)
    knots = np.unique(x[: 2 * _FEW]) if count <= _FEW else x[:1]
    always = int(np.flatnonzero(log_chances >= _UNDERFLOW)[0])  # so many values nearly always take part
    points, weights = compress(x[:always], np.empty(0)) if always > _BLOCK else (np.empty(0), np.empty(0))
    first = always if points.size else 0
    tails: Tails = functools.partial(_tails, points, weights, x[first:], log_chances[first:], float(x[0]))
    rounding = 100.0 * math.sqrt(x.size) * float(np.finfo(np.float64).eps)
    return RandomVariable(center, width, tails, np.append(knots, highest), rounding, float(x[0]))


def _tails(
    points: Floats, weights: Floats, x: Floats, log_chances: Floats, least: float, v: Floats
) -> tuple[Floats, Floats]:
    log_below, log_above = np.empty(v.shape), np.empty(v.shape)
    _fill(points, weights, x, log_chances, least, np.ascontiguousarray(v), log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@entry_point
def _fill(
    points: Floats,
    weights: Floats,
    x: Floats,
    log_chances: Floats,
    least: float,
    v: Floats,
    log_below: Floats,
    log_above: Floats,
) -> None:
    """Write the logarithms of P(index <= v) and P(index > v) at each v; an entry point.

    Weighted points replace the values that always count; ``least`` is the smallest value of all.
    """
    base, offsets, work = new_base(points.size), np.empty(x.size), new_scratch(x.size)
    for i in range(points.size):
        base.weights[i] = weights[i]
    for row in range(v.shape[0]):
        for j in range(v.shape[1]):
            if v[row, j] == least:  # it has a probability of its own
                chance = 0.0
                for n in range(x.size):
                    if x[n] == least:
                        chance += math.exp(log_chances[n])
                log_below[row, j], log_above[row, j] = math.log(chance), math.log(max(1.0 - chance, 0.0))
                continue
            for i in range(points.size):
                base.offsets[i] = points[i] - v[row, j]
            for i in range(x.size):
                offsets[i] = x[i] - v[row, j]
            log_below[row, j], log_above[row, j] = log_cvar_tails_beyond(base, offsets, log_chances, _UNDERFLOW, work)
