"""The distribution of the index of NPTS: a Dirichlet-weighted mean of rewards and their bound.

The Dirichlet parameters need not be 1, so the same functions serve discounted rewards.
"""

import functools
import math
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.numerics.argmax import RandomVariable, Tails, constant
from dirichlet_bandits.numerics.contour import build, evaluate, make
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.saddle import saddle
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.types import Floats

_UNDERFLOW: Final = -746.0  # the logarithm of what is 0 in double precision
_FEW: Final = 16  # with fewer distinct values, the distribution is a spline with knots that matter
_WHOLE: Final = 1e-11  # a relative distance to a whole number that only rounding can explain


def resampled_index(points: Floats, weights: Floats, upper: float) -> RandomVariable:
    """Return the distribution of the index of NPTS for a sample, compressed if the sample is large."""
    knots = np.unique(points)
    points, weights = np.append(points, upper), np.append(weights, 1.0)
    if knots[0] == upper:
        return constant(upper)
    total = weights.sum()
    center = float(weights @ points / total)
    offsets = points - center
    unit = 2.0 ** math.frexp(np.abs(offsets).max())[1]  # exact, and squares of tiny rewards do not vanish
    width = unit * math.sqrt(weights @ (offsets / unit) ** 2 / total / (total + 1.0))
    if knots.size > _FEW:
        knots = knots[:1]  # smooth elsewhere: at a value, there are as many derivatives as other values
    tails: Tails = functools.partial(crossing_tails, points, weights, center)
    # Logarithms of n factors near 1, each about 1/sqrt(n) from it, are summed and cancel.
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return RandomVariable(center, width, tails, np.append(knots, upper), rounding)


def crossing_tails(points: Floats, weights: Floats, center: float, v: Floats) -> tuple[Floats, Floats]:
    """Return P(index <= v) and P(index > v) for rows of v; the last point is the bound."""
    log_above, log_below = np.empty(v.shape), np.empty(v.shape)
    contour = make.py_func(1)[0]  # type: ignore[attr-defined]
    _fill(points, weights, center, np.ascontiguousarray(v), contour, log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@jit
def log_ceiling(offsets: Floats, weights: Floats) -> float:
    """Return a Chernoff bound: log P(sum_i a_i G_i >= 0) <= -sum_i w_i log(1 - s a_i) for all s in [0, 1/max a]."""
    top = offsets.max()
    if top <= 0.0:
        return -np.inf if top < 0.0 else 0.0
    e, _ = saddle(offsets, weights, top)
    total, scale = 0.0, top * (1.0 + e)
    for i in range(offsets.size):  # a product of arrays would import a large part of SciPy
        total -= weights[i] * math.log1p(-offsets[i] / scale)
    return total


@entry_point
def _fill(
    points: Floats, weights: Floats, center: float, v: Floats, contour: Any, log_below: Floats, log_above: Floats
) -> None:
    """Write the logarithms of both tails of the index at each v; an entry point."""
    n, held = points.size - 1, 0.0
    for row in range(v.shape[0]):
        # Of the event or of its complement, whichever is the rarer; one contour serves a row, and maybe the next.
        first, last, bound = v[row, 0], v[row, -1], points[n]
        sign = 1.0 if 0.5 * (first + last) > center else -1.0
        if log_ceiling(sign * (points - (first if sign > 0.0 else last)), weights) < _UNDERFLOW:
            log_above[row], log_below[row] = (-np.inf, 0.0) if sign > 0.0 else (0.0, -np.inf)
            continue
        at_first = evaluate(contour, sign * first, sign * bound)[1]
        at_last = evaluate(contour, sign * last, sign * bound)[1]
        if sign != held or not max(at_first, at_last) <= CONTOUR_ERROR:
            build(contour, sign * points[:n], weights[:n], sign * bound, sign * 0.5 * (first + last))
            whole = np.round(contour.total)
            if abs(contour.total - whole) <= _WHOLE * whole:
                contour.total = whole  # a whole power is the cheapest
            held = sign
        for j in range(v.shape[1]):
            log_p, error = evaluate(contour, sign * v[row, j], sign * bound)
            if not error <= CONTOUR_ERROR:
                log_p = log_crossing(sign * (points - v[row, j]), weights)
            rest = np.log(-np.expm1(min(log_p, 0.0)))
            log_above[row, j] = log_p if sign > 0.0 else rest
            log_below[row, j] = rest if sign > 0.0 else log_p
