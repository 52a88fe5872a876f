"""Choose the vertical line on which a crossing probability is integrated, and compute the integrand on it.

In units of the largest offset a_0 > 0, put u_i = a_i/a_0 <= 1, v_i = 1 - u_i and s = (1/(1+e) + i y)/a_0. Then

    1 - s a_i = (e + v_i)/(1 + e) * (1 - i y b_i),        b_i = u_i (1 + e)/(e + v_i),

a real number times a factor of modulus above 1, so products of such factors never cancel.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import set_all
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.tolerances import NEWTON_LIMIT, SADDLE_STEP

_BIG: Final = 1e100  # products are brought back below this; one more factor cannot overflow


@shared
def saddle(offsets: np.ndarray, weights: np.ndarray, top: float) -> tuple[float, float]:
    """Return where the line crosses the real axis (as e) and the integrand's natural width there.

    The saddle point of K(s) = -sum_i w_i log(1 - s a_i) - log s on (0, 1/top) solves
    (1 + e) sum_i w_i/(e + v_i) = 1 + sum_i w_i;  the width is 1/sqrt(K''), or the distance to the pole if
    smaller.
    `top` is the largest offset; it must be positive.

    >>> e, width = saddle(np.array([1.0, -1.0]), np.empty(0), 1.0)  # 1/s/(1 - s^2): saddle at 1/sqrt(3)
    >>> abs(1.0 / (1.0 + e) - 3.0**-0.5) < 0.05
    True

    Reference: Daniels (1954), Saddlepoint approximations in statistics.
    """
    total = 0.0
    first = 0.0
    second = 0.0
    heaviest = 0.0
    for i in range(offsets.size):
        w = weight_of(weights, i)
        u = offsets[i] / top
        total += w
        first += w * u
        second += w * u * u
        if offsets[i] == top:
            heaviest = max(heaviest, w)
    low = heaviest / (1.0 + total - heaviest)  # the pole alone keeps e above this
    root = math.sqrt(first * first + 4.0 * second)
    # The root in c = 1/(1+e) of the parabola second c^2 + first c - 1, written without cancellation.
    start = (root + first) / 2.0 if first > 0.0 else 2.0 * second / (root - first)
    e = max(start - 1.0, low)
    high = math.inf
    width = 0.0
    for _ in range(NEWTON_LIMIT):
        inverse = 0.0
        square = 0.0
        curvature = 1.0
        for i in range(offsets.size):
            r = 1.0 / (e + (top - offsets[i]) / top)
            g = offsets[i] / top * r
            w = weight_of(weights, i)
            inverse += w * r
            square += w * r * r
            curvature += w * g * g
        # Newton's method on the concave increasing (1 + total)/inverse - (1 + e): from the left, it stays on the left.
        height = (1.0 + total) / inverse - (1.0 + e)
        step = -height / ((1.0 + total) * square / (inverse * inverse) - 1.0)
        width = 1.0 / ((1.0 + e) * math.sqrt(curvature))
        if abs(step) <= SADDLE_STEP * (1.0 + e) ** 2 * min(width, e / (1.0 + e)):
            break
        if height < 0.0:
            low = e
        else:
            high = e
        # A step that doubles e indicates a long climb, so take a larger one; the bracket limits the damage.
        e += 4.0 * step if step > 0.5 * e and high == math.inf else step
        if not low < e < high:
            e = math.sqrt(low * high)
    return e, min(width, e / (1.0 + e))


@jit
def log_factor(offset: float, top: float, e: float) -> float:
    """Return log(1 - s a) where the line crosses the real axis.

    >>> log_factor(-3.0, 1.0, 1.0) == math.log(2.5)
    True

    Reference: the docstring of this module.
    """
    u = offset / top
    if abs(u) < 0.5 * (1.0 + e):
        return math.log1p(-u / (1.0 + e))
    return math.log((e + (top - offset) / top) / (1.0 + e))


class Products(NamedTuple):
    """One complex number per node, (real + i imag) exp(log - i phase)."""

    real: np.ndarray
    imag: np.ndarray
    log: np.ndarray
    phase: np.ndarray


@shared
def multiply(offsets: np.ndarray, weights: np.ndarray, top: float, e: float, y: np.ndarray, products: Products) -> None:
    """Compute prod_i (1 - i y_j b_i)^(w_i) at every node j, as (real_j + i imag_j) exp(log_j - i phase_j).

    Observations of weight 1, which are almost all, cost two multiplications and two additions per node.

    >>> out = np.empty((4, 1))
    >>> multiply(np.array([1.0, 1.0]), np.empty(0), 1.0, 1.0, np.array([0.5]), Products(*out))
    >>> out[:, 0]  # e = 1 gives b = 2: the square of 1 - i
    array([ 0., -2.,  0.,  0.])

    Reference: the docstring of this module.
    """
    real, imag, log, phase = products
    set_all(real, 1.0)
    set_all(imag, 0.0)
    set_all(log, 0.0)
    set_all(phase, 0.0)
    for i in range(offsets.size):
        b = offsets[i] / top * (1.0 + e) / (e + (top - offsets[i]) / top)
        w = weight_of(weights, i)
        if w == 1.0:
            for j in range(y.size):
                t = y[j] * b
                re = real[j] + imag[j] * t
                im = imag[j] - real[j] * t
                fold = 1.0 / _BIG if abs(re) + abs(im) > _BIG else 1.0
                log[j] += 1.0 if fold != 1.0 else 0.0
                real[j] = re * fold
                imag[j] = im * fold
        else:
            for j in range(y.size):
                t = y[j] * b
                phase[j] += w * math.atan(t)
                # In units of log(_BIG), like the folds above.
                log[j] += w * 0.5 * math.log1p(t * t) / math.log(_BIG)
    for j in range(y.size):
        log[j] *= math.log(_BIG)


@jit
def quotient(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """Return the real and imaginary part of (a + ib)/(c + id); Numba's complex division compiles to far more code.

    >>> quotient(-5.0, 10.0, 3.0, 4.0)
    (1.0, 2.0)

    Reference: Smith (1962), Algorithm 116: complex division.
    """
    if abs(c) >= abs(d):
        ratio = d / c
        size = c + d * ratio
        return (a + b * ratio) / size, (b - a * ratio) / size
    ratio = c / d
    size = c * ratio + d
    return (a * ratio + b) / size, (b * ratio - a) / size
