"""An index of NPTS as a function of a normal variable, with a bound on the error.

With many rewards, the index is nearly normal, so we can usually decide which of two indices is larger without drawing a
weight for every reward. If z is a standard normal variable, V = F^(-1)(Phi(z)) has the distribution F. Cornish and
Fisher's polynomial in z, from the first four moments of the rewards, is close to V. If we know how close, two normal
variables give an interval for each of two indices; for example, an index in [0.51, 0.52] is below one in [0.55, 0.56],
whatever the weights are. The argument for how close the polynomial is:

1. ``numerics/expansion.py`` gives F(v) from four power sums, with an error of at most e.
2. At the polynomial of z, this expansion differs from Phi(z) by less than e: the difference is an explicit function of
   z and three numbers, and a test finds at most e/2 wherever it looks.
3. So F at the polynomial of z + t is at least Phi(z + t) - 2 e, which is at least Phi(z) if

       t = SHIFT_FACTOR * 2 e sqrt(2 pi) exp(z^2/2) <= SHIFT_LARGEST.

4. V is no farther from the polynomial than t times the polynomial's largest slope. Where t would be larger (|z|
   beyond the ``reach``), we only use that V grows with z.
"""

import math
from typing import Final, Protocol

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.costs import (
    EXPANSION_LEAST,
    POLYNOMIAL_LASTS_COUNT,
    POLYNOMIAL_LASTS_KURTOSIS,
    POLYNOMIAL_LASTS_LARGEST,
    POLYNOMIAL_LASTS_SKEWNESS,
    POLYNOMIAL_NEAREST,
)
from dirichlet_bandits.numerics.expansion import expanded_crossing, expansion_error, more_powers, moved_sums
from dirichlet_bandits.numerics.tolerances import (
    FIFTH_FROM_FOURTH,
    POLYNOMIAL_FARTHEST,
    POLYNOMIAL_LARGEST,
    POLYNOMIAL_SLOPE_KURTOSIS,
    POLYNOMIAL_SLOPE_SKEWNESS,
    POLYNOMIAL_SLOPE_SQUARE,
    POLYNOMIAL_STEEPEST,
    SHIFT_FACTOR,
    SHIFT_LARGEST,
)
from dirichlet_bandits.types import Floats, record_type

_LEAST_BELL: Final = math.exp(-0.5 * POLYNOMIAL_FARTHEST**2)
_MARGIN: Final = SHIFT_FACTOR * 2.0 * math.sqrt(2.0 * math.pi)


class PowerSums(Protocol):
    """Sums of the first four powers of the first ``known`` rewards and the bound, about the ``origin``."""

    known: int
    origin: float
    p1: float
    p2: float
    p3: float
    p4: float


class Polynomial(Protocol):
    """The index as a polynomial of a normal variable z, with the ``mean`` and the ``deviation`` of the index.

    All are measured from the bound. The error is at most ``blur`` at z = 0 and ``widest`` elsewhere, in deviations, and
    the polynomial is used up to a |z| of ``reach`` (0 if it is not good enough). This holds for fewer than ``most``
    values, while their ``skew``, ``kurtosis`` and ``largest`` distance from the mean do not exceed those here.
    """

    mean: float
    deviation: float
    a0: float
    a1: float
    a2: float
    a3: float
    blur: float
    widest: float
    reach: float
    most: float
    skew: float
    kurtosis: float
    largest: float


POWER_SUMS: Final = record_type(PowerSums)
POLYNOMIAL: Final = record_type(Polynomial)


@jit
def learn_sums(sums: PowerSums, x: Floats, upper: float) -> None:
    """Add the new rewards to the power sums; the bound counts as one of the values."""
    if sums.known == 0:
        sums.origin = sum_of(x) / x.size
        a = upper - sums.origin
        sums.p1, sums.p2, sums.p3, sums.p4 = a, a**2, a**3, a**4
    p1, p2, p3, p4 = sums.p1, sums.p2, sums.p3, sums.p4
    for i in range(sums.known, x.size):
        p1, p2, p3, p4 = more_powers(p1, p2, p3, p4, x[i] - sums.origin, 1.0)
    sums.p1, sums.p2, sums.p3, sums.p4, sums.known = p1, p2, p3, p4, x.size


@jit
def chance_below(sums: PowerSums, held: Floats, v: float, lowest: float, upper: float) -> tuple[float, float]:
    """Return P(index < v) from the power sums, and a bound on its error.

    Far from the mean, Bernstein's inequality is better than the expansion. For n values, none below l, with mean m and
    variance s,

        P(index < m - z) <= exp(-n z^2 / (2 (s + (m - l) z))),

    and likewise above the mean. It is Chernoff's product of 1/(1 - lam a_i), a_i = m - z - x_i, with
    -log(1 - y) <= y + y^2/(2 (1 - Y)) for y <= Y and the best lam.
    """
    n, d = sums.known + 1.0, v - sums.origin
    s1, s2, s3, s4 = moved_sums(n, sums.p1, sums.p2, sums.p3, sums.p4, d)
    p, error = expanded_crossing(s1, s2, s3, s4, max(upper - v, v - lowest), held)  # step 1
    distance = s1 / n
    span = v + distance - lowest if distance > 0.0 else upper - v - distance
    tail = math.exp(-0.5 * s1 * s1 / (s2 - s1 * distance + span * abs(s1)))
    if tail < error:
        p, error = (1.0 - 0.5 * tail, 0.5 * tail) if distance > 0.0 else (0.5 * tail, 0.5 * tail)
    return 1.0 - p, error


@jit
def fit_polynomial(sums: PowerSums, fitted: Polynomial, lowest: float, upper: float) -> None:
    """Fit the polynomial to the power sums; the index is measured from the bound."""
    n = sums.known + 1.0
    each, next_each, share = 1.0 / n, 1.0 / (n + 1.0), 1.0 / ((n + 2.0) * (n + 3.0))
    mean = sums.p1 * each
    square = sums.p1 * mean
    s2 = sums.p2 - square
    m3 = (sums.p3 - mean * (3.0 * sums.p2 - 2.0 * square)) * each
    m4 = (sums.p4 - mean * (4.0 * sums.p3 - mean * (6.0 * sums.p2 - 3.0 * square))) * each
    fitted.mean, fitted.deviation = mean + (sums.origin - upper), math.sqrt(s2 * (each * next_each))
    if n <= EXPANSION_LEAST or not s2 > 0.0:
        fitted.reach = 0.0
        return
    narrow = 1.0 / (s2 * each)
    skew, kurtosis = m3 * m3 * (narrow * narrow * narrow), m4 * (narrow * narrow)  # the skewness is squared
    largest = max(-fitted.mean, fitted.mean - (lowest - upper))
    bound_error(fitted, n, skew, kurtosis, largest * largest * narrow)
    # Skewness and excess of the index: moments of sums of gamma variables over those of their total. A sixth of the
    # skewness is c1, but only c1 times the deviation and c1 squared are needed, which take no root.
    shift = m3 * narrow * ((n + 3.0) * share * (1.0 / 3.0))
    c2 = (kurtosis * (n + 1.0) - (2.0 * n + 3.0)) * (0.25 * share)
    c3 = shift * shift * (narrow * (n + 1.0))
    fitted.a0, fitted.a1 = fitted.mean - shift, fitted.deviation * ((1.0 - 3.0 * c2) + 5.0 * c3)
    fitted.a2, fitted.a3 = shift, fitted.deviation * (c2 - 2.0 * c3)


@jit
def bound_error(fitted: Polynomial, n: float, skew: float, kurtosis: float, largest: float) -> None:
    """Bound the error of the polynomial of n values, for larger moments, so that the bound lasts for a while.

    The skewness and the largest distance from the mean are squared, in standard deviations.
    """
    if n < fitted.most and skew <= fitted.skew and kurtosis <= fitted.kurtosis and largest <= fitted.largest:
        return
    fitted.most, fitted.skew = (
        POLYNOMIAL_LASTS_COUNT * n,
        POLYNOMIAL_LASTS_SKEWNESS[0] * skew + POLYNOMIAL_LASTS_SKEWNESS[1],
    )
    fitted.kurtosis, fitted.largest = POLYNOMIAL_LASTS_KURTOSIS * kurtosis, POLYNOMIAL_LASTS_LARGEST * largest
    skew, kurtosis, largest = math.sqrt(fitted.skew), fitted.kurtosis, math.sqrt(fitted.largest)
    short = 1.0 / math.sqrt(n)
    t = POLYNOMIAL_LARGEST * short
    h3 = (skew + t * (3.0 + t * t)) * short * (1.0 / 3.0)
    h4 = (kurtosis + t * (4.0 * skew + t * (6.0 + t * t))) * short * short * 0.25
    error = _MARGIN * expansion_error(h3, h4, FIFTH_FROM_FOURTH * (largest + t) * h4 * short)  # step 3: t at z = 0
    c1, c2 = skew * short * (1.0 / 3.0), 0.25 * max(1.0, kurtosis - 2.0) / n  # at least those of the polynomial
    slope = 1.0 + POLYNOMIAL_SLOPE_SKEWNESS * c1 + POLYNOMIAL_SLOPE_KURTOSIS * c2 + POLYNOMIAL_SLOPE_SQUARE * c1 * c1
    reach = 0.0
    if slope < POLYNOMIAL_STEEPEST and error < SHIFT_LARGEST:
        reach = min(math.sqrt(2.0 * math.log(SHIFT_LARGEST / error)), POLYNOMIAL_FARTHEST)
    fitted.reach = reach if reach >= POLYNOMIAL_NEAREST else 0.0
    fitted.blur = error * POLYNOMIAL_STEEPEST  # step 4
    fitted.widest = min(error * (1.0 / _LEAST_BELL), SHIFT_LARGEST) * POLYNOMIAL_STEEPEST


@jit
def index_bounds(fitted: Polynomial, z: float, lowest: float, finely: bool) -> tuple[float, float]:
    """Return two numbers between which the index lies for this z, either wide or as fine as possible.

    All numbers are measured from the bound, including the lowest reward.
    """
    reach = fitted.reach
    near = min(max(z, -reach), reach)
    v = (fitted.a0 + near * fitted.a1) + (near * near) * (fitted.a2 + near * fitted.a3)
    blur = fitted.deviation * (fitted.blur * math.exp(0.5 * near * near) if finely else fitted.widest)
    return (lowest if z < near else v - blur), (0.0 if z > near else v + blur)
