"""Exact draws from gamma and beta laws out of one normal and one exponential variable, or a refusal.

An accepted draw has the law, so after a refusal (one in twenty, or always where the law is far from normal) a draw
from anywhere else will do. Accepting costs a few multiplications: what depends on the law alone is computed before.
"""

import math

from dirichlet_bandits.compilation import jit

_LEAST_VARIANCE = 0.09  # of a coin: with less, more than two in five draws would be refused


@jit
def gamma_frame(shape: float) -> tuple[float, float]:
    """The d and c of :func:`gamma_or_nan`; NaN for a shape below 1."""
    d = shape - 1.0 / 3.0
    return (d, 1.0 / math.sqrt(9.0 * d)) if shape >= 1.0 else (math.nan, math.nan)


@jit
def gamma_or_nan(d: float, c: float, x: float, e: float) -> float:
    """A draw of the gamma law of shape d + 1/3 from a normal x and an exponential e, or NaN: d (1 + c x)^3.

    >>> d, c = gamma_frame(1e12)
    >>> round(gamma_or_nan(d, c, x=1.0, e=1.0) / 1e12, 6)
    1.000001

    Reference: Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000.
    """
    root = 1.0 + c * x
    v = root * root * root
    # The paper accepts at once if a uniform variable, here exp(-e), is below 1 - y; and -log(1 - y) <= y + y^2.
    y = 0.0331 * (x * x) * (x * x)
    if v > 0.0 and ((y < 0.5 and e > y + y * y) or e > d * (v - 1.0 - math.log(v)) - 0.5 * x * x):
        return d * v
    return math.nan


@jit
def beta_frame(a: float, b: float) -> tuple[float, float]:
    """The m and s of :func:`beta_or_nan`; NaN for a skewed law."""
    n = a + b - 2.0
    m = (a - 1.0) / n
    return (m, 0.5 / math.sqrt(n)) if m * (1.0 - m) > _LEAST_VARIANCE else (math.nan, math.nan)


@jit
def beta_or_nan(m: float, s: float, x: float, e: float) -> float:
    """A draw of a beta law of mode m from a normal x and an exponential e, or NaN; its shapes sum to 2 + 1/(4 s^2).

    With n = a + b - 2 the density at p is proportional to exp(-n d(m, p)), d being the Bernoulli divergence.
    Pinsker's inequality d(m, p) >= 2 (p - m)^2 gives a normal law to reject from, and d(m, p) <= (p - m)^2 / (2 v),
    v the least variance of a coin between m and p, accepts most draws at once.

    >>> m, s = beta_frame(4e12, 6e12)
    >>> round(beta_or_nan(m, s, x=1.0, e=1.0), 6)
    0.4

    Reference: Ahrens and Dieter, Computing 12, 1974, reject from a normal law as well.
    """
    p = m + s * x
    gauss = 0.5 * x * x  # 2 n (p - m)^2
    least = min(m * (1.0 - m), p * (1.0 - p))
    if (e + gauss) * least > 0.25 * gauss and least > 0.0:
        return p
    if not 0.0 < p < 1.0:
        return math.nan
    divergence = m * math.log(m / p) + (1.0 - m) * math.log((1.0 - m) / (1.0 - p))
    return p if e > 0.25 * divergence / (s * s) - gauss else math.nan
