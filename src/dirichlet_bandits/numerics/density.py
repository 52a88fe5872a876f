"""The density of a reweighted mean, and the tangent of its logarithm, from a kept contour.

Minus the derivative in m of the crossing integral of :mod:`contour`, n the weight of the data:

    f(m) = n/(2 pi i) * integral of  (1 - z m')^(n-1) * prod_i (1 - z x_i')^(-w_i) / (1 - z b')  dz.

The mean is a linear image of the uniform law on a simplex, so by Brunn and Minkowski log f is concave: every tangent
lies above it.
"""

import math

from dirichlet_bandits.numerics.contour import (
    CENTRE,
    HEIGHT,
    NODES,
    REFERENCE,
    TOTAL,
    UNIT,
    WAVES,
    Contours,
    times_power,
)
from dirichlet_bandits.numerics.jit import jit


@jit
def log_density(contours: Contours, k: int, m: float, b: float) -> tuple[float, float, float]:
    """log f(m) with the bonus b for arm k, its derivative, and an estimate of the relative error of f.

    The estimate is that of :func:`contour.evaluate`.

    >>> import numpy as np
    >>> from dirichlet_bandits.numerics import contour
    >>> contours = contour.make(1)
    >>> contour.build(contours, 0, np.zeros(30), np.empty(0), 1.0, 0.1)  # the weight of b is Beta(1, 30)
    >>> log_f, slope, error = log_density(contours, 0, 0.1, 1.0)
    >>> abs(log_f - math.log(30 * 0.9**29)) < 1e-10, abs(slope + 29 / 0.9) < 1e-8
    (True, True)

    Reference: the head of this file.
    """
    scalars = contours.scalars[k]
    unit, centre, n = scalars[UNIT], scalars[CENTRE], scalars[TOTAL]
    m_shifted = (m - scalars[REFERENCE]) / unit
    b_shifted = (b - scalars[REFERENCE]) / unit
    m_left = 1.0 - centre * m_shifted
    b_left = 1.0 - centre * b_shifted
    if not (m_left > 0.0 and b_left > 0.0):  # not built, or the line has passed a pole
        return math.nan, math.nan, math.inf
    g = m_shifted / m_left
    h = b_shifted / b_left
    y = contours.y[k]
    weight_real, weight_imag = contours.weight_real[k], contours.weight_imag[k]
    real, imag = contours.work[0], contours.work[1]
    real[:] = contours.real[k]
    imag[:] = contours.imag[k]
    times_power(real, imag, y, g, n - 1.0, contours.work[2], contours.work[3])
    total = alternate = slower = slow = last = moment = 0.0
    for j in range(NODES):
        share = weight_real[j] * centre - weight_imag[j] * y[j]  # the kept weights are divided by z
        v = y[j] * h  # divide by the bonus's factor 1 - i v
        share /= 1.0 + v * v
        term = share * (real[j] - imag[j] * v)
        other = share * (imag[j] + real[j] * v)
        total += term
        alternate += term * WAVES[0][j]
        slower += term * WAVES[1][j]
        slow += term * WAVES[2][j]
        last = share * (abs(real[j]) + abs(imag[j])) * (1.0 + abs(v))
        # The derivative's integrand has a factor z/(1 - z m') more.
        t = y[j] * g
        moment += (term * (centre - y[j] * t) - other * (y[j] + centre * t)) / (1.0 + t * t)
    if not total > 0.0:
        return math.nan, math.nan, math.inf
    error = max((alternate / total) ** 2, abs(slower / total) ** (16 / 7), abs(slow / total) ** (8 / 3))
    log_f = math.log(n / unit * total / b_left) + (n - 1.0) * math.log1p(-centre * m_shifted) - scalars[HEIGHT]
    return log_f, -(n - 1.0) / unit * moment / (m_left * total), error + last / total
