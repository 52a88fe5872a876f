"""Compute the density of a reweighted mean, and the tangent of its logarithm, from a kept contour.

The density is minus the derivative in m of the crossing integral of :mod:`contour`, with n the weight of the data:

    f(m) = n/(2 pi i) * integral of  (1 - z m')^(n-1) * prod_i (1 - z x_i')^(-w_i) / (1 - z b')  dz.

The mean is a linear image of the uniform law on a simplex, so log f is concave (Brunn and Minkowski), and every tangent
lies above it.

A bonus far above the data has a pole 1/b' close to the line, where the nodes lose their accuracy. If the line lies
beyond the pole, the residue is added, which is the density for m above all data:

    f(m) = n (b - m)^(n-1) / prod_i (b - x_i)^(w_i)  +  the same integral on the line beyond 1/b'.

Log-concave densities on bounded intervals, kept as tables of polynomials, for :mod:`log_concave`.

The logarithm of a density is

    log f(v) = p log(v - low) + q log(high - v) + g(v),

with g a Chebyshev series on each of some pieces. The powers p and q are those with which the density vanishes at the
ends of its support. They are split off where they are small, so that few pieces reach the ends; where they are large,
the pieces end where the density is negligible. ``breaks`` are points at which g is not smooth, which are edges of
pieces.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import cheb2poly

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import interval, max_of, min_of, shifted, without
from dirichlet_bandits.numerics.contour import NODES, WAVES, factor, product_times_power
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.log_concave import (
    Limits,
    fall,
    half_width,
    implement,
    next_edge,
    prepare_panel,
    slope,
    tabulate,
)
from dirichlet_bandits.types import Floats


@shared
def log_density(contour: Any, m: float, b: float) -> tuple[float, float, float]:
    """Return log f(m) with the bonus b, its derivative, and an estimate of the relative error of f.

    The error is estimated as in :func:`contour.evaluate`.

    >>> from dirichlet_bandits.numerics.contour import build, make
    >>> contour = make(1)[0]
    >>> build(contour, np.zeros(30), np.empty(0), 1.0, 0.1)  # the weight of b is Beta(1, 30)
    >>> log_f, slope, error = log_density(contour, 0.1, 1.0)
    >>> abs(log_f - math.log(30 * 0.9**29)) < 1e-10, abs(slope + 29 / 0.9) < 1e-8
    (True, True)

    Reference: the docstring of this module.
    """
    log_size, sign, slope, error = _integral(contour, m, b)
    return (log_size, slope, error) if sign > 0.0 else (math.nan, math.nan, math.inf)


@shared
def log_density_by_residue(contour: Any, m: float, b: float, log_residue: float) -> tuple[float, float]:
    """Return log f(m) like :func:`log_density`, and its estimated error, for a line on either side of the pole.

    ``log_residue`` is the logarithm of n (b - m)^(n-1) / prod_i (b - x_i)^(w_i).

    >>> from dirichlet_bandits.numerics.contour import build, make
    >>> contour, x = make(1)[0], np.linspace(0.0, 0.1, 100)
    >>> build(contour, x, np.empty(0), 0.05, 0.06)  # for a bonus among the data, so that the line lies beyond 1/b'
    >>> log_residue = math.log(100) + 99 * math.log(1.0 - 0.06) - float(np.log(1.0 - x).sum())
    >>> log_f, error = log_density_by_residue(contour, 0.06, 1.0, log_residue)
    >>> abs(log_f - log_density_anew(np.append(x, 1.0), 0.06)[0]) < 1e-10, error < 1e-12
    (True, True)

    Reference: the docstring of this module.
    """
    log_size, sign, _, error = _integral(contour, m, b)
    if not sign < 0.0:
        return log_size, error
    share = math.exp(log_size - log_residue)
    return log_residue + math.log1p(-share), error * share / (1.0 - share)


@jit
def _integral(contour: Any, m: float, b: float) -> tuple[float, float, float, float]:
    """Return the logarithm of the size of the integral, its sign, the derivative of the logarithm, and its error."""
    unit, center, n = contour.unit, contour.center, contour.total
    at_m, at_b = factor(contour, m), factor(contour, b)
    if not (at_m.left > 0.0 and at_b.left != 0.0):  # not built, or the line has passed a pole of the data
        return math.nan, math.nan, math.nan, math.inf
    real, imag = product_times_power(contour, at_m.tilt, n - 1.0)
    y, weight_real, weight_imag = contour.y, contour.weight_real, contour.weight_imag
    total = alternate = slower = slow = last = moment = 0.0
    for j in range(NODES):
        share = weight_real[j] * center - weight_imag[j] * y[j]  # the kept weights are divided by z
        v = y[j] * at_b.tilt  # divide by the bonus's factor 1 - i v
        share /= 1.0 + v * v
        term = share * (real[j] - imag[j] * v)
        other = share * (imag[j] + real[j] * v)
        total += term
        alternate += term * WAVES[0, j]
        slower += term * WAVES[1, j]
        slow += term * WAVES[2, j]
        last = share * (abs(real[j]) + abs(imag[j])) * (1.0 + abs(v))
        # The derivative's integrand has one more factor z/(1 - z m').
        t = y[j] * at_m.tilt
        moment += (term * (center - y[j] * t) - other * (y[j] + center * t)) / (1.0 + t * t)
    if not total > 0.0:
        return math.nan, math.nan, math.nan, math.inf
    error = max((alternate / total) ** 2, abs(slower / total) ** (16 / 7), abs(slow / total) ** (8 / 3))
    size = math.log(n / unit * total / abs(at_b.left)) + (n - 1.0) * math.log1p(-at_m.taken) - contour.height
    slope = -(n - 1.0) / unit * moment / (at_m.left * total)
    return size, math.copysign(1.0, at_b.left), slope, error + last / total


@shared
def log_density_anew(values: Floats, m: float) -> tuple[float, float]:
    """Return log f(m) and its derivative for any values, including the bonus; slow, but accurate however few there are.

    1/((1 - s a)(1 - s b)) = (1/(1 - s a) - 1/(1 - s b)) / (s (a - b)), so the density is n/(high - low) times the
    difference of two crossing probabilities, without the lowest value and without the highest. The derivative is a
    difference of densities in the same way.

    >>> log_f, slope = log_density_anew(np.append(np.zeros(30), 1.0), 0.1)
    >>> abs(log_f - math.log(30 * 0.9**29)) < 1e-10, abs(slope + 29 / 0.9) < 1e-8
    (True, True)

    Reference: the docstring of this module.
    """
    log_f = _log_difference(values, m)
    without_low, without_high = _log_difference(_without(values, False), m), _log_difference(_without(values, True), m)
    n = values.size - 1
    change = n / (max_of(values) - min_of(values)) * (math.exp(without_low - log_f) - math.exp(without_high - log_f))
    return log_f, -change


@shared
def _log_difference(values: Floats, m: float) -> float:
    """Return the log density as a difference of crossing probabilities; if all values are equal, it is -inf."""
    spread = max_of(values) - min_of(values)
    if not spread > 0.0:
        return -math.inf
    more, less = _without(values, False), _without(values, True)
    log_more, log_less = log_crossing(shifted(more, -m), np.empty(0)), log_crossing(shifted(less, -m), np.empty(0))
    if not log_more > log_less:
        return -math.inf
    return math.log((values.size - 1) / spread) + log_more + math.log1p(-math.exp(log_less - log_more))


@jit
def _without(values: Floats, highest: bool) -> Floats:
    """Return all values but one of the highest or of the lowest."""
    k = 0
    for i in range(1, values.size):
        if values[i] > values[k] if highest else values[i] < values[k]:
            k = i
    return without(values, k)


TERMS: Final = 16
"""Coefficients per piece, and points at which a piece is evaluated."""
MOST_PIECES: Final = 128
MIDDLE: Final = MOST_PIECES // 2
"""Pieces are added to the left and to the right of this place."""
MOST_BREAKS: Final = 20
_LOG_RANGE: Final = 8.0  # change of g over half a panel: 24 values of exp(8 t) give its integral right to 2e-13

PIECE_NODES: Final = np.cos(math.pi * (np.arange(TERMS) + 0.5) / TERMS)
"""Where a piece on [-1, 1] is evaluated."""
_FIT: Final = np.cos(math.pi * np.outer(np.arange(TERMS) + 0.5, np.arange(TERMS)) / TERMS) * (2.0 / TERMS)
_FIT[:, 0] *= 0.5
_POWERS: Final = np.array([np.pad(cheb2poly(row[: i + 1]), (0, TERMS - 1 - i)) for i, row in enumerate(np.eye(TERMS))])

_NUMBERS = [(name, "f8") for name in ("low", "high", "low_power", "high_power", "top", "depth")]
_PIECES = [("first", "i8"), ("last", "i8"), ("coefficients", "f8", (MOST_PIECES, TERMS))]
_EDGES = [(name, "f8", (MOST_PIECES + 1,)) for name in ("edges", "values", "slopes")]
TABLE: Final = np.dtype([*_NUMBERS, *_PIECES, *_EDGES, ("breaks", "f8", (MOST_BREAKS,))])
"""Piece i reaches from ``edges[i]`` to ``edges[i + 1]``, where ``values`` and ``slopes`` are those of g. A table has
the pieces ``first`` to ``last - 1``. ``top`` is the logarithm of the density at its mode. Where a table ends before the
support does, the logarithm has fallen by at least ``depth``. Unused breaks are infinite.
"""


class Tables(NamedTuple):
    """Tables of several densities, with their modes and approximate widths."""

    modes: Floats
    widths: Floats
    tables: Any


@jit
def fit_piece(values: Floats, table: Any, piece: int, left: float, right: float) -> float:
    """Write the polynomial through values at the nodes of a piece; return the size of its last Chebyshev coefficients.

    Chebyshev coefficients show whether the polynomial is accurate. They decrease so fast that the powers of x, which
    take fewer operations later, lose no digits.
    """
    series, powers, half = np.empty(TERMS), table.coefficients[piece], 0.5 * (right - left)
    for i in range(TERMS):
        total = 0.0
        for m in range(TERMS):
            total += _FIT[m, i] * values[m]
        series[i] = total
    for i in range(TERMS):
        total = 0.0
        for m in range(TERMS):
            total += _POWERS[m, i] * series[m]
        powers[i] = total
    start = end = rise = final_rise = 0.0
    sign = 1.0
    for i in range(TERMS):
        start, end = start + sign * powers[i], end + powers[i]
        rise, final_rise = rise - sign * i * powers[i], final_rise + i * powers[i]
        sign = -sign
    table.edges[piece], table.values[piece], table.slopes[piece] = left, start, rise / half
    table.edges[piece + 1], table.values[piece + 1], table.slopes[piece + 1] = right, end, final_rise / half
    return abs(series[TERMS - 2]) + abs(series[TERMS - 1])


@jit
def _find_piece(table: Any, v: float) -> int:
    """Return the piece that contains v, or the nearest one."""
    return interval(table.edges, v, table.first, table.last)


@jit
def smooth_part(table: Any, v: float) -> tuple[float, float]:
    """Return approximately g(v) and its derivative, from values and slopes at edges; tangents beyond the pieces."""
    i = _find_piece(table, v)
    width = table.edges[i + 1] - table.edges[i]
    x = (v - table.edges[i]) / width
    if x < 0.0 or x > 1.0:
        i += x > 1.0
        return table.values[i] + table.slopes[i] * (v - table.edges[i]), table.slopes[i]
    rise, first, last = table.values[i + 1] - table.values[i], table.slopes[i] * width, table.slopes[i + 1] * width
    square, cube = 3.0 * rise - 2.0 * first - last, first + last - 2.0 * rise
    return table.values[i] + x * (first + x * (square + x * cube)), (
        first + x * (2.0 * square + 3.0 * x * cube)
    ) / width


@jit
def rough_log_density(table: Any, v: float) -> tuple[float, float]:
    """Return approximately the logarithm of a density and its derivative; they decide only which panels matter."""
    if not table.low <= v <= table.high:
        return -math.inf, math.inf if v < table.low else -math.inf
    value, change = smooth_part(table, v)
    if table.low_power > 0.0:
        away = v - table.low
        value, change = value + table.low_power * math.log(away), change + table.low_power / away
    if table.high_power > 0.0:
        away = table.high - v
        value, change = value + table.high_power * math.log(away), change - table.high_power / away
    return value, change


@implement(fall, Tables)
def table_fall(densities: Tables, k: int, t: float) -> float:
    """Return by how much the logarithm is smaller at a distance t from the mode."""
    table = densities.tables[k]
    return table.top - rough_log_density(table, densities.modes[k] + t)[0]


@implement(slope, Tables)
def table_slope(densities: Tables, k: int, t: float) -> float:
    """Return the derivative of the logarithm at a distance t from the mode."""
    return rough_log_density(densities.tables[k], densities.modes[k] + t)[1]


@implement(half_width, Tables)
def table_half_width(densities: Tables, k: int, t: float) -> float:
    """Return half the width of a panel over which g changes by no more than the limit; small powers are polynomials."""
    table, v, width = densities.tables[k], densities.modes[k] + t, densities.widths[k]
    here = abs(smooth_part(table, v)[1])
    half = 2.0 * _LOG_RANGE / (here + math.sqrt(here**2 + 4.0 * _LOG_RANGE / width**2))
    piece = _find_piece(table, v)
    half = min(half, table.edges[piece + 1] - table.edges[piece])
    for _ in range(4):
        there = abs(smooth_part(table, v + 2.0 * half)[1])
        too_much = half * (here + there) / (2.0 * _LOG_RANGE)
        if too_much <= 1.0:
            break
        half /= min(too_much, 2.0)
    return half


@implement(next_edge, Tables)
def next_break(densities: Tables, k: int, v: float) -> float:
    """Return the next break to the right of v."""
    breaks = densities.tables[k].breaks
    for i in range(MOST_BREAKS):
        if breaks[i] > v:
            return float(breaks[i])
    return math.inf


@implement(prepare_panel, Tables)
def nothing_in_common(densities: Tables, center: float, t: Floats, u: Floats) -> None:
    """Do nothing: each density has its own table."""


@implement(tabulate, Tables)
def write_densities(densities: Tables, k: int, center: float, t: Floats, u: Floats, density: Floats) -> None:
    """Write the density at the nodes of a panel, piece by piece."""
    table = densities.tables[k]
    edges, last = table.edges, table.last - 1
    piece, begin = _find_piece(table, center + t[0]), 0
    while begin < t.size:
        end = begin + 1
        while end < t.size and (piece == last or center + t[end] <= edges[piece + 1]):
            end += 1
        left, right, coefficients = edges[piece] - center, edges[piece + 1] - center, table.coefficients[piece]
        for i in range(begin, end):
            x, value = (2.0 * t[i] - left - right) / (right - left), coefficients[TERMS - 1]
            for j in range(TERMS - 2, -1, -1):
                value = value * x + coefficients[j]
            density[i] = value
        begin, piece = end, piece + 1
    shift = -table.top - math.log(math.sqrt(2.0 * math.pi) * densities.widths[k])
    low, high, p, q = table.low, table.high, table.low_power, table.high_power
    first_edge, last_edge = edges[table.first], edges[table.last]
    for i in range(t.size):
        v, value = center + t[i], density[i] + shift
        if p > 0.0:
            value += p * math.log(v - low)
        if q > 0.0:
            value += q * math.log(high - v)
        density[i] = math.exp(value) if first_edge < v < last_edge else 0.0


@jit
def place_mode(densities: Tables, k: int) -> None:
    """Find where the density of a complete table is largest: the derivative of its logarithm decreases."""
    table = densities.tables[k]
    left, right = table.edges[table.first], table.edges[table.last]
    for _ in range(40):
        middle = 0.5 * (left + right)
        if rough_log_density(table, middle)[1] > 0.0:
            left = middle
        else:
            right = middle
    densities.modes[k] = 0.5 * (left + right)
    table.top = rough_log_density(table, densities.modes[k])[0]


@jit
def covered(densities: Tables, between: Limits) -> bool:
    """Return whether the tables reach as far as the limits, and move limits that lie beyond a table to its end."""
    enough = True
    for k in range(densities.modes.size):
        table = densities.tables[k]
        begin, end, mode = table.edges[table.first], table.edges[table.last], densities.modes[k]
        reaches_left = begin <= between.begin[k] or fall(densities, k, begin - mode) >= between.left_fall[k]
        reaches_right = between.end[k] <= end or fall(densities, k, end - mode) >= between.right_fall[k]
        enough = enough and (reaches_left or begin == table.low) and (reaches_right or end == table.high)
        between.begin[k] = max(between.begin[k], begin)
        between.end[k] = min(between.end[k], end)
        between.last[k] = min(between.last[k], end)
    return enough
