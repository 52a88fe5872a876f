"""The distribution function of a reweighted mean of many rewards, updated with every reward.

The probability that the mean exceeds m is an integral of a product with one factor per reward. We keep this product at
a few nodes, so a new reward costs one multiplication per node, and a probability costs one sum over the nodes.

Primes denote values shifted by a reference near the mean. For n rewards and a bonus (together x_0 ... x_n), the
crossing integral of :mod:`contour` may be taken on the imaginary axis:

    P(mean >= m) = 1/2 + 1/pi * integral over y > 0 of  Im[ (1 - i y m')^n prod_i (1 - i y x_i')^(-1) ] / y  dy.

The integrand is nearly Gaussian and the midpoint rule is nearly exact: its error comes from probabilities farther than
2 pi/step away. Unlike a kept contour, it covers the middle of the distribution, to an absolute error, and no reward can
put a pole in its way. The density is minus the derivative in m.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import copy_into, set_all
from dirichlet_bandits.numerics.contour import times_power

NODES: Final = 32
_STEP: Final = 0.36  # the largest in use, in standard deviations of the integrand; grows with the square root of n
_MANY: Final = 4000  # from this many rewards on, the nodes are used until the number has doubled; with fewer rewards,
_GROWTH: Final = 1.2  # only until it has grown by this factor, because the integrand then reaches farther
_AT_ONCE: Final = 64  # factors that are multiplied before the product might overflow

# Sines of frequencies pi and 3/4 pi in the number of the node plus one half.
_WAVES: Final = np.array([[math.sin(math.pi * f * (j + 0.5)) for j in range(NODES)] for f in (1.0, 0.75)])

# Rows of a law, in one array because Numba counts references: the nodes, the data's product there, scratch space, and
# numbers: the reference, the number of rewards up to which the nodes are used, the rewards known, all factors.
_Y, _REAL, _IMAG, _WORK, _NUMBERS = 0, 1, 2, 3, 7
_REFERENCE, _LIMIT, _KNOWN, _TOTAL = range(4)


@jit
def make_laws(n_laws: int) -> np.ndarray:
    """Return space for this many distributions, all empty."""
    return np.zeros((n_laws, 8, NODES))


@shared
def learn(law: np.ndarray, x: np.ndarray, bonus: np.ndarray, mean: float, deviation: float) -> None:
    """Learn all rewards x so far and the bonus, if any; the mean and deviation of x place new nodes when needed."""
    scalars = law[_NUMBERS]
    if not scalars[_KNOWN] <= x.size <= scalars[_LIMIT]:
        growth = 2.0 if x.size >= _MANY else _GROWTH
        scalars[_REFERENCE], scalars[_LIMIT], scalars[_KNOWN] = mean, growth * x.size, 0
        for j in range(NODES):
            law[_Y, j] = _STEP * (j + 0.5) / (deviation * math.sqrt(growth * x.size))
        set_all(law[_REAL], 1.0)
        set_all(law[_IMAG], 0.0)
        _multiply(law, bonus)
    for first in range(int(scalars[_KNOWN]), x.size, _AT_ONCE):
        _multiply(law, x[first : first + _AT_ONCE])
    scalars[_KNOWN], scalars[_TOTAL] = x.size, x.size + bonus.size


@jit
def _multiply(law: np.ndarray, x: np.ndarray) -> None:
    """Divide the product by a few factors 1 - i y x'."""
    y, real, imag, c, d = law[_Y], law[_REAL], law[_IMAG], law[_WORK], law[_WORK + 1]
    reference = law[_NUMBERS, _REFERENCE]
    set_all(c, 1.0)
    set_all(d, 0.0)
    for i in range(0, x.size, 2):  # two factors at once: 1 - y^2 a b - i y (a + b)
        a = x[i] - reference
        b = x[i + 1] - reference if i + 1 < x.size else 0.0
        for j in range(NODES):
            u = 1.0 - y[j] * y[j] * (a * b)
            t = y[j] * (a + b)
            c[j], d[j] = c[j] * u + d[j] * t, d[j] * u - c[j] * t
    for j in range(NODES):
        size = c[j] * c[j] + d[j] * d[j]
        r, i = real[j], imag[j]
        real[j] = (r * c[j] + i * d[j]) / size
        imag[j] = (i * c[j] - r * d[j]) / size


@shared
def below(law: np.ndarray, m: float) -> tuple[float, float]:
    """Return P(mean < m) and an estimate of its absolute error.

    With D = pi/step, the same nodes give the probabilities A and B of being farther from m than D and 3/4 D. The
    error is the probability of being farther than 2 D. Because the tails of log-concave distributions fall ever
    faster, it is at most A (A/B)^4. The last term estimates the tail of the integral.

    >>> law = make_laws(1)[0]
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> learn(law, x[:999], x[999:], 0.5, x.std())  # symmetric about 0.5
    >>> p, error = below(law, 0.5)
    >>> abs(p - 0.5) < 1e-12, error < 1e-12
    (True, True)

    Reference: Davies (1973), Numerical inversion of a characteristic function.
    """
    c, d = law[_WORK], law[_WORK + 1]
    copy_into(c, law[_REAL])
    copy_into(d, law[_IMAG])
    times_power(
        c, d, law[_Y], m - law[_NUMBERS, _REFERENCE], law[_NUMBERS, _TOTAL] - 1.0, law[_WORK + 2], law[_WORK + 3]
    )
    total = far = less_far = 0.0
    for j in range(NODES):
        total += d[j] / (j + 0.5)
        far += c[j] / (j + 0.5) * _WAVES[0, j]
        less_far += c[j] / (j + 0.5) * _WAVES[1, j]
    far, less_far = abs(1.0 - 2.0 / math.pi * far), abs(1.0 - 2.0 / math.pi * less_far)
    last = (abs(c[-1]) + abs(d[-1])) / NODES
    return 0.5 - total / math.pi, far * min(far / less_far, 1.0) ** 4 + last


@shared
def density(law: np.ndarray, m: float) -> tuple[float, float]:
    """Return the density of the mean at m and its derivative there, with the precision of :func:`below`.

    >>> law = make_laws(1)[0]
    >>> x = np.linspace(0.0, 1.0, 1000)
    >>> learn(law, x, np.empty(0), 0.5, x.std())
    >>> f, slope = density(law, 0.49)
    >>> step = (below(law, 0.491)[0] - below(law, 0.489)[0]) / 0.002
    >>> abs(f / step - 1.0) < 1e-2, slope > 0.0
    (True, True)

    Reference: see :func:`below`.
    """
    c, d, y = law[_WORK], law[_WORK + 1], law[_Y]
    copy_into(c, law[_REAL])
    copy_into(d, law[_IMAG])
    total, shifted = law[_NUMBERS, _TOTAL], m - law[_NUMBERS, _REFERENCE]
    times_power(c, d, y, shifted, total - 3.0, law[_WORK + 2], law[_WORK + 3])
    f = slope = 0.0
    for j in range(NODES):
        f += c[j] + d[j] * (y[j] * shifted)  # the real part after one more factor 1 - i y m'
        slope += d[j] * y[j]
    share = 2.0 * y[0] * (total - 1.0) / math.pi  # the nodes are 2 y[0] apart
    return share * f, share * (total - 2.0) * slope
