"""Crossing probabilities again and again, for data that grow slowly, at a cost that does not grow with them.

Shift the data by a reference r, primes for shifted values, and let A be the total weight, bonus included. The
substitution z = s/(1 + s m') turns the crossing integral into

    p = 1/(2 pi i) * integral of  (1 - z m')^(A-1) / z * prod_i (1 - z x_i')^(-w_i) / (1 - z b')  dz

where the product over the data knows neither the threshold m nor the bonus b. Kept at a few fixed nodes z_j
it serves every (m, b) near the ones the nodes were made for; a new observation adds one more factor. What is
"near" need not be guessed: the sum estimates its own error.
"""

import math
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, shared
from dirichlet_bandits.numerics.compensated import two_sum, weight_of
from dirichlet_bandits.numerics.saddle import log_factor, multiply, saddle
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR, CONTOUR_REACH

NODES: Final = 48
_SHORTEST: Final = 2.4
_TRIAL_STEP: Final = 0.2
_TRIALS: Final = 16

# Cosines of frequencies pi, 7/8 pi and 3/4 pi in the number of the node.
WAVES: Final = tuple(tuple(math.cos(math.pi * f * j) for j in range(NODES)) for f in (1.0, 0.875, 0.75))

REFERENCE, UNIT, CENTRE, HEIGHT, TOTAL = range(5)


class Contours(NamedTuple):
    """One row an arm: the nodes' imaginary parts, quadrature factors, the data's product there, scalars.

    `real` and `imag` hold prod_i (1 - i y_j b_i)^(-w_i), the data's product relative to the real axis; the
    scalars are reference, unit of length, abscissa of the line, log of the product on the real axis, and the
    weight of the data. `work` is scratch space.
    """

    y: np.ndarray
    weight_real: np.ndarray
    weight_imag: np.ndarray
    real: np.ndarray
    imag: np.ndarray
    scalars: np.ndarray
    work: np.ndarray


@shared
def make(n_arms: int) -> Contours:
    """Room for the contours of so many arms; none covers anything before it is built.

    >>> make(3).y.shape
    (3, 48)

    Reference: the head of this file.
    """
    shape = (n_arms, NODES)
    return Contours(
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.full((n_arms, 5), np.nan),
        np.zeros((4, NODES)),
    )


@shared
def build(contours: Contours, k: int, values: np.ndarray, weights: np.ndarray, bonus: float, m: float) -> None:
    """Make the nodes of arm k for its data (empty `weights`: all 1), a threshold m and a bonus of weight 1.

    Nothing is covered if the probability is trivially 0 or 1: all offsets of one sign.

    >>> contours = make(1)
    >>> build(contours, 0, np.arange(99.0), np.empty(0), 99.0, 49.5)  # symmetric about 49.5
    >>> round(math.exp(evaluate(contours, 0, 49.5, 99.0)[0]), 9)
    0.5

    Reference: the head of this file.
    """
    n = values.size
    offsets = np.empty(n + 1)
    masses = np.ones(n + 1)
    for i in range(n):
        offsets[i] = values[i] - m
        masses[i] = weight_of(weights, i)
    offsets[n] = bonus - m
    unit = offsets.max()
    scalars = contours.scalars[k]
    scalars[:] = np.nan
    if not (unit > 0.0 and offsets.min() < 0.0):
        return
    e, width = saddle(offsets, masses, unit)
    centre = 1.0 / (1.0 + e)
    step = _reach(offsets, masses, unit, e, width) / (NODES - 1)
    y = contours.y[k]
    for j in range(NODES):
        y[j] = width * math.sinh(step * j)
        share = (0.5 if j == 0 else 1.0) * step * width * math.cosh(step * j) / math.pi
        factor = share / complex(centre, y[j])
        contours.weight_real[k, j] = factor.real
        contours.weight_imag[k, j] = factor.imag
    work = contours.work
    multiply(offsets[:n], masses[:n], unit, e, y, work[0], work[1], work[2], work[3])
    for j in range(NODES):
        modulus = math.exp(-work[2, j])
        inverse = modulus * complex(math.cos(work[3, j]), math.sin(work[3, j])) / complex(work[0, j], work[1, j])
        contours.real[k, j] = inverse.real
        contours.imag[k, j] = inverse.imag
    height = 0.0
    rest = 0.0
    for i in range(n):
        height, carry = two_sum(height, masses[i] * log_factor(offsets[i], unit, e))
        rest += carry
    scalars[REFERENCE] = m
    scalars[UNIT] = unit
    scalars[CENTRE] = centre
    scalars[HEIGHT] = height + rest
    scalars[TOTAL] = masses[:n].sum()


@jit
def _reach(offsets: np.ndarray, masses: np.ndarray, unit: float, e: float, width: float) -> float:
    """The x beyond which the integrand, whose modulus is log-concave in x, has vanished."""
    work = np.empty((5, _TRIALS))
    y = work[0]
    for j in range(_TRIALS):
        y[j] = width * math.sinh(_SHORTEST + _TRIAL_STEP * j)
    multiply(offsets, masses, unit, e, y, work[1], work[2], work[3], work[4])
    for j in range(_TRIALS):
        size = math.hypot(y[j], width) / math.hypot(1.0, y[j] * (1.0 + e))
        log = math.log(size / math.hypot(work[1, j], work[2, j])) - work[3, j]
        if log < math.log(width * CONTOUR_REACH):
            return _SHORTEST + _TRIAL_STEP * j
    return _SHORTEST + _TRIAL_STEP * _TRIALS


@shared
def evaluate(contours: Contours, k: int, m: float, b: float) -> tuple[float, float]:
    """log p at threshold m and bonus b for arm k, and an estimate of the relative error of p.

    The error of the rule is the integrand's Fourier transform F at frequency 2 pi/step. The nodes give F at
    lower frequencies: at half of it, with alternating signs, and at 7/16 and 3/8. F decays exponentially, so
    powers 2, 16/7 and 8/3 of those estimate the error; three of them, as F may vanish by accident at one.
    The last term estimates the tail. An estimate, not a proof: see CONTOUR_ERROR for how well it did.

    >>> contours = make(1)
    >>> build(contours, 0, np.arange(100.0), np.empty(0), 120.0, 55.0)
    >>> log_p, error = evaluate(contours, 0, 55.1, 120.3)
    >>> error < 1e-14
    True

    Reference: the head of this file.
    """
    scalars = contours.scalars[k]
    unit = scalars[UNIT]
    centre = scalars[CENTRE]
    power = scalars[TOTAL]  # A - 1: the bonus has weight 1
    m_shifted = (m - scalars[REFERENCE]) / unit
    b_shifted = (b - scalars[REFERENCE]) / unit
    m_left = 1.0 - centre * m_shifted
    b_left = 1.0 - centre * b_shifted
    if not (m_left > 0.0 and b_left > 0.0):  # not built, or the line has passed a pole
        return math.nan, math.inf
    g = m_shifted / m_left
    h = b_shifted / b_left
    y = contours.y[k]
    weight_real = contours.weight_real[k]
    weight_imag = contours.weight_imag[k]
    real, imag = contours.work[0], contours.work[1]
    real[:] = contours.real[k]
    imag[:] = contours.imag[k]
    times_power(real, imag, y, g, power, contours.work[2], contours.work[3])
    total = 0.0
    alternate = 0.0
    slower = 0.0
    slow = 0.0
    last = 0.0
    for j in range(NODES):
        # Divide by the bonus's factor 1 - i y h: multiply by its conjugate, divide by its square modulus.
        v = y[j] * h
        fr = weight_real[j] - weight_imag[j] * v
        fi = weight_imag[j] + weight_real[j] * v
        term = (real[j] * fr - imag[j] * fi) / (1.0 + v * v)
        total += term
        alternate += term * WAVES[0][j]
        slower += term * WAVES[1][j]
        slow += term * WAVES[2][j]
        last = (abs(real[j]) + abs(imag[j])) * (abs(fr) + abs(fi)) / (1.0 + v * v)
    if not total > 0.0:
        return math.nan, math.inf
    error = max((alternate / total) ** 2, abs(slower / total) ** (16 / 7), abs(slow / total) ** (8 / 3))
    log_p = power * math.log1p(-centre * m_shifted) - math.log(b_left) - scalars[HEIGHT] + math.log(total)
    return log_p, error + last / total


@jit
def rebuilt(
    contours: Contours, k: int, values: np.ndarray, weights: np.ndarray, b: float, m: float
) -> tuple[float, float]:
    """log p and its estimated error like :func:`evaluate`, with nodes made anew for this threshold and bonus.

    >>> log_p, error = rebuilt(make(1), 0, np.arange(99.0), np.empty(0), 99.0, 49.5)
    >>> round(math.exp(log_p), 9), error < 1e-14
    (0.5, True)

    Reference: the head of this file.
    """
    build(contours, k, values, weights, b, m)
    return evaluate(contours, k, m, b)


@jit
def times_power(
    real: np.ndarray,
    imag: np.ndarray,
    y: np.ndarray,
    g: float,
    power: float,
    base_real: np.ndarray,
    base_imag: np.ndarray,
) -> None:
    """Multiply each node by (1 - i y g)^power: by repeated squaring for a whole power, which needs no logarithms."""
    whole = int(power)
    if whole != power:
        for j in range(y.size):
            t = y[j] * g
            modulus = math.exp(power * 0.5 * math.log1p(t * t))
            turn = power * math.atan(t)
            c, d = modulus * math.cos(turn), -modulus * math.sin(turn)
            real[j], imag[j] = real[j] * c - imag[j] * d, real[j] * d + imag[j] * c
        return
    for j in range(y.size):
        base_real[j] = 1.0
        base_imag[j] = -y[j] * g
    while whole > 0:
        if whole % 2 == 1:
            for j in range(y.size):
                r, i = real[j], imag[j]
                real[j] = r * base_real[j] - i * base_imag[j]
                imag[j] = r * base_imag[j] + i * base_real[j]
        for j in range(y.size):
            r, i = base_real[j], base_imag[j]
            base_real[j] = r * r - i * i
            base_imag[j] = 2.0 * r * i
        whole //= 2


@shared
def append(contours: Contours, k: int, x: float, weight: int) -> None:
    """An observation of whole weight for arm k; a negative weight takes it away again.

    >>> contours = make(1)
    >>> build(contours, 0, np.arange(50.0), np.empty(0), 60.0, 30.0)
    >>> log_p, _ = evaluate(contours, 0, 30.1, 60.1)
    >>> append(contours, 0, 7.5, 2)
    >>> append(contours, 0, 7.5, -2)
    >>> abs(evaluate(contours, 0, 30.1, 60.1)[0] - log_p) < 1e-12
    True

    Reference: the head of this file.
    """
    scalars = contours.scalars[k]
    shifted = (x - scalars[REFERENCE]) / scalars[UNIT]
    left = 1.0 - scalars[CENTRE] * shifted
    if not left > 0.0:  # beyond the line: nothing is covered from now on
        scalars[:] = np.nan
        return
    scalars[TOTAL] += weight
    scalars[HEIGHT] += weight * math.log(left)
    real, imag = contours.real[k], contours.imag[k]
    factor_real, factor_imag = contours.work[0], contours.work[1]
    factor_real[:] = 1.0
    factor_imag[:] = 0.0
    times_power(
        factor_real, factor_imag, contours.y[k], shifted / left, abs(weight), contours.work[2], contours.work[3]
    )
    for j in range(NODES):
        r, i, c, d = real[j], imag[j], factor_real[j], factor_imag[j]
        size = 1.0
        if weight > 0:  # the product holds inverses
            d, size = -d, c * c + d * d
        real[j] = (r * c - i * d) / size
        imag[j] = (r * d + i * c) / size


@jit
def covers(contours: Contours, k: int, m: float, b: float) -> bool:
    """Whether :func:`evaluate` is right to 1e-10 there; a loop that needs p anyway reads its error instead.

    >>> contours = make(1)
    >>> build(contours, 0, np.arange(50.0), np.empty(0), 60.0, 30.0)
    >>> covers(contours, 0, 30.1, 60.1), covers(contours, 0, 50.0, 60.0), covers(make(1), 0, 0.0, 1.0)
    (True, False, False)

    Reference: the head of this file.
    """
    return evaluate(contours, k, m, b)[1] <= CONTOUR_ERROR
