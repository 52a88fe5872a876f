"""Densities of means of a few values with weights that are uniformly distributed on a simplex: B-splines.

Such a mean is a linear image of the uniform distribution on a simplex, so its density is the B-spline whose knots are
the values, normalized to integral 1 (Curry and Schoenberg). With sorted knots t_0 <= ... <= t_n,

    M_{i,1}(v) = 1 / (t_{i+1} - t_i)  on [t_i, t_{i+1}),  else 0,
    M_{i,k}(v) = k/(k-1) ((v - t_i) M_{i,k-1}(v) + (t_{i+k} - v) M_{i+1,k-1}(v)) / (t_{i+k} - t_i),

and the density is M_{0,n}. No term is negative, so rounding is relative, however small the density is.

Reference: de Boor, On calculating with B-splines (1972).

Tables of the densities of reweighted means of rewards and their bound, updated with the rewards.

With few rewards, the density is a spline (above). With many, contours give it (:mod:`density`), which are kept
and updated with each reward. A table is made from its center to both sides, in pieces that shrink until the last
coefficients of a piece are negligible. It ends where the density is so small that it does not matter.

A value is a break of the table if few other values differ from it, because the density has as many derivatives there.
If all rewards are the bound or one other value, such as 1 and 0, no tables are needed (:mod:`bells`).
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import interval, scaled, shifted
from dirichlet_bandits.numerics.bells import LOGIT_BETA, log_concave_argmax
from dirichlet_bandits.numerics.compensated import two_sum
from dirichlet_bandits.numerics.contour import append, build, forget, make
from dirichlet_bandits.numerics.costs import SPLINE_KNOTS, SPLINE_REWARDS, TABLE_STEP
from dirichlet_bandits.numerics.density import (
    MIDDLE,
    MOST_PIECES,
    PIECE_NODES,
    TABLE,
    TERMS,
    Tables,
    covered,
    fit_piece,
    log_density_by_residue,
    place_mode,
    rough_log_density,
)
from dirichlet_bandits.numerics.log_concave import integrate, limits
from dirichlet_bandits.numerics.tolerances import SMOOTH_DERIVATIVES, TABLE_CONTOUR, TABLE_DEPTHS, TABLE_ERROR
from dirichlet_bandits.types import Flags, Floats, Ints


@jit
def knot_gaps(knots: Floats, inverse: Floats) -> None:
    """Write 1 / (t_{i+k} - t_i) to ``inverse[k, i]``, 0 for equal knots."""
    n = knots.size - 1
    for k in range(1, n + 1):
        for i in range(n - k + 1):
            gap = knots[i + k] - knots[i]
            inverse[k, i] = 1.0 / gap if gap > 0.0 else 0.0


@jit
def spline_densities(knots: Floats, inverse: Floats, work: Floats, v: Floats, density: Floats) -> None:
    """Write the density at points v between the first and the last knot, all at once.

    ``work`` has a row per knot and a column per point.

    >>> import numpy as np
    >>> knots = np.array([0.0, 0.0, 0.0, 1.0])  # the weight of the last value is Beta(1, 3)
    >>> inverse, work, density = np.empty((4, 4)), np.empty((4, 2)), np.empty(2)
    >>> knot_gaps(knots, inverse)
    >>> spline_densities(knots, inverse, work, np.array([0.1, 0.5]), density)
    >>> density.round(12)  # 3 (1 - v)^2
    array([2.43, 0.75])

    Reference: the docstring of this module.
    """
    n = knots.size - 1
    first, last = n - 1, 0
    for m in range(v.size):
        place = interval(knots, v[m], 0, n)
        first, last = min(first, place), max(last, place)
    for i in range(n + 1):
        for m in range(v.size):
            work[i, m] = 0.0
    for m in range(v.size):
        place = interval(knots, v[m], 0, n)
        work[place, m] = inverse[1, place]
    for k in range(2, n + 1):
        for i in range(max(0, first - k + 1), min(last, n - k) + 1):
            left, right, share, this, other = knots[i], knots[i + k], inverse[k, i], work[i], work[i + 1]
            for m in range(v.size):
                this[m] = ((v[m] - left) * this[m] + (right - v[m]) * other[m]) * share
    for m in range(v.size):
        density[m] = n * work[0, m]  # the factors k/(k-1) together


_SLOTS: Final = 20  # contours per arm
_RIGHT: Final = 10  # as many of them for points to the right of the mean; the others are those of minus the rewards


class ResampledMeans(NamedTuple):
    """Tables of the means of several arms, and what is needed to update them.

    ``counted`` are the rewards in ``means``, ``squares`` (of their deviations from the mean), ``log_gaps`` (the sum of
    log(bound - x), with its rounding errors) and the counts of rewards equal to the smallest one and to the bound.
    ``tabulated`` are the rewards in the table, and ``followed`` those in the contours. If a table could not be made,
    ``resists`` is the number of rewards up to which it is not tried again. ``level`` is the depth of the tables, as a
    place in a list. The last four are scratch space.
    """

    tables: Tables
    contours: Any
    counted: Ints
    tabulated: Ints
    followed: Ints
    means: Floats
    squares: Floats
    log_gaps: Floats
    log_gaps_rest: Floats
    at_least: Ints
    at_bound: Ints
    resists: Ints
    level: Ints
    knots: Floats
    has_gaps: Flags
    inverse: Floats
    work: Floats


class Sample(NamedTuple):
    """Rewards and their bound, from which ``origin`` has been subtracted to keep digits; sorted knots if they are few.

    ``mean`` is that of the rewards, ``center`` the one with the bound, and ``width`` the deviation of the reweighted
    mean. ``log_residue`` is the logarithm of n / prod_i (upper - x_i). The bound is the last of the ``knots``. There
    are no knots if there would be too many. ``has_gaps`` is whether ``inverse`` belongs to them.
    """

    x: Floats
    origin: float
    upper: float
    center: float
    width: float
    mean: float
    log_residue: float
    knots: Floats
    has_gaps: Flags
    inverse: Floats
    work: Floats
    contours: Any


@shared
def new_means(n_arms: int) -> ResampledMeans:
    """Return tables for arms without rewards."""
    none, contours = np.zeros(n_arms, np.int64), make(n_arms * _SLOTS)
    return ResampledMeans(
        Tables(np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms, TABLE)),
        contours.reshape((n_arms, _SLOTS)),
        none,
        none.copy(),
        none.copy(),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
        none.copy(),
        none.copy(),
        none.copy(),
        np.zeros(1, np.int64),
        np.zeros(SPLINE_KNOTS),
        np.zeros(1, np.bool_),
        np.zeros((SPLINE_KNOTS, SPLINE_KNOTS)),
        np.zeros((SPLINE_KNOTS, TERMS)),
    )


@shared
def largest_mean(means: ResampledMeans, pool: Floats, start: Ints, pulls: Ints, upper: float, chances: Floats) -> bool:
    """Write the probability that each arm's reweighted mean is the largest; return False if a table cannot be made.

    The rewards of arm k are ``pool[start[k] : start[k] + pulls[k]]``. Only new rewards are counted.
    """
    origin = pool[start[0]]
    perfect, resists = 0, False
    for k in range(pulls.size):
        _count(means, k, pool[start[k] : start[k] + pulls[k]], origin, upper - origin)
        perfect += means.at_bound[k] == pulls[k]
        resists = resists or pulls[k] <= means.resists[k]
    if perfect > 0:  # their indices are the bound itself
        for k in range(pulls.size):
            chances[k] = (means.at_bound[k] == pulls[k]) / perfect
        return True
    if _two_values(means, pulls):
        first: Floats = means.at_bound + np.ones(pulls.size)
        chances[:] = log_concave_argmax(LOGIT_BETA, first, pulls + 1.0 - first)
        return True
    if resists:
        return False
    for level in range(means.level[0], len(TABLE_DEPTHS)):
        depth, means.level[0] = TABLE_DEPTHS[level], level
        for k in range(pulls.size):
            if means.tabulated[k] == pulls[k] and means.tables.tables[k].depth >= depth:
                continue
            if not _tabulate(means, k, pool[start[k] : start[k] + pulls[k]], origin, upper - origin, depth):
                means.tabulated[k], means.resists[k] = 0, pulls[k] + pulls[k] // 8
                return False
        between = limits(means.tables)
        if covered(means.tables, between) or level == len(TABLE_DEPTHS) - 1:
            chances[:] = integrate(means.tables, between)
            break
    return True


@jit
def _count(means: ResampledMeans, k: int, x: Floats, origin: float, bound: float) -> None:
    """Count the rewards that are new."""
    table = means.tables.tables[k]
    for i in range(means.counted[k], x.size):
        value = x[i] - origin
        if i == 0 or value < table.low:
            table.low, means.at_least[k] = value, 0
        means.at_least[k] += value == table.low
        means.at_bound[k] += value == bound
        means.log_gaps[k], rest = two_sum(means.log_gaps[k], math.log(bound - value))
        means.log_gaps_rest[k] += rest
        away = value - means.means[k]
        means.means[k] += away / (i + 1)
        means.squares[k] += away * (value - means.means[k])
    means.counted[k] = x.size


@jit
def _two_values(means: ResampledMeans, pulls: Ints) -> bool:
    """Whether all rewards are the bound or one other value: then the weight of the bound is a Beta variable."""
    for k in range(pulls.size):
        if means.at_least[k] + means.at_bound[k] < pulls[k] or means.tables.tables[k].low != means.tables.tables[0].low:
            return False
    return True


@jit
def _tabulate(means: ResampledMeans, k: int, x: Floats, origin: float, upper: float, depth: float) -> bool:
    """Make the table of one arm; return False if it would take too many pieces."""
    table, n = means.tables.tables[k], x.size
    knots = means.knots[: n + 1 if n < SPLINE_KNOTS else 0]
    for i in range(knots.size - 1):
        knots[i] = x[i] - origin
    knots[n:] = upper
    knots.sort()
    means.has_gaps[0] = False
    if 0 < means.followed[k] < n:
        for i in range(means.followed[k], n):
            for slot in range(_SLOTS):
                append(means.contours[k, slot], x[i] - origin if slot < _RIGHT else origin - x[i], 1)
    means.followed[k] = n if n > SPLINE_REWARDS else 0
    center = (n * means.means[k] + upper) / (n + 1)
    table.high, table.top = upper, -math.inf
    table.low_power, table.high_power = _power(n - means.at_least[k]), _power(n - means.at_bound[k] - 1)
    _place_breaks(table.breaks, knots)
    spread = math.sqrt((means.squares[k] + n / (n + 1) * (upper - means.means[k]) ** 2) / (n + 1))
    means.tables.widths[k] = width = spread / math.sqrt(n + 2.0)
    scratch = means.has_gaps, means.inverse, means.work
    residue = math.log(n) - means.log_gaps[k] - means.log_gaps_rest[k]
    sample = Sample(x, origin, upper, center, width, means.means[k], residue, knots, *scratch, means.contours[k])
    step = min(TABLE_STEP * spread, math.sqrt(2.0 * depth) * width)
    table.first = table.last = MIDDLE
    if not (_extend(table, sample, step, depth, True) and _extend(table, sample, step, depth, False)):
        return False
    place_mode(means.tables, k)
    table.depth, means.tabulated[k] = depth, n
    return True


@jit
def _power(derivatives: int) -> float:
    """Return the power with which a density vanishes, or -1 if it is so high that the table ends before."""
    return float(derivatives) if derivatives < SMOOTH_DERIVATIVES else -1.0


@jit
def _place_breaks(breaks: Floats, knots: Floats) -> None:
    """Write the knots from which few others differ, in ascending order, and then infinities."""
    found = i = 0
    while i < knots.size:
        j = i + 1
        while j < knots.size and knots[j] == knots[i]:
            j += 1
        if knots.size - 1 - (j - i) < SMOOTH_DERIVATIVES:
            breaks[found] = knots[i]
            found += 1
        i = j
    breaks[found:] = np.inf


@jit
def _extend(table: Any, sample: Sample, step: float, depth: float, to_right: bool) -> bool:
    """Add pieces on one side until the support ends or the density is negligible; return whether this succeeds."""
    at, end, sign, piece = (
        (sample.center, table.high, 1.0, MIDDLE) if to_right else (sample.center, table.low, -1.0, MIDDLE - 1)
    )
    v, values, slack = np.empty(TERMS), np.empty(TERMS), 1.0
    while 0 <= piece < MOST_PIECES:
        to = _end_of_piece(table, at, end, sign, step)
        left, half = min(at, to), 0.5 * abs(to - at)
        for m in range(TERMS):
            v[m] = left + half * (1.0 + PIECE_NODES[m])
        rest = math.inf
        if _evaluate(table, sample, v, to_right, values):
            rest = fit_piece(values, table, piece, left, max(at, to))
        # A narrow piece is as accurate as the values at its nodes, so it may have errors that do not matter there.
        if not rest < TABLE_ERROR * (slack if 2.0 * half < sample.width else min(slack, 30.0)):
            step = 1.4 * half
            if not abs(step) > 1e-13 * abs(end - at):
                return False
            continue
        if to_right:
            table.last = piece + 1
        else:
            table.first = piece
        there, (here, change) = rough_log_density(table, at)[0], rough_log_density(table, to)
        table.top = max(table.top, there, here)
        at, piece = to, piece + int(sign)
        if at == end or (here < table.top - depth and sign * change < 0.0):
            return True
        slack = _slack(table.top - here)
        if 2.0 * half >= step:  # it was not cut short
            step *= 2.0 if rest < 1e-4 * TABLE_ERROR else 1.2
    return False


@jit
def _slack(fall: float) -> float:
    """Return by how much errors may be larger where the logarithm of the density has fallen by this much."""
    return math.exp(min(0.4 * max(fall, 0.0), 12.0))


@jit
def _end_of_piece(table: Any, at: float, end: float, sign: float, step: float) -> float:
    """Return where the next piece ends: after a step, or at a break or the end of the support if it is near.

    An end where the density falls steeply is never reached, because it may do so so near the end that no node sees it.
    """
    steep = (table.high_power if sign > 0.0 else table.low_power) < 0.0
    limit = at + 0.5 * (end - at) if steep else end
    for i in range(table.breaks.size):
        if sign * at < sign * table.breaks[i] < sign * limit:
            limit = table.breaks[i]
    return limit if sign * (limit - at) <= 1.3 * step else at + sign * step


@jit
def _evaluate(table: Any, sample: Sample, v: Floats, to_right: bool, values: Floats) -> bool:
    """Write g at the nodes of a piece; return whether all of them are known."""
    known, top = sample.x.size > SPLINE_REWARDS, table.top
    for i in range(v.size):
        m = v.size - 1 - i if to_right else i  # away from the center
        values[m] = _by_contour(sample, v[m], top) if known else 0.0
        known = known and math.isfinite(values[m])
        top = max(top, values[m])
    if not known and sample.knots.size > 0:
        if not sample.has_gaps[0]:
            knot_gaps(sample.knots, sample.inverse)
            sample.has_gaps[0] = True
        spline_densities(sample.knots, sample.inverse, sample.work, v, values)
        for m in range(v.size):
            values[m] = math.log(values[m])
    known = True
    for m in range(v.size):
        if table.low_power > 0.0:
            values[m] -= table.low_power * math.log(v[m] - table.low)
        if table.high_power > 0.0:
            values[m] -= table.high_power * math.log(table.high - v[m])
        known = known and math.isfinite(values[m])
    return known


@jit
def _by_contour(sample: Sample, v: float, top: float) -> float:
    """Return the logarithm of the density by the nearest contour, or by a new one in place of another.

    A contour is accurate on the side of the rarer event, so to the left of the mean, all signs are reversed. The
    smaller the density is beside its largest value, the larger its error may be, and if no contour is accurate, as far
    out in a heavy tail, the most accurate one may have an error that is larger still.
    """
    sign, slots = (1.0, sample.contours[:_RIGHT]) if v > sample.center else (-1.0, sample.contours[_RIGHT:])
    nearest, farthest, short, long = 0, 0, math.inf, -1.0
    for slot in range(slots.shape[0]):
        distance = abs(slots[slot].reference - sign * v)
        if not distance < math.inf:  # it was never built, or a reward has made it useless
            distance = math.inf
        if distance < short:
            nearest, short = slot, distance
        if distance > long:
            farthest, long = slot, distance
    # A contour that fails so near its own reference is out of date, and would be the nearest one again.
    contour, replaced = slots[nearest], nearest if short < sample.width else farthest
    best, least = math.nan, math.inf
    for attempt in range(3):
        # If the bound is far away, a line that takes no account of it lies beyond its pole.
        if attempt > 0:
            contour, bonus = slots[replaced], sample.upper if attempt == 1 else sample.mean
            build(contour, scaled(shifted(sample.x, -sample.origin), sign), np.empty(0), sign * bonus, sign * v)
        residue = sample.log_residue + (sample.x.size - 1.0) * math.log(sample.upper - v)
        value, error = log_density_by_residue(contour, sign * v, sign * sample.upper, residue)
        if error <= TABLE_CONTOUR * _slack(top - value):
            return value
        if error < least:
            best, least = value, error
    forget(contour)  # the next one to be replaced
    return best if least <= TABLE_CONTOUR * _slack(1.5 * (top - best)) else math.nan
