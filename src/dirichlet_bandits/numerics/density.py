"""Compute the density of a reweighted mean, and the tangent of its logarithm, from a kept contour.

The density is minus the derivative in m of the crossing integral of :mod:`contour`, with n the weight of the data:

    f(m) = n/(2 pi i) * integral of  (1 - z m')^(n-1) * prod_i (1 - z x_i')^(-w_i) / (1 - z b')  dz.

The mean is a linear image of the uniform law on a simplex, so log f is concave (Brunn and Minkowski), and every tangent
lies above it.

A bonus far above the data has a pole 1/b' close to the line, where the nodes lose their accuracy. If the line lies
beyond the pole, the residue is added, which is the density for m above all data:

    f(m) = n (b - m)^(n-1) / prod_i (b - x_i)^(w_i)  +  the same integral on the line beyond 1/b'.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import max_of, min_of, shifted, without
from dirichlet_bandits.numerics.contour import NODES, WAVES, factor, product_times_power
from dirichlet_bandits.numerics.crossing import log_crossing
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
