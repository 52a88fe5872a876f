"""Exact draws from gamma and beta laws out of one normal and one exponential variable, or a refusal.

An accepted draw has the law, so after a refusal (one in twenty, or always where the law is far from normal) a draw
from anywhere else will do. Accepting costs a few multiplications.
"""

import math

from dirichlet_bandits.numerics.jit import jit

_LEAST_VARIANCE = 0.09  # of a coin: with less, more than two in five draws would be refused


@jit
def gamma_or_nan(shape: float, x: float, e: float) -> float:
    """A draw of the gamma law with this shape from a normal x and an exponential e, or NaN: d (1 + c x)^3.

    >>> round(gamma_or_nan(1e12, 1.0, 1.0) / 1e12, 6)
    1.000001

    Reference: Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000.
    """
    if shape < 1.0:
        return math.nan
    d = shape - 1.0 / 3.0
    root = 1.0 + x / math.sqrt(9.0 * d)
    v = root * root * root
    if v <= 0.0:
        return math.nan
    # The paper accepts at once if a uniform variable, here exp(-e), is below 1 - y; and -log(1 - y) <= y + y^2.
    y = 0.0331 * (x * x) * (x * x)
    if (y < 0.5 and e > y + y * y) or e > d * (v - 1.0 - math.log(v)) - 0.5 * x * x:
        return d * v
    return math.nan


@jit
def beta_or_nan(a: float, b: float, x: float, e: float) -> float:
    """A draw of the beta law with shapes a and b from a normal x and an exponential e, or NaN.

    With n = a + b - 2 and the mode m = (a - 1)/n the density at p is proportional to exp(-n d(m, p)), d being the
    Bernoulli divergence. Pinsker's inequality d(m, p) >= 2 (p - m)^2 gives a normal law to reject from, and
    d(m, p) <= (p - m)^2 / (2 v), v the least variance of a coin between m and p, accepts most draws at once.

    >>> round(beta_or_nan(4e12, 6e12, 1.0, 1.0), 6)
    0.4

    Reference: Ahrens and Dieter, Computing 12, 1974, reject from a normal law as well.
    """
    n = a + b - 2.0
    m = (a - 1.0) / n
    variance = m * (1.0 - m)
    p = m + 0.5 * x / math.sqrt(n)
    if not (variance > _LEAST_VARIANCE and 0.0 < p < 1.0):
        return math.nan
    gauss = 0.5 * x * x  # 2 n (p - m)^2
    if e > gauss * (0.25 / min(variance, p * (1.0 - p)) - 1.0):
        return p
    exact = (1.0 - a) * math.log(p / m) + (1.0 - b) * math.log((1.0 - p) / (1.0 - m)) - gauss
    return p if e > exact else math.nan
