"""Log-concave densities on bounded intervals, kept as tables of polynomials, for :mod:`log_concave`.

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

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import interval
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

TERMS: Final = 16
"""Coefficients per piece, and points at which a piece is evaluated."""
MOST_PIECES: Final = 128
MIDDLE: Final = MOST_PIECES // 2
"""Pieces are added to the left and to the right of this place."""
MOST_BREAKS: Final = 20
_LOG_RANGE: Final = 8.0  # change of g over half a panel: 24 values of exp(8 t) give its integral right to 2e-13

NODES: Final = np.cos(math.pi * (np.arange(TERMS) + 0.5) / TERMS)
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
