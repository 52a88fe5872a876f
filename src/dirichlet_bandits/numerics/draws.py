"""Draw gamma, beta and fair-coin variables exactly from one normal and one exponential variable, or refuse.

An accepted draw has the right distribution, so after a refusal (one in twenty for gamma, up to one in three for beta),
an exact draw by any other method will do. Accepting costs a few multiplications, because what depends on the
distribution alone is computed beforehand.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, shared

_CENTRAL_VARIANCE = 3.0 / 16.0  # of a coin: below it, a gamma distribution is closer to the beta than a normal one
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)

BETA_FIELDS = [(name, np.float64) for name in ("side", "center", "deviation", "scale", "c", "odds", "power")]
BETA = np.dtype(BETA_FIELDS)
"""Constants of a beta distribution. If ``side`` is 0, its draws are proposed from the normal distribution with the
``center`` and the ``deviation``. Otherwise, ``scale (1 + c x)^3`` is proposed, or 1 minus that if ``side`` is negative;
``odds`` and ``power`` decide which proposals are accepted.
"""


@jit
def gamma_frame(shape: float) -> tuple[float, float]:
    """Return the d and c of :func:`gamma_or_nan`; NaN for a shape below 1."""
    d = shape - 1.0 / 3.0
    return (d, 1.0 / math.sqrt(9.0 * d)) if shape >= 1.0 else (math.nan, math.nan)


@jit
def gamma_or_nan(d: float, c: float, x: float, e: float) -> tuple[float, float]:
    """Return a gamma draw of shape d + 1/3 (or NaN) from a normal x and an exponential e, and what is left of e.

    The draw is d (1 + c x)^3.

    >>> d, c = gamma_frame(1e12)
    >>> value, left = gamma_or_nan(d, c, x=1.0, e=1.0)
    >>> round(value / 1e12, 6), round(left, 3)
    (1.000001, 0.966)

    Reference: Marsaglia and Tsang, ACM Transactions on Mathematical Software 26, 2000.
    """
    root = 1.0 + c * x
    v = root * root * root
    # The paper accepts at once if a uniform variable, here exp(-e), is below 1 - y; and -log(1 - y) <= y + y^2.
    y = 0.0331 * (x * x) * (x * x)
    left = e - y - y * y
    if v > 0.0 and y < 0.5 and left > 0.0:
        return d * v, left
    if v > 0.0 and e > d * (v - 1.0 - math.log(v)) - 0.5 * x * x:
        return d * v, 0.0
    return math.nan, 0.0


@jit
def learn_beta(law: Any, a: float, b: float) -> None:
    """Write the constants of the beta distribution of shapes a and b, at least 1 and not both 1, into a ``BETA``."""
    n = a + b - 2.0
    m = (a - 1.0) / n
    if m * (1.0 - m) > _CENTRAL_VARIANCE:
        law.side, law.center, law.deviation = 0.0, m, 0.5 / math.sqrt(n)
        return
    small, large = min(a, b), max(a, b)
    d, law.c = gamma_frame(small)
    law.scale, law.odds, law.power = d / (small + large - 1.0), small / (large - 1.0), large - 1.0
    law.side = 1.0 if a <= b else -1.0


@jit
def beta_or_nan(law: Any, x: float, e: float) -> tuple[float, float]:
    """Return a beta draw for a ``BETA`` (or NaN) from a normal x and an exponential e, and what is left of e.

    A central beta draw is proposed from a normal law. With n = a + b - 2 and the mode m = (a - 1) / n, its density at p
    is proportional to exp(-n d(m, p)), where d is the Bernoulli divergence. Pinsker's inequality d(m, p) >= 2 (p - m)^2
    gives the normal law, and d(m, p) <= (p - m)^2 / (2 v), where v is the least variance of a coin between m and p,
    accepts most draws at once.

    A skewed law, or its mirror image, has a <= b, and its draws are proposed from a gamma law. The tangent of
    log(1 - p) at t = a / (a + b - 1) bounds the density by that of shape a and rate (b - 1) / (1 - t) = a + b - 1. A
    draw of that is kept with probability exp(-(b - 1) (-log(1 - u) - u)), where u = (p - t) / (1 - t); the exponent is
    at most (b - 1) u^2 / (2 (1 - max(u, 0))) in size. So e has to exceed the sum of it and the exponent of the gamma
    draw.

    >>> laws = np.zeros(2, BETA)
    >>> learn_beta(laws[0], 4e12, 6e12)
    >>> learn_beta(laws[1], 9e12, 1e12)
    >>> round(beta_or_nan(laws[0], x=1.0, e=1.0)[0], 6), round(beta_or_nan(laws[1], x=1.0, e=1.0)[0], 6)
    (0.4, 0.9)

    Reference: Ahrens and Dieter, Computing 12, 1974, also use a normal proposal.
    """
    if law.side == 0.0:
        return _central_beta_or_nan(law.center, law.deviation, x, e)
    odds, power = law.odds, law.power
    root = 1.0 + law.c * x
    v = root * root * root
    p = law.scale * v
    if not (v > 0.0 and p < 1.0):
        return math.nan, 0.0
    value = p if law.side > 0.0 else 1.0 - p
    u = p + odds * (p - 1.0)
    y = 0.0331 * (x * x) * (x * x)
    left = e - y - y * y - 0.5 * power * u * u / (1.0 - max(u, 0.0))
    if y < 0.5 and left > 0.0:
        return value, left
    gamma = law.scale * power * (1.0 + odds) * (v - 1.0 - math.log(v)) - 0.5 * x * x
    return value if e > gamma + power * (-math.log1p(-u) - u) else math.nan, 0.0


@jit
def _central_beta_or_nan(m: float, s: float, x: float, e: float) -> tuple[float, float]:
    p = m + s * x
    gauss = 0.5 * x * x  # 2 n (p - m)^2
    least = min(m * (1.0 - m), p * (1.0 - p))
    if not least > 0.0:
        return math.nan, 0.0
    left = e + gauss - 0.25 * gauss / least
    if left > 0.0:
        return p, left
    divergence = m * math.log(m / p) + (1.0 - m) * math.log((1.0 - m) / (1.0 - p))
    return p if e > 0.25 * divergence / (s * s) - gauss else math.nan, 0.0


@shared
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Draw the number of heads among n coins with NumPy's method; shared by all callers because its code is long."""
    return rng.binomial(n, p)


@jit
def odds_of(p: float) -> float:
    """Return p / (1 - p), made finite."""
    return p / max(1.0 - p, 1e-300)


@jit
def log_chance(n: int, p: float, heads: int) -> float:
    """Return the logarithm of the probability of so many heads among n coins.

    >>> round(math.exp(log_chance(4, 0.5, 2)), 12)
    0.375
    """
    log_p = heads * math.log(p) + (n - heads) * math.log1p(-p) if heads < n else heads * math.log(p)
    return log_p + math.lgamma(n + 1.0) - math.lgamma(heads + 1.0) - math.lgamma(n - heads + 1.0)


@jit
def next_peak(mode: int, peak: float, n: int, p: float) -> tuple[int, float]:
    """Return the likeliest number of heads and its probability, after the n-th coin was added.

    >>> mode, peak = next_peak(2, 0.375, 5, 0.5)
    >>> mode, round(peak, 12)
    (3, 0.3125)
    """
    peak *= n * (1.0 - p) / (n - mode)
    return (mode + 1, peak * (n - mode) * odds_of(p) / (mode + 1.0)) if int(p * (n + 1)) > mode else (mode, peak)


@jit
def binomial_from(mode: int, peak: float, n: int, p: float, rng: np.random.Generator) -> int:
    """Draw the number of heads among n coins by inversion, from the mode and its probability outward.

    This takes about as many steps as the standard deviation; NumPy's inversion takes as many as the mean.
    """
    below = above = mode
    odds, lower, upper, u = odds_of(p), peak, peak, rng.random() - peak
    while u >= 0.0 and upper + lower > 0.0:
        upper *= (n - above) * odds / (above + 1.0)
        lower *= below / ((n - below + 1.0) * odds)
        above, below, u = above + 1, below - 1, u - upper
        if u < 0.0:
            return above
        u -= lower
    return max(below, 0)


@jit
def coins_frame(n: int) -> tuple[float, float]:
    """Return the s and 1/M of :func:`coins_or_nan`."""
    return 0.5 * math.sqrt(n + 1.0), 2.0 / (n + 1.0)


@jit
def coins_or_nan(n: float, s: float, unit: float, x: float, e: float) -> tuple[float, float]:
    """Return the heads among n fair coins (or NaN) from a normal x and an exponential e, and what is left of e.

    The result may be NaN and 0, and then :func:`settled_coins` must decide.

    With M = (n + 1) / 2 and d the distance of the heads from n/2, one more head changes their probability by the factor
    (M - c) / (M + c) = exp(-2 artanh(c/M)), where c is d + 1/2. So it is proportional to exp(-d^2/M - r), where r is
    the sum of 2 artanh(c/M) - 2 c/M over the steps from the middle to |d|. These terms are convex in c, and with
    z = |d|/M

        0 <= r <= M z^4 / (6 (1 - z^2)).

    The proposal is the whole number nearest to n/2 + s x, s^2 = M/2. It has probabilities proportional to
    exp(-d^2/M) I, where I is the integral of exp(-(2 d v + v^2)/M) over |v| <= 1/2, and by Jensen's inequality and
    sinh(z) <= z exp(z^2/6)

        -1/(12 M) <= log I <= z^2/6.

    So exp(-r - log I - 1/(12 M)) is a probability. Accepted with it, the heads are binomial; about 1/(3 M) are refused.
    They are refused if e is not above minus the exponent. Nearly all are accepted because e is above a bound on that;
    what is left of e above the bound is exponential again, and can be used for another draw.

    >>> s, unit = coins_frame(10**12)
    >>> heads, left = coins_or_nan(1e12, s, unit, x=1.0, e=1.0)
    >>> round(heads / 1e12, 7), round(left, 9)
    (0.5000005, 1.0)

    Reference: Devroye (1986), Non-uniform random variate generation, section X.4, also uses a normal proposal.
    """
    heads = np.floor(0.5 * n + s * x + 0.5)
    d = abs(heads - 0.5 * n)
    bound, zz = _bound(d, unit)
    left = e - bound
    return (heads, left) if left > 0.0 and zz <= 0.5 else (math.nan, 0.0)


@jit
def _bound(d: float, unit: float) -> tuple[float, float]:
    """Return a bound on r + log I + 1/(12 M), for z^2 <= 1/2 and so 1/(1 - z^2) <= 1 + 2 z^2; and z^2."""
    main = d * d * unit
    zz = main * unit
    return unit / 12.0 + zz / 6.0 + main * zz * (1.0 / 6.0 + zz / 3.0), zz


@shared
def settled_coins(n: float, s: float, unit: float, x: float, rng: np.random.Generator) -> float:
    """Return the number of heads, or NaN if they are refused, where :func:`coins_or_nan` returned NaN for this x.

    In that case, e was not above the bound, so it is above some y with probability
    (exp(-y) - exp(-bound)) / (1 - exp(-bound)). Where z^2 is above 1/2, e was not used.
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
