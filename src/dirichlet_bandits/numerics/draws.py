"""Exact draws of gamma and beta laws, and of fair coins, from one normal and one exponential variable, or a refusal.

An accepted draw has the law, so after a refusal (one in twenty, or always where the law is far from normal) a draw
from anywhere else will do. Accepting costs a few multiplications: what depends on the law alone is computed before.
"""

import math

import numpy as np

from dirichlet_bandits.compilation import jit, shared

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


@shared
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Heads among n coins, as NumPy draws them: so long a function that all callers share it."""
    return rng.binomial(n, p)


@jit
def coins_frame(n: int) -> tuple[float, float]:
    """The s and k of :func:`coins_or_nan`."""
    root = math.sqrt(n + 1.0)
    return 0.5 * math.sqrt(n + 1.0 + root), 0.5 / root


@jit
def coins_or_nan(n: float, s: float, k: float, x: float, e: float) -> tuple[float, float]:
    """The number of heads among n fair coins from a normal x and an exponential e, or NaN; and what is left of e.

    With M = (n + 1) / 2 and d the distance of the heads from n/2, one more head changes their probability by the factor
    (M - c) / (M + c) = exp(-2 artanh(c/M)), c being d + 1/2. So it is proportional to exp(-d^2/M - r(d)), where r(d) is
    the sum of 2 artanh(c/M) - 2 c/M over the steps from the middle to |d|. These terms are convex in c, so that
    0 <= r(d) <= M z^4 / (6 (1 - z^2)) with z = |d|/M. The heads are the whole number nearest to n/2 + s x. With
    2 s^2 = M (1 + h) and k = 1 / (4 h M), x^2/2 <= k + d^2/M wherever in its cell the normal variable fell, and
    exp(x^2/2 - k - d^2/M - r(d)) is a probability, with which the heads are accepted. Fewest are refused for
    h = 1/sqrt(2 M), k = h/2.

    They are accepted if e is above minus the exponent. Most are because it is above a bound of that; what is left of e
    above the bound is exponential again, and good for another draw. Nothing is left, 0, where e had to be looked at.

    >>> s, k = coins_frame(10**12)
    >>> heads, left = coins_or_nan(1e12, s, k, x=1.0, e=1.0)
    >>> round(heads / 1e12, 6), round(left, 6)
    (0.500001, 0.999999)

    Reference: Devroye (1986), Non-uniform random variate generation, section X.4, rejects from a normal law as well.
    """
    heads = math.floor(0.5 * n + s * x + 0.5)
    if not 0.0 <= heads <= n:
        return math.nan, e
    d, unit = abs(heads - 0.5 * n), 8.0 * k * k  # 1/M
    main = d * d * unit
    zz = main * unit
    left = e - (k + main - 0.5 * x * x)
    after = left - main * zz * (1.0 + 2.0 * zz) / 6.0  # 1/(1 - y) <= 1 + 2 y for y up to 1/2
    if after > 0.0 and zz <= 0.5:
        return heads, after
    c = 0.5 if n % 2.0 == 0.0 else 1.0
    while c < d and left > 0.0:
        left -= 2.0 * (math.atanh(c * unit) - c * unit)
        c += 1.0
    return (heads if left > 0.0 else math.nan), 0.0
