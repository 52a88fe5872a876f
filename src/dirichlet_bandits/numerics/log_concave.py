"""Compute the probability that each of several independent variables with log-concave densities is the largest.

    P(X_k is the largest) = integral of  f_k(v)  prod_{j != k} F_j(v)  dv

On a panel of Gauss-Legendre nodes, each density is the polynomial through its values, and its integral from the left
gives the distribution function, so no distribution function is ever evaluated. Panels go from left to right and are
shared by all variables.

Constants of the densities cancel. With F_j = C_j / Z_j, where C_j is the integral of the unnormalized density and Z_j
the whole of it, each of the integrals above has the denominator prod_j Z_j.

Which panels matter follows from the logarithms. The integrand for k is log-concave, as all of its factors are, and near

    H_k(v) = log f_k(v) - log max f_k  +  sum over j with v < mode_j of  log f_j(v) - log max f_j.

Where H_k is far below its maximum, the integrand for k is left out. Where a density is far below what its integral
is compared with, the density is left out.

The densities are those of a family: a NamedTuple with ``modes`` and ``widths``, where each density is largest and about
how wide it is, for which the six functions that only have a docstring here are overloaded (``bells.py``,
``density.py``).

Reference: Clenshaw and Curtis, A method for numerical integration on an automatic computer (1960), for the integral of
an interpolating polynomial as a product with a fixed matrix; An, Logconcavity versus logconvexity (1998).
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import INNER_OPTIONS, jit, overload
from dirichlet_bandits.types import Floats

FALL: Final = 32.0
"""Where the logarithm of a log-concave integrand is this far below its maximum, the rest is left out: 1e-14 of it."""

UNDERFLOW: Final = 700.0
"""Logarithms below minus this count as those of 0: double precision ends at exp(-745)."""

PANEL_LOG_RANGE: Final = 6.0
"""Change of a density's logarithm over half a panel: the integral of the polynomial through 24 values of exp(6 t) is
right to 2e-15 of the integral over the panel, and at a mode, errors cancel as well."""

_NODES: Final = 24
_SEARCHES: Final = 5  # steps of bisection: limits may be a few percent too wide


class Limits(NamedTuple):
    """The points between which each density matters, and the right end of each integral; -inf if it is 0.

    At ``begin`` and ``end``, the logarithm of a density has fallen by at least ``left_fall`` and ``right_fall``.
    """

    begin: Floats
    end: Floats
    last: Floats
    left_fall: Floats
    right_fall: Floats


_VERSIONS: dict[str, dict[type, Any]] = {}


def _of_family(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a stub that each family of densities implements."""
    versions: dict[Any, Any] = _VERSIONS.setdefault(stub.__name__, {})
    find = lambda *kinds: versions.get(getattr(kinds[0], "instance_class", None))  # noqa: E731
    overload(stub, strict=False, jit_options=INNER_OPTIONS)(find)
    return stub


def implement(stub: Callable[..., Any], family: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the version of one of the following functions for a family of densities, a NamedTuple class."""

    def keep(version: Callable[..., Any]) -> Callable[..., Any]:
        _VERSIONS[stub.__name__][family] = version
        return jit(version)

    return keep


@_of_family
def fall(family: Any, k: int, t: float) -> Any:
    """Return by how much the logarithm of the density is smaller at a distance t from the mode."""


@_of_family
def slope(family: Any, k: int, t: float) -> Any:
    """Return the derivative of the logarithm of the density at a distance t from the mode."""


@_of_family
def half_width(family: Any, k: int, t: float) -> Any:
    """Return half the width of a panel that begins at a distance t from the mode, if only this density mattered."""


@_of_family
def next_edge(family: Any, k: int, v: float) -> Any:
    """Return the next point to the right of v where the density is not smooth, or infinity."""


@_of_family
def prepare_panel(family: Any, center: float, t: Floats, u: Floats) -> Any:
    """Write to ``u`` what all densities of the family have in common at the nodes ``center + t`` of a panel."""


@_of_family
def tabulate(family: Any, k: int, center: float, t: Floats, u: Floats, density: Floats) -> Any:
    """Write the density at the nodes of a panel, times any constant for which its integral is near 1."""


def _rule() -> tuple[Floats, Floats, Floats]:
    """Return nodes and weights on [-1, 1], and the matrix of integrals from -1: a row per value, a column per node."""
    legendre = np.polynomial.legendre
    nodes, weights = legendre.leggauss(_NODES)
    coefficients = np.linalg.inv(legendre.legvander(nodes, _NODES - 1))
    integrals = np.array([legendre.legval(nodes, legendre.legint(row, lbnd=-1)) for row in np.eye(_NODES)])
    return nodes, weights, np.ascontiguousarray((integrals.T @ coefficients).T)


_X, _WEIGHTS, _INTEGRATE = _rule()


@jit
def _distance(family: Any, k: int, width: float, drop: float) -> float:
    """Return how far from the mode the logarithm of the density has fallen by this much, or a little more.

    The sign of ``width`` gives the side.
    """
    near, t = 0.0, width
    if fall(family, k, 4.0 * width) < drop:  # nearly always
        near, t = 4.0 * width, 8.0 * width
    while fall(family, k, t) < drop:
        near, t = t, 2.0 * t
    for _ in range(_SEARCHES):
        middle = 0.5 * (near + t)
        if fall(family, k, middle) < drop:
            near = middle
        else:
            t = middle
    return t


@jit
def _height(family: Any, k: int, v: float) -> float:
    """Return the concave function H_k at v; see the docstring of this module."""
    modes = family.modes
    height = -fall(family, k, v - modes[k])
    for j in range(modes.size):
        if j != k and v < modes[j]:
            height -= fall(family, j, v - modes[j])
    return height


@jit
def _summit(family: Any, k: int) -> tuple[float, float]:
    """Return approximately where H_k is largest, and its value there, which is at most 1 below the maximum."""
    modes = family.modes
    low, high = modes[k], modes.max()
    at = low
    while True:
        height, rise = -fall(family, k, at - modes[k]), slope(family, k, at - modes[k])
        for j in range(modes.size):
            if j != k and at < modes[j]:
                height -= fall(family, j, at - modes[j])
                rise += slope(family, j, at - modes[j])
        if rise > 0.0:
            low = at
        else:
            high = at
        middle = 0.5 * (low + high)
        if abs(rise) * (high - low) < 1.0 or not low < middle < high:
            return at, height
        at = middle


@jit
def limits(family: Any) -> Limits:
    """Return between which points the densities matter."""
    modes, widths = family.modes, family.widths
    n = modes.size
    begin, end, last, left, tops = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    left_fall, right_fall = np.empty(n), np.full(n, FALL)
    for k in range(n):
        at, top = _summit(family, k)
        end[k] = modes[k] + _distance(family, k, widths[k], FALL)
        left[k], last[k], tops[k] = math.inf, -math.inf, top
        if top > -UNDERFLOW:
            far = modes[k] + _distance(family, k, -widths[k], FALL)
            left[k] = _where_lower(family, k, at, far, top - FALL)
            far = modes[k] + _distance(family, k, widths[k], FALL - top)
            last[k] = _where_lower(family, k, at, far, top - FALL)
            end[k], right_fall[k] = max(end[k], last[k]), FALL - min(top, 0.0)
    for j in range(n):
        # What is left out must be small beside the integral from the left, wherever the integral for some k needs it.
        # There, by H_k <= -fall_j, the density has not fallen by more than H_k has.
        drop = 0.0
        for k in range(n):
            if k != j and left[k] < modes[j]:
                drop = max(drop, min(fall(family, j, left[k] - modes[j]), -tops[k]))
        left_fall[j] = drop + FALL
        begin[j] = modes[j] + _distance(family, j, -widths[j], left_fall[j])
    return Limits(begin, end, last, left_fall, right_fall)


@jit
def _where_lower(family: Any, k: int, near: float, far: float, level: float) -> float:
    """Return a point near the place between ``near`` and ``far`` where H_k falls below this level, on the far side."""
    for _ in range(_SEARCHES):
        middle = 0.5 * (near + far)
        if _height(family, k, middle) < level:
            far = middle
        else:
            near = middle
    return far


@jit
def integrate(family: Any, between: Limits) -> Floats:
    """Return the probability that each variable is the largest; their sum shows the error of the quadrature."""
    begin, end, last = between.begin, between.end, between.last
    n, v, stop = begin.size, begin.min(), last.max()
    sums, chances = np.zeros(n), np.zeros(n)
    u, t, after = np.empty(_NODES), np.empty(_NODES), np.empty(_NODES)
    density, below, others = np.zeros((n, _NODES)), np.zeros((n, _NODES)), np.ones((n, _NODES))
    while v < stop:
        right = _right_end(family, between, v, stop)
        if not right > v:
            break
        half, center = 0.5 * (right - v), v + 0.5 * (right - v)
        for i in range(_NODES):
            t[i] = half * _X[i]
        prepare_panel(family, center, t, u)
        counts, all_begun = False, True
        for k in range(n):
            for i in range(_NODES):
                below[k, i], density[k, i] = sums[k], 0.0
            if begin[k] <= v < end[k]:
                tabulate(family, k, center, t, u, density[k])
                sums[k] += _integrate_from_left(density[k], half, below[k])
                counts = counts or v < last[k]
            elif v < begin[k]:
                all_begun = False
        if counts and all_begun:  # else all products are 0
            _add(density, below, others, after, half, chances)
        v = right
    return chances / np.prod(sums)


@jit
def _integrate_from_left(density: Floats, half: float, below: Floats) -> float:
    """Add the integral from the left end of a panel to ``below`` at its nodes; return that over the whole panel."""
    total = 0.0
    for m in range(_NODES):  # the inner loop has no sum, so several nodes are computed by one instruction
        height = half * density[m]
        for i in range(_NODES):
            below[i] += height * _INTEGRATE[m, i]
        total += height * _WEIGHTS[m]
    return total


@jit
def _right_end(family: Any, between: Limits, v: float, stop: float) -> float:
    """Return where the panel that begins at v ends."""
    half, until = math.inf, stop
    for k in range(between.begin.size):
        if between.begin[k] > v:
            until = min(until, between.begin[k])
        elif v < between.end[k]:
            half = min(half, half_width(family, k, v - family.modes[k]))
            until = min(until, next_edge(family, k, v))
    return min(v + 2.0 * half, until)


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
