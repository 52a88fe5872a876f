"""Compute the probability that each of several independent variables with log-concave densities is the largest.

All variables belong to one family, and each is given by two parameters.

    P(X_k is the largest) = integral of  f_k(v)  prod_{j != k} F_j(v)  dv

On a panel of Gauss-Legendre nodes, each density is the polynomial through its values, and its integral from the left
gives the distribution function, so no incomplete beta or gamma function is evaluated. Panels go from left to right and
are shared by all variables. On a panel with center c, all logarithms of densities have the form

    log f(c + t) = log f(c) + alpha t - beta u(t),

where u depends on the family and on c only, so one exponential function per variable and node is left.

Constants of the densities cancel. With F_j = C_j / Z_j, where C_j is the integral of the unnormalized density and Z_j
the whole of it, each of the integrals above has the denominator prod_j Z_j.

Which panels matter follows from the logarithms. The integrand for k is log-concave, as all of its factors are, and near

    H_k(v) = log f_k(v) - log max f_k  +  sum over j with v < mode_j of  log f_j(v) - log max f_j.

Where H_k is far below its maximum, the integrand for k is left out. Where a density is far below what its integral
is compared with, the density is left out.

Reference: Clenshaw and Curtis, A method for numerical integration on an automatic computer (1960), for the integral of
an interpolating polynomial as a product with a fixed matrix; An, Logconcavity versus logconvexity (1998).
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
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

FALL: Final = 38.0
"""Where the logarithm of a log-concave integrand is this far below its maximum, the rest is below the last bit."""

UNDERFLOW: Final = 700.0
"""Logarithms below minus this count as those of 0: double precision ends at exp(-745)."""

PANEL_LOG_RANGE: Final = 4.0
"""Change of a density's logarithm over half a panel. The polynomial through 24 values of exp(4 t) is right to 1e-12 of
its smallest value; at a mode, where half a panel is 2 widths, errors cancel in the integral."""

_NODES: Final = 24
_LARGEST: Final = 300.0  # exp of half a panel, and of twice as much, does not overflow
_SEARCHES: Final = 5  # steps of bisection: limits may be a few percent too wide


def _rule() -> tuple[Floats, Floats, Floats]:
    """Return nodes and weights on [-1, 1], and the matrix of integrals from -1: a row per value, a column per node."""
    legendre = np.polynomial.legendre
    nodes, weights = legendre.leggauss(_NODES)
    coefficients = np.linalg.inv(legendre.legvander(nodes, _NODES - 1))
    integrals = np.array([legendre.legval(nodes, legendre.legint(row, lbnd=-1)) for row in np.eye(_NODES)])
    return nodes, weights, np.ascontiguousarray((integrals.T @ coefficients).T)


_X, _WEIGHTS, _INTEGRATE = _rule()


@jit
def mode(kind: int, first: float, second: float) -> tuple[float, float]:
    """Return where the density is largest, and its width there: 1 / sqrt(-(log f)'')."""
    if kind == NORMAL:
        return first, second
    if kind == LOGIT_BETA:
        return math.log(first / second), math.sqrt(1.0 / first + 1.0 / second)
    if kind == LOG_GAMMA:
        return math.log(first) - math.log(second), 1.0 / math.sqrt(first)
    return math.log(first) - math.log(second), 1.0 / math.sqrt(second)


@jit
def fall(kind: int, first: float, second: float, t: float) -> float:
    """Return by how much the logarithm of the density is smaller at a distance t from the mode."""
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


@jit
def slope(kind: int, first: float, second: float, t: float) -> float:
    """Return the derivative of the logarithm of the density at a distance t from the mode."""
    if kind == NORMAL:
        return -t / second**2
    if kind == LOGIT_BETA:
        return first - (first + second) / (1.0 + second / first * math.exp(min(-t, 700.0)))
    if kind == LOG_GAMMA:
        return -first * math.expm1(min(t, 700.0))
    return second * math.expm1(min(-t, 700.0))


@jit
def _half_width(kind: int, first: float, second: float, t: float) -> float:
    """Return half the width of a panel that begins at a distance t from the mode, if only this density mattered."""
    steep, free = abs(slope(kind, first, second, t)), 1.0
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


@jit
def _distance(kind: int, first: float, second: float, width: float, drop: float) -> float:
    """Return how far from the mode the logarithm of the density has fallen by this much, or a little more.

    The sign of ``width`` gives the side.
    """
    near, t = 0.0, width
    if fall(kind, first, second, 4.0 * width) < drop:  # nearly always
        near, t = 4.0 * width, 8.0 * width
    while fall(kind, first, second, t) < drop:
        near, t = t, 2.0 * t
    for _ in range(_SEARCHES):
        middle = 0.5 * (near + t)
        if fall(kind, first, second, middle) < drop:
            near = middle
        else:
            t = middle
    return t


@jit
def _height(kind: int, first: Floats, second: Floats, modes: Floats, k: int, v: float) -> float:
    """Return the concave function H_k at v; see the docstring of this module."""
    height = -fall(kind, first[k], second[k], v - modes[k])
    for j in range(modes.size):
        if j != k and v < modes[j]:
            height -= fall(kind, first[j], second[j], v - modes[j])
    return height


@jit
def _summit(kind: int, first: Floats, second: Floats, modes: Floats, k: int) -> tuple[float, float]:
    """Return approximately where H_k is largest, and its value there, which is at most 1 below the maximum."""
    low, high = modes[k], modes.max()
    at = low
    while True:
        height, rise = -fall(kind, first[k], second[k], at - modes[k]), slope(kind, first[k], second[k], at - modes[k])
        for j in range(modes.size):
            if j != k and at < modes[j]:
                height -= fall(kind, first[j], second[j], at - modes[j])
                rise += slope(kind, first[j], second[j], at - modes[j])
        if rise > 0.0:
            low = at
        else:
            high = at
        middle = 0.5 * (low + high)
        if abs(rise) * (high - low) < 1.0 or not low < middle < high:
            return at, height
        at = middle


@jit
def _limits(kind: int, first: Floats, second: Floats, modes: Floats, widths: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the points between which each density matters, and the right end of each integral; -inf if it is 0."""
    n = modes.size
    begin, end, last, left, tops = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        at, top = _summit(kind, first, second, modes, k)
        end[k] = modes[k] + _distance(kind, first[k], second[k], widths[k], FALL)
        left[k], last[k], tops[k] = math.inf, -math.inf, top
        if top > -UNDERFLOW:
            far = modes[k] + _distance(kind, first[k], second[k], -widths[k], FALL)
            left[k] = _where_lower(kind, first, second, modes, k, at, far, top - FALL)
            far = modes[k] + _distance(kind, first[k], second[k], widths[k], FALL - top)
            last[k] = _where_lower(kind, first, second, modes, k, at, far, top - FALL)
            end[k] = max(end[k], last[k])
    for j in range(n):
        # What is left out must be small beside the integral from the left, wherever the integral for some k needs it.
        # There, by H_k <= -fall_j, the density has not fallen by more than H_k has.
        drop = 0.0
        for k in range(n):
            if k != j and left[k] < modes[j]:
                drop = max(drop, min(fall(kind, first[j], second[j], left[k] - modes[j]), -tops[k]))
        begin[j] = modes[j] + _distance(kind, first[j], second[j], -widths[j], drop + FALL)
    return begin, end, last


@jit
def _where_lower(
    kind: int, first: Floats, second: Floats, modes: Floats, k: int, near: float, far: float, level: float
) -> float:
    """Return a point near the place between ``near`` and ``far`` where H_k falls below this level, on the far side."""
    for _ in range(_SEARCHES):
        middle = 0.5 * (near + far)
        if _height(kind, first, second, modes, k, middle) < level:
            far = middle
        else:
            near = middle
    return far


@shared
def log_concave_argmax(kind: int, first: Floats, second: Floats) -> Floats:
    """Return the probability that each of several independent variables of one family is the largest.

    The sum is 1 up to the error of the quadrature, so a caller can check it.

    >>> log_concave_argmax(NORMAL, np.array([0.0, 0.0, 3.0]), np.array([1.0, 1.0, 0.5])).round(6)
    array([0.003615, 0.003615, 0.992771])

    Reference: the docstring of this module.
    """
    n = first.size
    modes, widths = np.empty(n), np.empty(n)
    for k in range(n):
        modes[k], widths[k] = mode(kind, first[k], second[k])
    begin, end, last = _limits(kind, first, second, modes, widths)
    v, stop = begin.min(), last.max()
    sums, chances = np.zeros(n), np.zeros(n)
    u, t, after = np.empty(_NODES), np.empty(_NODES), np.empty(_NODES)
    density, below, others = np.zeros((n, _NODES)), np.zeros((n, _NODES)), np.ones((n, _NODES))
    while v < stop:
        half, until = math.inf, stop
        for k in range(n):
            if begin[k] > v:
                until = min(until, begin[k])
            elif v < end[k]:
                half = min(half, _half_width(kind, first[k], second[k], v - modes[k]))
        right = min(v + 2.0 * half, until)
        if not right > v:
            break
        half, centre = 0.5 * (right - v), v + 0.5 * (right - v)
        _shared_part(kind, centre, half, t, u)
        counts, all_begun = False, True
        for k in range(n):
            active = begin[k] <= v < end[k]
            bell = first[k], second[k], modes[k], widths[k]
            _tabulate(kind, bell, centre, t, u, active, density[k])
            total = 0.0
            for i in range(_NODES):
                below[k, i] = sums[k]
                total += _WEIGHTS[i] * density[k, i]
            if active:
                for i in range(_NODES):
                    part = 0.0
                    for m in range(_NODES):
                        part += _INTEGRATE[m, i] * density[k, m]
                    below[k, i] += half * part
                sums[k] += half * total
                counts = counts or v < last[k]
            elif v < begin[k]:
                all_begun = False
        if counts and all_begun:  # else all products are 0
            _add(density, below, others, after, half, chances)
        v = right
    return chances / np.prod(sums)


@jit
def _shared_part(kind: int, centre: float, half: float, t: Floats, u: Floats) -> None:
    """Compute what the logarithms of all densities have in common on a panel: t and u(t) at its nodes."""
    p = 1.0 / (1.0 + math.exp(min(abs(centre), 700.0)))
    for i in range(_NODES):
        t[i] = half * _X[i]
        if kind == NORMAL:
            u[i] = 0.5 * t[i] ** 2
        elif kind == LOGIT_BETA:
            u[i] = math.log1p(p * math.expm1(t[i] if centre < 0.0 else -t[i]))
        else:
            u[i] = math.expm1(t[i] if kind == LOG_GAMMA else -t[i])


@jit
def _tabulate(
    kind: int,
    bell: tuple[float, float, float, float],
    centre: float,
    t: Floats,
    u: Floats,
    active: bool,
    density: Floats,
) -> None:
    """Tabulate the density at a panel's nodes; 1 / (sqrt(2 pi) width) at its mode, so that its integral is near 1.

    The ``bell`` is given by its two parameters, its mode and its width.
    """
    first, second, mode, width = bell
    distance = centre - mode
    height = -fall(kind, first, second, distance)
    if not active or height < -UNDERFLOW:
        density[:] = 0.0
        return
    if kind == NORMAL:
        beta = 1.0 / second**2
        alpha = -distance * beta
    elif kind == LOGIT_BETA:
        alpha, beta = first if centre < 0.0 else -second, first + second
    elif kind == LOG_GAMMA:
        alpha, beta = first, first * math.exp(distance)
    else:
        alpha, beta = -second, second * math.exp(-distance)
    scale = 1.0 / (math.sqrt(2.0 * math.pi) * width)
    for i in range(_NODES):
        density[i] = scale * math.exp(height + alpha * t[i] - beta * u[i])


@jit
def _add(density: Floats, below: Floats, others: Floats, after: Floats, half: float, chances: Floats) -> None:
    """Add a panel's share to all integrals; products of the others come from the left and from the right."""
    n = density.shape[0]
    others[0] = half * _WEIGHTS
    for k in range(1, n):
        for i in range(_NODES):
            others[k, i] = others[k - 1, i] * below[k - 1, i]
    after[:] = 1.0
    for k in range(n - 1, -1, -1):
        total = 0.0
        for i in range(_NODES):
            total += density[k, i] * others[k, i] * after[i]
            after[i] *= below[k, i]
        chances[k] += total
