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
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import set_all
from dirichlet_bandits.numerics.contour import product_times_power
from dirichlet_bandits.types import Floats, Records

NODES: Final = 32
_STEP: Final = 0.36  # the largest in use, in standard deviations of the integrand; grows with the square root of n
_MANY: Final = 4000  # from this many rewards on, the nodes are used until the number has doubled; with fewer rewards,
_GROWTH: Final = 1.2  # only until it has grown by this factor, because the integrand then reaches farther
_AT_ONCE: Final = 64  # factors that are multiplied before the product might overflow

# Sines of frequencies pi and 3/4 pi in the number of the node plus one half.
_WAVES: Final = np.array([[math.sin(math.pi * f * (j + 0.5)) for j in range(NODES)] for f in (1.0, 0.75)])

LAW: Final = np.dtype(
    [
        ("reference", np.float64),
        ("limit", np.float64),  # the number of rewards up to which the nodes are used; 0 before the first reward
        ("known", np.int64),  # rewards in the product
        ("total", np.float64),  # all factors, including the bonus
        ("y", np.float64, (NODES,)),
        ("real", np.float64, (NODES,)),  # the data's product at the nodes
        ("imag", np.float64, (NODES,)),
        ("work", np.float64, (4, NODES)),  # scratch space
    ],
    align=True,
)


@jit
def make_laws(n_laws: int) -> Records:
    """Return records ``LAW`` for this many distributions, all empty."""
    return np.zeros(n_laws, LAW)


@shared
def learn(law: Any, x: Floats, bonus: Floats, mean: float, deviation: float) -> None:
    """Learn all rewards x so far and the bonus, if any; the mean and deviation of x place new nodes when needed."""
    if not law.known <= x.size <= law.limit:
        growth = 2.0 if x.size >= _MANY else _GROWTH
        law.reference, law.limit, law.known = mean, growth * x.size, 0
        y = law.y
        for j in range(NODES):
            y[j] = _STEP * (j + 0.5) / (deviation * math.sqrt(growth * x.size))
        set_all(law.real, 1.0)
        set_all(law.imag, 0.0)
        _multiply(law, bonus)
    for first in range(law.known, x.size, _AT_ONCE):
        _multiply(law, x[first : first + _AT_ONCE])
    law.known, law.total = x.size, x.size + bonus.size


@jit
def _multiply(law: Any, x: Floats) -> None:
    """Divide the product by a few factors 1 - i y x'."""
    y, real, imag, work, reference = law.y, law.real, law.imag, law.work, law.reference
    c, d = work[0], work[1]
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
def below(law: Any, m: float) -> tuple[float, float]:
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
    c, d = product_times_power(law, m - law.reference, law.total - 1.0)
    total = far = less_far = 0.0
    for j in range(NODES):
        total += d[j] / (j + 0.5)
        far += c[j] / (j + 0.5) * _WAVES[0, j]
        less_far += c[j] / (j + 0.5) * _WAVES[1, j]
    far, less_far = abs(1.0 - 2.0 / math.pi * far), abs(1.0 - 2.0 / math.pi * less_far)
    last = (abs(c[-1]) + abs(d[-1])) / NODES
    return 0.5 - total / math.pi, far * min(far / less_far, 1.0) ** 4 + last


@shared
def density(law: Any, m: float) -> tuple[float, float]:
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
    y, total, shifted = law.y, law.total, m - law.reference
    c, d = product_times_power(law, shifted, total - 3.0)
    f = slope = 0.0
    for j in range(NODES):
        f += c[j] + d[j] * (y[j] * shifted)  # the real part after one more factor 1 - i y m'
        slope += d[j] * y[j]
    share = 2.0 * y[0] * (total - 1.0) / math.pi  # the nodes are 2 y[0] apart
    return share * f, share * (total - 2.0) * slope
