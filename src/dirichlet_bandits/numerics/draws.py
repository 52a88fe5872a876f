"""Exact draws of gamma and beta laws, and of fair coins, from one normal and one exponential variable, or a refusal.

An accepted draw has the law, so after a refusal (one in twenty, or always where the law is far from normal) a draw
from anywhere else will do. Accepting costs a few multiplications: what depends on the law alone is computed before.
"""

import math

import numpy as np

from dirichlet_bandits.compilation import jit, shared

_LEAST_VARIANCE = 0.09  # of a coin: with less, more than two in five draws would be refused
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


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
    """The s and 1/M of :func:`coins_or_nan`."""
    return 0.5 * math.sqrt(n + 1.0), 2.0 / (n + 1.0)


@jit
def coins_or_nan(n: float, s: float, unit: float, x: float, e: float) -> tuple[float, float]:
    """The number of heads among n fair coins from a normal x and an exponential e, and what is left of e; or NaN and 0,
    and then :func:`settled_coins` must decide.

    With M = (n + 1) / 2 and d the distance of the heads from n/2, one more head changes their probability by the factor
    (M - c) / (M + c) = exp(-2 artanh(c/M)), c being d + 1/2. So it is proportional to exp(-d^2/M - r), where r is the
    sum of 2 artanh(c/M) - 2 c/M over the steps from the middle to |d|. These terms are convex in c, and with z = |d|/M

        0 <= r <= M z^4 / (6 (1 - z^2)).

    The heads proposed are the whole number nearest to n/2 + s x, s^2 = M/2. That has probabilities proportional to
    exp(-d^2/M) I, where I is the integral of exp(-(2 d v + v^2)/M) over |v| <= 1/2, and by Jensen's inequality and
    sinh(z) <= z exp(z^2/6)

        -1/(12 M) <= log I <= z^2/6.

    So exp(-r - log I - 1/(12 M)) is a probability. Accepted with it, the heads are binomial; about 1/(3 M) are refused.
    They are if e is not above minus the exponent. Nearly all are accepted because it is above a bound of that; what is
    left of e above the bound is exponential again, and good for another draw.

    >>> s, unit = coins_frame(10**12)
    >>> heads, left = coins_or_nan(1e12, s, unit, x=1.0, e=1.0)
    >>> round(heads / 1e12, 7), round(left, 9)
    (0.5000005, 1.0)

    Reference: Devroye (1986), Non-uniform random variate generation, section X.4, rejects from a normal law as well.
    """
    heads = np.floor(0.5 * n + s * x + 0.5)
    d = abs(heads - 0.5 * n)
    bound, zz = _bound(d, unit)
    left = e - bound
    return (heads, left) if left > 0.0 and zz <= 0.5 else (math.nan, 0.0)


@jit
def _bound(d: float, unit: float) -> tuple[float, float]:
    """Of r + log I + 1/(12 M), where z^2 is at most 1/2 and so 1/(1 - z^2) at most 1 + 2 z^2; and z^2."""
    main = d * d * unit
    zz = main * unit
    return unit / 12.0 + zz / 6.0 + main * zz * (1.0 / 6.0 + zz / 3.0), zz


@shared
def settled_coins(n: float, s: float, unit: float, x: float, rng: np.random.Generator) -> float:
    """The number of heads, or NaN if they are refused, where :func:`coins_or_nan` said NaN for this x.

    There e was not above the bound, so it is above some y with probability (exp(-y) - exp(-bound)) / (1 - exp(-bound)).
    Where z^2 is above 1/2, e had no say.
    """
    heads = np.floor(0.5 * n + s * x + 0.5)
    d = abs(heads - 0.5 * n)
    if d > 0.5 * n:
        return math.nan
    y, c = unit / 12.0, 0.5 + (0.5 * n - np.floor(0.5 * n))
    while c < d:
        y += 2.0 * (math.atanh(c * unit) - c * unit)
        c += 1.0
    integral = 0.0
    for i in range(_NODES.size):
        v = 0.5 * _NODES[i]
        integral += 0.5 * _WEIGHTS[i] * math.exp(-unit * v * (2.0 * d + v))
    y += math.log(integral)
    bound, zz = _bound(d, unit)
    if zz > 0.5:
        bound = math.inf
    accepted = rng.random() * math.expm1(-bound) > math.exp(-bound) - math.exp(-y)
    return heads if accepted else math.nan
