"""Choose the vertical line on which a crossing probability is integrated, and compute the integrand on it.

In units of the largest offset a_0 > 0, put u_i = a_i/a_0 <= 1, v_i = 1 - u_i and s = (1/(1+e) + i y)/a_0. Then

    1 - s a_i = (e + v_i)/(1 + e) * (1 - i y b_i),        b_i = u_i (1 + e)/(e + v_i),

a real number times a factor of modulus above 1, so products of such factors never cancel.

Compute the boundary crossing probability: how likely a Dirichlet-weighted mean is to reach a threshold.

Dirichlet weights are independent gamma variables divided by their sum, so the question is whether a sum of gamma
variables is positive. Its Laplace transform is a product with one factor per value, and inverting the transform gives
the probability as an integral over a vertical line. On a suitable line, the trapezoid rule needs few nodes.

With G_i ~ Gamma(w_i, 1) and a_i = x_i - threshold, the probability is P(sum_i a_i G_i >= 0), and by Laplace inversion

    p = 1/(2 pi i) * integral over Re s = c of  prod_i (1 - s a_i)^(-w_i) / s  ds,      0 < c < 1/max(a).

The trapezoid rule in x, with s = c + i width sinh(x) and c at the saddle point, converges exponentially and to a
small *relative* error, however small p is.

Light observations above the threshold, with w_i far below 1, would spoil that: p is of the order of w_i, but the
integrand is not. Without them, it integrates to the probability p_0 of the others, and the difference of the two
integrands,

    M(s) - M_0(s) = M(s) (1 - exp(sum over the light ones of w_i log(1 - s a_i))),

is of the order of w_i too.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.compiler import entry_point, jit, shared
from dirichlet_bandits.numerics.arrays import max_of, scaled, set_all, sum_of
from dirichlet_bandits.numerics.compensated import two_sum, weight_of
from dirichlet_bandits.numerics.tolerances import (
    CONTOUR_AGREEMENT,
    CONTOUR_HALVINGS,
    CONTOUR_TAIL,
    NEWTON_LIMIT,
    OFFSET_RATIO,
    SADDLE_STEP,
)
from dirichlet_bandits.validation import finite_array, finite_number, positive_weights

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


_NODES: Final = 16  # nodes computed together, in one pass over the data
_STEP: Final = 0.2  # first step: 16 nodes reach x = 3, where a Gaussian integrand is negligible
_FARTHEST: Final = 400.0  # sinh(x) stays far from overflow
_LIGHT: Final = 0.5  # weights below this are light; heavier ones cost one digit at most


def crossing_probability(
    values: ArrayLike, threshold: float, weights: ArrayLike | None = None, log: bool = False
) -> float:
    """Return the probability that sum_i w_i values_i >= threshold for w ~ Dirichlet(weights), weights of 1 by default.

    p = 1/(2 pi i) * integral of  prod_i (1 - s (x_i - threshold))^(-weights_i) / s  ds  on a vertical line,
    with a relative error of about 1e-13, however small p is. `log=True` returns log p, which cannot underflow.

    >>> round(crossing_probability([0, 1], 0.25), 12)  # the weight of the second one is uniform
    0.75
    >>> round(crossing_probability([0] * 2000 + [1], 0.5, log=True) / math.log(0.5), 9)  # (1 - 1/2)^2000
    2000.0

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, section 3.
    """
    x = finite_array("values", values)
    offsets = x - finite_number("threshold", threshold)
    result = float(_log_crossing(offsets, positive_weights("weights", weights, x.size)))
    return result if log else math.exp(result)


@shared
def log_crossing(offsets: np.ndarray, weights: np.ndarray) -> float:
    """Return log P(sum_i offsets_i G_i >= 0), G_i ~ Gamma(weights_i, 1) independent; an empty `weights`: all 1.

    The event or its complement is integrated, depending on the side of the mean on which 0 lies.

    >>> round(math.exp(log_crossing(np.array([3.0, -1.0]), np.empty(0))), 12)
    0.75

    Reference: see :func:`crossing_probability`.
    """
    low = math.inf
    top = -math.inf
    drift = 0.0
    smallest = math.inf
    for i in range(offsets.size):
        low = min(low, offsets[i])
        top = max(top, offsets[i])
        drift += weight_of(weights, i) * offsets[i]
        if offsets[i] != 0.0:
            smallest = min(smallest, abs(offsets[i]))
    if low >= 0.0:
        return 0.0
    if top <= 0.0:
        return -math.inf
    if math.isnan(drift):
        return math.nan
    floor = OFFSET_RATIO * max(top, -low)
    if 0.0 < smallest < floor:
        offsets = scaled(offsets, 1.0)
        for i in range(offsets.size):
            if 0.0 < abs(offsets[i]) < floor:
                offsets[i] = math.copysign(floor, offsets[i])
        low, top = min(low, -floor), max(top, floor)
    half = math.log(0.5)
    if drift <= 0.0:
        direct = log_upper_tail(offsets, weights)
        if direct <= half:
            return direct
        other = log_upper_tail(scaled(offsets, -1.0), weights)
        return math.log1p(-math.exp(other)) if other < half else direct
    other = log_upper_tail(scaled(offsets, -1.0), weights)
    if other <= half:
        return math.log1p(-math.exp(other))
    return log_upper_tail(offsets, weights)


@jit
def log_upper_tail(offsets: np.ndarray, weights: np.ndarray) -> float:
    """Return log P(sum_i offsets_i G_i > 0) for offsets of both signs; light observations are integrated separately.

    >>> round(math.exp(log_upper_tail(np.array([3.0, -1.0]), np.empty(0))), 12)
    0.75
    >>> p = math.exp(log_upper_tail(np.array([3.0, -1.0]), np.array([1e-12, 1.0])))  # 1e-12 log 4
    >>> abs(p / (1e-12 * math.log(4.0)) - 1.0) < 1e-11
    True

    Reference: see :func:`crossing_probability`.
    """
    if weights.size == 0:
        return _log_integral(offsets, weights, np.empty(0), np.empty(0))
    sorted_offsets, sorted_weights, n_light = _light_first(offsets, weights)
    log_p = _log_integral(offsets, weights, sorted_offsets[:n_light], sorted_weights[:n_light])
    if n_light == 0 or n_light == offsets.size or not max_of(sorted_offsets[n_light:]) > 0.0:
        return log_p
    log_p_0 = _log_integral(sorted_offsets[n_light:], sorted_weights[n_light:], np.empty(0), np.empty(0))
    high = max(log_p, log_p_0)
    return min(high + math.log(math.exp(log_p - high) + math.exp(log_p_0 - high)), 0.0)


@jit
def _light_first(offsets: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return offsets and weights with the light ones first, and the number of light ones."""
    ordered, n = np.empty((2, offsets.size)), 0
    n_light = 0
    for light in (True, False):
        for i in range(offsets.size):
            if (offsets[i] > 0.0 and weights[i] < _LIGHT) == light:
                ordered[0, n], ordered[1, n] = offsets[i], weights[i]
                n += 1
        n_light = n if light else n_light
    return ordered[0], ordered[1], n_light


class _Line(NamedTuple):
    """The line of integration: where it crosses the real axis, and the integrand's width there.

    Beyond ``pure``, the integrand decays like exp(-decay x).
    """

    top: float
    e: float
    width: float
    pure: float
    decay: float


@jit
def _log_integral(offsets: np.ndarray, weights: np.ndarray, light: np.ndarray, of_light: np.ndarray) -> float:
    """Return the logarithm of the contour integral; if there are light offsets, minus the integral without them."""
    top = max_of(offsets)
    e, width = saddle(offsets, weights, top)
    height = math.log1p(e)
    rest = 0.0
    decay = 0.0
    smallest = math.inf
    for i in range(offsets.size):
        if offsets[i] != 0.0:
            w = weight_of(weights, i)
            height, carry = two_sum(height, -w * log_factor(offsets[i], top, e))
            rest += carry
            decay += w
            b = offsets[i] / top * (1.0 + e) / (e + (top - offsets[i]) / top)
            smallest = min(smallest, abs(b))
    # Beyond this x, every factor is a power of y, and the integrand decays exactly like exp(-decay x).
    pure = min(math.asinh(1e17 / width / min(smallest, 1.0 + e)), _FARTHEST)
    work = np.empty((6, _NODES))
    step = _STEP
    start = _without_light(light, of_light, top, e, 0.0)[0]
    line = _Line(top, e, width, pure, decay)
    coarse = 0.5 * step * start + step * _line_sum(offsets, weights, light, of_light, line, step, step, work)
    for _ in range(CONTOUR_HALVINGS):
        middle = _line_sum(offsets, weights, light, of_light, line, 0.5 * step, step, work)
        fine = 0.5 * (coarse + step * middle)
        step *= 0.5
        settled = abs(fine - coarse) <= CONTOUR_AGREEMENT * abs(fine)
        coarse = fine
        if settled:
            break
    return min(height + (rest + math.log(coarse * width / math.pi)), 0.0)


@jit
def _without_light(light: np.ndarray, of_light: np.ndarray, top: float, e: float, y: float) -> tuple[float, float]:
    """Return the real and imaginary part of 1 - M_0(s)/M(s) at height y of the line; 1 if nothing is light."""
    if light.size == 0:
        return 1.0, 0.0
    log, turn = 0.0, 0.0
    for i in range(light.size):
        b = light[i] / top * (1.0 + e) / (e + (top - light[i]) / top)
        log += of_light[i] * (log_factor(light[i], top, e) + 0.5 * math.log1p(y * b * y * b))
        turn -= of_light[i] * math.atan(y * b)
    grown = math.expm1(log)
    half = math.sin(0.5 * turn)
    return 2.0 * half * half - grown * math.cos(turn), -(1.0 + grown) * math.sin(turn)


@jit
def _line_sum(
    offsets: np.ndarray,
    weights: np.ndarray,
    light: np.ndarray,
    of_light: np.ndarray,
    line: _Line,
    first: float,
    step: float,
    work: np.ndarray,
) -> float:
    """Return the sum of the integrand, relative to its value on the real axis, at x = first, first + step, ..."""
    top, e, width, pure, decay = line
    y, real, imag, log, phase, jacobian = work[0], work[1], work[2], work[3], work[4], work[5]
    total: float = 0.0
    x = first
    while x <= _FARTHEST:
        for j in range(y.size):
            y[j] = width * math.sinh(x + step * j)
            jacobian[j] = math.cosh(x + step * j)
        multiply(offsets, weights, top, e, y, Products(real, imag, log, phase))
        a = b = 0.0  # real and imaginary part of a term
        for j in range(y.size):
            modulus = math.exp(-log[j]) * jacobian[j]
            a, b = quotient(modulus * math.cos(phase[j]), modulus * math.sin(phase[j]), real[j], imag[j])
            a, b = quotient(a, b, 1.0, y[j] * (1.0 + e))
            c, d = _without_light(light, of_light, top, e, y[j])
            total += a * c - b * d
            if x + step * j >= pure:
                # The remainder is a geometric series, or the difference of two.
                lighter = sum_of(of_light)
                slow, fast = math.expm1((decay - lighter) * step), math.expm1(decay * step)
                fewer = -(1.0 + slow) * math.expm1(lighter * step) / fast
                return total + (a * (c + fewer) - b * d) / slow
            a, b = a * c - b * d, a * d + b * c
        if math.hypot(a, b) <= CONTOUR_TAIL * abs(total):
            return total
        x += step * y.size
    return total


_log_crossing = entry_point(log_crossing)
