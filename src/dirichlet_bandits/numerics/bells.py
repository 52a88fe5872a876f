"""Four families of log-concave densities, and which of several variables of one of them is the largest.

On a panel with center c, all logarithms of the densities of a family have the form

    log f(c + t) = log f(c) + alpha t - beta u(t),

where u depends on the family and on c only, so one exponential function per variable and node is left.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.log_concave import (
    PANEL_LOG_RANGE,
    UNDERFLOW,
    fall,
    half_width,
    implement,
    integrate,
    limits,
    next_edge,
    prepare_panel,
    slope,
    tabulate,
)
from dirichlet_bandits.numerics.tolerances import PANEL_NEGLIGIBLE
from dirichlet_bandits.types import Floats

NORMAL: Final = 0
"""Mean and standard deviation."""
LOGIT_BETA: Final = 1
"""The log-odds of a Beta variable, with its two shapes."""
LOG_GAMMA: Final = 2
"""The logarithm of a Gamma variable, with its shape and rate."""
LOG_INVERSE_GAMMA: Final = 3
"""The logarithm of total / G, where G is a Gamma variable: total and shape."""

_LARGEST: Final = 300.0  # exp of half a panel, and of twice as much, does not overflow


class Bells(NamedTuple):
    """Variables of one family, each with two parameters, the place where its density is largest, and its width."""

    kind: int
    first: Floats
    second: Floats
    modes: Floats
    widths: Floats


@jit
def bell_mode(kind: int, first: float, second: float) -> tuple[float, float]:
    """Return where the density is largest, and its width there: 1 / sqrt(-(log f)'')."""
    if kind == NORMAL:
        return first, second
    if kind == LOGIT_BETA:
        return math.log(first / second), math.sqrt(1.0 / first + 1.0 / second)
    if kind == LOG_GAMMA:
        return math.log(first) - math.log(second), 1.0 / math.sqrt(first)
    return math.log(first) - math.log(second), 1.0 / math.sqrt(second)


@implement(fall, Bells)
def bell_fall(bells: Bells, k: int, t: float) -> float:
    """Return by how much the logarithm of the density is smaller at a distance t from the mode."""
    kind, first, second = bells.kind, bells.first[k], bells.second[k]
    if kind == NORMAL:
        return 0.5 * (t / second) ** 2
    if kind == LOGIT_BETA:
        if first > second:  # the distribution of 1 - x: a share below 1/2 loses no digits
            first, second, t = second, first, -t
        if t > 700.0:
            return second * t
        n = first + second
        return n * math.log1p(first / n * math.expm1(t)) - first * t
    shape, t = (first, t) if kind == LOG_GAMMA else (second, -t)
    return shape * (math.expm1(t) - t) if t < 700.0 else math.inf


@implement(slope, Bells)
def bell_slope(bells: Bells, k: int, t: float) -> float:
    """Return the derivative of the logarithm of the density at a distance t from the mode."""
    kind, first, second = bells.kind, bells.first[k], bells.second[k]
    if kind == NORMAL:
        return -t / second**2
    if kind == LOGIT_BETA:
        return first - (first + second) / (1.0 + second / first * math.exp(min(-t, 700.0)))
    if kind == LOG_GAMMA:
        return -first * math.expm1(min(t, 700.0))
    return second * math.expm1(min(-t, 700.0))


@implement(half_width, Bells)
def bell_half_width(bells: Bells, k: int, t: float) -> float:
    """Return half the width of a panel that begins at a distance t from the mode, if only this density mattered."""
    kind, first, second = bells.kind, bells.first[k], bells.second[k]
    steep, free = abs(slope(bells, k, t)), 1.0
    if kind == NORMAL:
        curvature, free = 1.0 / second**2, math.inf
    else:
        if kind == LOGIT_BETA:
            odds = first / second * math.exp(min(max(t, -700.0), 700.0))
            curvature, grows = (first + second) * odds / (1.0 + odds) ** 2, odds < 1.0
        elif kind == LOG_GAMMA:
            curvature, grows = first * math.exp(t), True
        else:
            curvature, grows = second * math.exp(-t), False
        # A tail whose curvature is negligible, and stays so, is an exponential function.
        if curvature < PANEL_NEGLIGIBLE:
            free = max(1.0, min(_LARGEST, 0.5 * math.log(PANEL_NEGLIGIBLE / curvature) if grows else math.inf))
    # The half width h at which steep h + curvature h^2 is the limit.
    return min(free, 2.0 * PANEL_LOG_RANGE / (steep + math.sqrt(steep**2 + 4.0 * curvature * PANEL_LOG_RANGE)))


@implement(prepare_panel, Bells)
def write_common_part(bells: Bells, center: float, t: Floats, u: Floats) -> None:
    """Write u(t) of the docstring of this module at the nodes of a panel."""
    kind = bells.kind
    p = 1.0 / (1.0 + math.exp(min(abs(center), 700.0)))
    for i in range(t.size):
        if kind == NORMAL:
            u[i] = 0.5 * t[i] ** 2
        elif kind == LOGIT_BETA:
            u[i] = math.log1p(p * math.expm1(t[i] if center < 0.0 else -t[i]))
        else:
            u[i] = math.expm1(t[i] if kind == LOG_GAMMA else -t[i])


@implement(tabulate, Bells)
def write_density(bells: Bells, k: int, center: float, t: Floats, u: Floats, density: Floats) -> None:
    """Tabulate the density at a panel's nodes; 1 / (sqrt(2 pi) width) at its mode, so that its integral is near 1."""
    kind, first, second = bells.kind, bells.first[k], bells.second[k]
    distance = center - bells.modes[k]
    height = -fall(bells, k, distance)
    if height < -UNDERFLOW:
        density[:] = 0.0
        return
    if kind == NORMAL:
        beta = 1.0 / second**2
        alpha = -distance * beta
    elif kind == LOGIT_BETA:
        alpha, beta = first if center < 0.0 else -second, first + second
    elif kind == LOG_GAMMA:
        alpha, beta = first, first * math.exp(distance)
    else:
        alpha, beta = -second, second * math.exp(-distance)
    scale = 1.0 / (math.sqrt(2.0 * math.pi) * bells.widths[k])
    for i in range(t.size):
        density[i] = scale * math.exp(height + alpha * t[i] - beta * u[i])


@implement(next_edge, Bells)
def no_edge(bells: Bells, k: int, v: float) -> float:
    """Return infinity: the densities are smooth."""
    return math.inf


@shared
def log_concave_argmax(kind: int, first: Floats, second: Floats) -> Floats:
    """Return the probability that each of several independent variables of one family is the largest.

    The sum is 1 up to the error of the quadrature, so a caller can check it.

    >>> log_concave_argmax(NORMAL, np.array([0.0, 0.0, 3.0]), np.array([1.0, 1.0, 0.5])).round(6)
    array([0.003615, 0.003615, 0.992771])

    Reference: the docstring of :mod:`log_concave`.
    """
    bells = Bells(kind, first, second, np.empty(first.size), np.empty(first.size))
    for k in range(first.size):
        bells.modes[k], bells.widths[k] = bell_mode(kind, first[k], second[k])
    return integrate(bells, limits(bells))
