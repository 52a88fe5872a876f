"""Compute crossing probabilities repeatedly, for data that grow slowly, at a cost that does not grow with the data.

A crossing probability is a contour integral of a product with one factor per observation. We keep this product at a few
fixed nodes, so a probability for another threshold or bonus takes one sum over the nodes, and a new observation takes
one more factor. The nodes work for thresholds and bonuses near those they were made for, and the sum estimates its own
error, so we need not guess what is near enough.

Shift the data by a reference r, with primes for shifted values, and let A be the total weight, bonus included. The
substitution z = s/(1 + s m') turns the crossing integral into

    p = 1/(2 pi i) * integral of  (1 - z m')^(A-1) / z * prod_i (1 - z x_i')^(-w_i) / (1 - z b')  dz

where the product over the data depends neither on the threshold m nor on the bonus b.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import copy_into, max_of, min_of, sum_of
from dirichlet_bandits.numerics.compensated import two_sum, weight_of
from dirichlet_bandits.numerics.crossing import Products, log_factor, multiply, quotient, saddle
from dirichlet_bandits.numerics.tolerances import CONTOUR_REACH
from dirichlet_bandits.types import Floats

NODES: Final = 48
_SHORTEST: Final = 2.4
_TRIAL_STEP: Final = 0.2
_TRIALS: Final = 16

# Cosines of frequencies pi, 7/8 pi and 3/4 pi in the number of the node.
WAVES: Final = np.array([[math.cos(math.pi * f * j) for j in range(NODES)] for f in (1.0, 0.875, 0.75)])

CONTOUR: Final = np.dtype(
    [
        ("reference", np.float64),  # r; not a number while the contour covers nothing
        ("unit", np.float64),  # of length
        ("center", np.float64),  # abscissa of the line
        ("height", np.float64),  # logarithm of the data's product on the real axis
        ("total", np.float64),  # weight of the data
        ("y", np.float64, (NODES,)),  # imaginary parts of the nodes
        ("weight_real", np.float64, (NODES,)),  # quadrature factors
        ("weight_imag", np.float64, (NODES,)),
        ("real", np.float64, (NODES,)),  # the data's product prod_i (1 - i y_j b_i)^(-w_i), relative to the real axis
        ("imag", np.float64, (NODES,)),
        ("work", np.float64, (4, NODES)),  # scratch space
    ],
    align=True,
)


@shared
def make(n_arms: int) -> Any:
    """Return records ``CONTOUR`` for this many arms; none covers anything before it is built.

    >>> make(3).shape, make(3)["y"].shape
    ((3,), (3, 48))

    Reference: the docstring of this module.
    """
    contours = np.zeros(n_arms, CONTOUR)
    contours["reference"][:] = np.nan
    return contours


@jit
def forget(contour: Any) -> None:
    """Mark the contour as covering nothing."""
    contour.reference = math.nan


@shared
def build(contour: Any, values: Floats, weights: Floats, bonus: float, m: float) -> None:
    """Place the nodes of a contour for some data (empty `weights`: all 1), a threshold m and a bonus of weight 1.

    The contour covers nothing if the probability is trivially 0 or 1, that is, if all offsets have the same sign.

    >>> contour = make(1)[0]
    >>> build(contour, np.arange(99.0), np.empty(0), 99.0, 49.5)  # symmetric about 49.5
    >>> round(math.exp(evaluate(contour, 49.5, 99.0)[0]), 9)
    0.5

    Reference: the docstring of this module.
    """
    n = values.size
    offsets = np.empty(n + 1)
    masses = np.empty(n + 1)
    for i in range(n):
        offsets[i] = values[i] - m
        masses[i] = weight_of(weights, i)
    offsets[n], masses[n] = bonus - m, 1.0
    unit = max_of(offsets)
    forget(contour)
    if not (unit > 0.0 and min_of(offsets) < 0.0):
        return
    e, width = saddle(offsets, masses, unit)
    center = 1.0 / (1.0 + e)
    step = _reach(offsets, masses, unit, e, width) / (NODES - 1)
    y, weight_real, weight_imag = contour.y, contour.weight_real, contour.weight_imag
    for j in range(NODES):
        y[j] = width * math.sinh(step * j)
        share = (0.5 if j == 0 else 1.0) * step * width * math.cosh(step * j) / math.pi
        weight_real[j], weight_imag[j] = quotient(share, 0.0, center, y[j])
    work = contour.work
    real, imag, height, turn = work[0], work[1], work[2], work[3]
    multiply(offsets[:n], masses[:n], unit, e, y, Products(real, imag, height, turn))
    for j in range(NODES):
        modulus = math.exp(-height[j])
        contour.real[j], contour.imag[j] = quotient(
            modulus * math.cos(turn[j]), modulus * math.sin(turn[j]), real[j], imag[j]
        )
    total = 0.0
    rest = 0.0
    for i in range(n):
        total, carry = two_sum(total, masses[i] * log_factor(offsets[i], unit, e))
        rest += carry
    contour.reference, contour.unit, contour.center = m, unit, center
    contour.height, contour.total = total + rest, sum_of(masses[:n])


@jit
def _reach(offsets: Floats, masses: Floats, unit: float, e: float, width: float) -> float:
    """Return the x beyond which the integrand, whose modulus is log-concave in x, is negligible."""
    work = np.empty((5, _TRIALS))
    y = work[0]
    for j in range(_TRIALS):
        y[j] = width * math.sinh(_SHORTEST + _TRIAL_STEP * j)
    multiply(offsets, masses, unit, e, y, Products(work[1], work[2], work[3], work[4]))
    for j in range(_TRIALS):
        size = math.hypot(y[j], width) / math.hypot(1.0, y[j] * (1.0 + e))
        log = math.log(size / math.hypot(work[1, j], work[2, j])) - work[3, j]
        if log < math.log(width * CONTOUR_REACH):
            return _SHORTEST + _TRIAL_STEP * j
    return _SHORTEST + _TRIAL_STEP * _TRIALS


class Factor(NamedTuple):
    """The factor 1 - z v' of a value v on the line: z is its abscissa plus i y, so it is ``left * (1 - i y tilt)``."""

    taken: float  # 1 - left
    left: float
    tilt: float


@jit
def factor(contour: Any, value: float) -> Factor:
    """Return the factor of a value; ``left`` is not positive if the line has passed its pole."""
    shifted = (value - contour.reference) / contour.unit
    taken = contour.center * shifted
    return Factor(taken, 1.0 - taken, shifted / (1.0 - taken))


@jit
def product_times_power(contour: Any, tilt: float, power: float) -> tuple[Floats, Floats]:
    """Return the stored product times (1 - i y tilt)^power: its real and imaginary parts, in scratch space."""
    work = contour.work
    copy_into(work[0], contour.real)
    copy_into(work[1], contour.imag)
    times_power(work[0], work[1], contour.y, tilt, power, work[2], work[3])
    return work[0], work[1]


@shared
def evaluate(contour: Any, m: float, b: float) -> tuple[float, float]:
    """Return log p at threshold m and bonus b, and an estimate of the relative error of p.

    The error of the rule is the integrand's Fourier transform F at frequency 2 pi/step. The nodes give F at
    lower frequencies: at half of it, with alternating signs, and at 7/16 and 3/8. F decays exponentially, so the
    powers 2, 16/7 and 8/3 of those values estimate the error. We use three of them because F may vanish at one by
    accident. The last term estimates the tail. This is an estimate, not a proof: CONTOUR_ERROR states how well it did.

    >>> contour = make(1)[0]
    >>> build(contour, np.arange(100.0), np.empty(0), 120.0, 55.0)
    >>> log_p, error = evaluate(contour, 55.1, 120.3)
    >>> error < 1e-14
    True

    Reference: the docstring of this module.
    """
    power = contour.total  # A - 1: the bonus has weight 1
    at_m, at_b = factor(contour, m), factor(contour, b)
    if not (at_m.left > 0.0 and at_b.left > 0.0):  # not built, or the line has passed a pole
        return math.nan, math.inf
    real, imag = product_times_power(contour, at_m.tilt, power)
    y, weight_real, weight_imag = contour.y, contour.weight_real, contour.weight_imag
    total = 0.0
    alternate = 0.0
    slower = 0.0
    slow = 0.0
    last = 0.0
    for j in range(NODES):
        # Divide by the bonus's factor 1 - i y h: multiply by its conjugate, divide by its square modulus.
        v = y[j] * at_b.tilt
        fr = weight_real[j] - weight_imag[j] * v
        fi = weight_imag[j] + weight_real[j] * v
        term = (real[j] * fr - imag[j] * fi) / (1.0 + v * v)
        total += term
        alternate += term * WAVES[0, j]
        slower += term * WAVES[1, j]
        slow += term * WAVES[2, j]
        last = (abs(real[j]) + abs(imag[j])) * (abs(fr) + abs(fi)) / (1.0 + v * v)
    if not total > 0.0:
        return math.nan, math.inf
    error = max((alternate / total) ** 2, abs(slower / total) ** (16 / 7), abs(slow / total) ** (8 / 3))
    log_p = power * math.log1p(-at_m.taken) - math.log(at_b.left) - contour.height + math.log(total)
    return log_p, error + last / total


@jit
def rebuilt(contour: Any, values: Floats, weights: Floats, b: float, m: float) -> tuple[float, float]:
    """Return log p and its estimated error like :func:`evaluate`, after building the nodes for this m and bonus.

    >>> log_p, error = rebuilt(make(1)[0], np.arange(99.0), np.empty(0), 99.0, 49.5)
    >>> round(math.exp(log_p), 9), error < 1e-14
    (0.5, True)

    Reference: the docstring of this module.
    """
    build(contour, values, weights, b, m)
    return evaluate(contour, m, b)


@shared
def times_power(
    real: Floats,
    imag: Floats,
    y: Floats,
    g: float,
    power: float,
    base_real: Floats,
    base_imag: Floats,
) -> None:
    """Multiply each node by (1 - i y g)^power, by repeated squaring for a whole power, which needs no logarithms."""
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
def append(contour: Any, x: float, weight: int) -> None:
    """Add one more observation of whole weight; a negative weight removes it again.

    >>> contour = make(1)[0]
    >>> build(contour, np.arange(50.0), np.empty(0), 60.0, 30.0)
    >>> log_p, _ = evaluate(contour, 30.1, 60.1)
    >>> append(contour, 7.5, 2)
    >>> append(contour, 7.5, -2)
    >>> abs(evaluate(contour, 30.1, 60.1)[0] - log_p) < 1e-12
    True

    Reference: the docstring of this module.
    """
    new = factor(contour, x)
    if not new.left > 0.0:  # beyond the line
        forget(contour)
        return
    contour.total += weight
    contour.height += weight * math.log(new.left)
    real, imag, work = contour.real, contour.imag, contour.work
    factor_real, factor_imag = work[0], work[1]
    for j in range(NODES):
        factor_real[j] = 1.0
        factor_imag[j] = 0.0
    power = float(abs(weight))
    times_power(factor_real, factor_imag, contour.y, new.tilt, power, work[2], work[3])
    for j in range(NODES):
        r, i, c, d = real[j], imag[j], factor_real[j], factor_imag[j]
        size = 1.0
        if weight > 0:  # the product holds inverses
            d, size = -d, c * c + d * d
        real[j] = (r * c - i * d) / size
        imag[j] = (r * d + i * c) / size
