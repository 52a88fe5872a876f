"""A ceiling of the distribution function of a leader's resampled mean, good for as long as the leader does well.

Bernstein's inequality: for n rewards, none below l, of mean m and variance s, and whatever the bound that NPTS adds,

    P(index < m - z) <= exp(-h(z)),  h(z) = n z^2 / (2 (s + (m - l) z)),

and less if n or m are larger or s is smaller. It is Chernoff's product of 1/(1 - lam a_i), a_i = m - z - x_i, with
-log(1 - y) <= y + y^2/(2 (1 - Y)) for y <= Y and the best lam. As h is convex every tangent lies below it; a few of
them make the ceiling exponential piece by piece, so that it is easily integrated and drawn from. Next to the mean
another bound is better: the index has a log-concave law, and is below its expectation with probability at most
1 - 1/e (Gruenbaum, 1960).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.types import Floats

_ENDS = (0.0, 1.0, 2.0, 3.5, math.inf)  # of the pieces, in standard deviations
_TOUCH = (0.0, 0.0, 1.5, 2.5, 4.5)  # where they touch h
_HALF = -math.log(1.0 - math.exp(-1.0))
_BELOW, _WIDER = 0.1, 1.05  # by how many standard deviations the mean may fall, by what factor the variance may grow
_HIGHER, _MORE = 0.5, 1.25  # above so many deviations and so many times the rewards a new ceiling is much lower

PIECE = np.dtype([(name, np.float64) for name in ("start", "end", "height", "slope")])
"""Of the ceiling: at a distance z below the mean, between start and end, it is exp(-height - slope (z - start))."""


class Ceiling(NamedTuple):
    """A ceiling for at least as many rewards as now, none below ``low``, of at least this mean and at most this
    variance. With more than ``most`` rewards, or a mean above ``high``, it is still a ceiling, but no longer used."""

    most: int
    mean: float
    high: float
    variance: float
    low: float
    pieces: Any


@shared
def make_ceiling(n: int, mean: float, squares: float, low: float, upper: float) -> Ceiling:
    """With some room for the leader's mean and variance; an index of equal rewards moves too, by the bound's share."""
    s = max(_WIDER * squares / n, (upper - low) ** 2 / (n * n))
    deviation = math.sqrt(s / n)
    mean -= _BELOW * deviation
    pieces = np.empty(len(_TOUCH), PIECE)
    start = mean - upper
    for j in range(len(_TOUCH)):
        end, z = _ENDS[j] * deviation, _TOUCH[j] * deviation
        spread = s + (mean - low) * z
        slope = 0.5 * n * z * (s + spread) / (spread * spread)  # h'(z)
        piece = pieces[j]
        piece.start, piece.end, piece.slope = start, end, slope
        piece.height = _HALF if j == 1 else 0.5 * n * z * z / spread + slope * (start - z)
        start = end
    return Ceiling(int(_MORE * n), mean, mean + _HIGHER * deviation, s, low, pieces)


@jit
def log_ceiling(ceiling: Ceiling, piece: int, z: float) -> float:
    """At a z of this piece."""
    at = ceiling.pieces[piece]
    return -at.height - at.slope * (z - at.start)


@jit
def _exponential(growth: float, length: float, log_first: float) -> float:
    """Integral of an exponential function over an interval of this length, from its value at the beginning."""
    if growth == 0.0:
        return math.exp(log_first) * length
    if growth > 0.0:
        return -math.exp(log_first + growth * length) * math.expm1(-growth * length) / growth
    return math.exp(log_first) * math.expm1(growth * length) / growth


@shared
def integral(ceiling: Ceiling, fall: float, part: Floats) -> float:
    """Of exp(fall z) times the ceiling, over all z that an index can have; ``part`` gets that of each piece."""
    total = 0.0
    for j in range(len(_TOUCH)):
        piece = ceiling.pieces[j]
        part[j] = _exponential(fall - piece.slope, piece.end - piece.start, fall * piece.start - piece.height)
        total += part[j]
    return total


@shared
def draw(ceiling: Ceiling, fall: float, rng: np.random.Generator) -> tuple[int, float]:
    """A piece and a z in it, with density in proportion to exp(fall z) times the ceiling."""
    part = np.empty(len(_TOUCH))
    u = rng.random() * integral(ceiling, fall, part)
    piece = 0
    while piece < len(_TOUCH) - 1 and u >= part[piece]:
        u -= part[piece]
        piece += 1
    start, end = ceiling.pieces[piece].start, ceiling.pieces[piece].end
    growth, share = fall - ceiling.pieces[piece].slope, rng.random()
    if growth == 0.0:
        return piece, start + share * (end - start)
    if growth > 0.0:  # from the end, where the density is largest: it may have grown without measure
        return piece, end + math.log1p(share * math.expm1(growth * (start - end))) / growth
    return piece, start + math.log1p(share * math.expm1(growth * (end - start))) / growth
