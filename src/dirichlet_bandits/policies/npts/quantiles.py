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

       t = 1.45 * 2 e sqrt(2 pi) exp(z^2/2) <= 0.1.

4. V is no farther from the polynomial than t times the polynomial's largest slope. Where t would exceed 0.1 (|z| beyond
   the ``reach``), we only use that V grows with z.
"""

import math
from typing import Any, Final

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.costs import EXPANSION_LEAST
from dirichlet_bandits.numerics.expansion import expanded_crossing, expansion_error, more_powers, moved_sums
from dirichlet_bandits.types import Floats

_FARTHEST: Final = 3.5  # largest |z| at which the polynomial is used
_NEAREST: Final = 1.5  # with a smaller reach the polynomial decides too little
_STEEPEST: Final = 1.2  # largest slope of the polynomial, in deviations, up to a z of 3.6
_LEAST_BELL: Final = math.exp(-0.5 * _FARTHEST**2)
_MARGIN: Final = 1.45 * 2.0 * math.sqrt(2.0 * math.pi)


@jit
def learn_sums(arm: Any, x: Floats, upper: float) -> None:
    """Add the new rewards to the power sums of an arm; the bound counts as one of the values."""
    if arm.known == 0:
        arm.origin = sum_of(x) / x.size
        a = upper - arm.origin
        arm.p1, arm.p2, arm.p3, arm.p4 = a, a**2, a**3, a**4
    p1, p2, p3, p4 = arm.p1, arm.p2, arm.p3, arm.p4
    for i in range(arm.known, x.size):
        p1, p2, p3, p4 = more_powers(p1, p2, p3, p4, x[i] - arm.origin, 1.0)
    arm.p1, arm.p2, arm.p3, arm.p4, arm.known = p1, p2, p3, p4, x.size


@jit
def chance_below(arm: Any, held: Floats, v: float, lowest: float, upper: float) -> tuple[float, float]:
    """Return P(index < v) from the power sums, and a bound on its error.

    Far from the mean, Bernstein's inequality is better than the expansion. For n values, none below l, with mean m and
    variance s,

        P(index < m - z) <= exp(-n z^2 / (2 (s + (m - l) z))),

    and likewise above the mean. It is Chernoff's product of 1/(1 - lam a_i), a_i = m - z - x_i, with
    -log(1 - y) <= y + y^2/(2 (1 - Y)) for y <= Y and the best lam.
    """
    n, d = arm.known + 1.0, v - arm.origin
    s1, s2, s3, s4 = moved_sums(n, arm.p1, arm.p2, arm.p3, arm.p4, d)
    p, error = expanded_crossing(s1, s2, s3, s4, max(upper - v, v - lowest), held)  # step 1
    distance = s1 / n
    span = v + distance - lowest if distance > 0.0 else upper - v - distance
    tail = math.exp(-0.5 * s1 * s1 / (s2 - s1 * distance + span * abs(s1)))
    if tail < error:
        p, error = (1.0 - 0.5 * tail, 0.5 * tail) if distance > 0.0 else (0.5 * tail, 0.5 * tail)
    return 1.0 - p, error


@jit
def fit_polynomial(arm: Any, lowest: float, upper: float) -> None:
    """Fit the polynomial to the power sums; the index is measured from the bound."""
    n = arm.known + 1.0
    each, next_each, share = 1.0 / n, 1.0 / (n + 1.0), 1.0 / ((n + 2.0) * (n + 3.0))
    mean = arm.p1 * each
    square = arm.p1 * mean
    s2 = arm.p2 - square
    m3 = (arm.p3 - mean * (3.0 * arm.p2 - 2.0 * square)) * each
    m4 = (arm.p4 - mean * (4.0 * arm.p3 - mean * (6.0 * arm.p2 - 3.0 * square))) * each
    arm.mean, arm.deviation = mean + (arm.origin - upper), math.sqrt(s2 * (each * next_each))
    if n <= EXPANSION_LEAST or not s2 > 0.0:
        arm.reach = 0.0
        return
    narrow = 1.0 / (s2 * each)
    skew, kurtosis = m3 * m3 * (narrow * narrow * narrow), m4 * (narrow * narrow)  # the skewness is squared
    largest = max(-arm.mean, arm.mean - (lowest - upper))
    bound_error(arm, n, skew, kurtosis, largest * largest * narrow)
    # Skewness and excess of the index: moments of sums of gamma variables over those of their total. A sixth of the
    # skewness is c1, but only c1 times the deviation and c1 squared are needed, which take no root.
    shift = m3 * narrow * ((n + 3.0) * share * (1.0 / 3.0))
    c2 = (kurtosis * (n + 1.0) - (2.0 * n + 3.0)) * (0.25 * share)
    c3 = shift * shift * (narrow * (n + 1.0))
    arm.a0, arm.a1 = arm.mean - shift, arm.deviation * ((1.0 - 3.0 * c2) + 5.0 * c3)
    arm.a2, arm.a3 = shift, arm.deviation * (c2 - 2.0 * c3)


@jit
def bound_error(arm: Any, n: float, skew: float, kurtosis: float, largest: float) -> None:
    """Bound the error of the polynomial of n values, for larger moments, so that the bound lasts for a while.

    The skewness and the largest distance from the mean are squared, in standard deviations.
    """
    if n < arm.most and skew <= arm.skew and kurtosis <= arm.kurtosis and largest <= arm.largest:
        return
    arm.most, arm.skew, arm.kurtosis, arm.largest = 1.25 * n, 1.2 * skew + 0.02, 1.1 * kurtosis, 1.2 * largest
    skew, kurtosis, largest = math.sqrt(arm.skew), arm.kurtosis, math.sqrt(arm.largest)
    short = 1.0 / math.sqrt(n)
    t = 4.4 * short  # the values of the polynomial are at most 4.4 deviations from the mean
    h3 = (skew + t * (3.0 + t * t)) * short * (1.0 / 3.0)
    h4 = (kurtosis + t * (4.0 * skew + t * (6.0 + t * t))) * short * short * 0.25
    error = _MARGIN * expansion_error(h3, h4, 0.8 * (largest + t) * h4 * short)  # step 3: t at z = 0
    c1, c2 = skew * short * (1.0 / 3.0), 0.25 * max(1.0, kurtosis - 2.0) / n  # at least those of the polynomial
    steep = 1.0 + 7.2 * c1 + 36.0 * c2 + 73.0 * c1 * c1 >= _STEEPEST
    reach = 0.0 if steep or error >= 0.1 else min(math.sqrt(2.0 * math.log(0.1 / error)), _FARTHEST)
    arm.reach = reach if reach >= _NEAREST else 0.0
    arm.blur = error * _STEEPEST  # step 4
    arm.widest = min(error * (1.0 / _LEAST_BELL), 0.1) * _STEEPEST


@jit
def index_bounds(arm: Any, z: float, lowest: float, finely: bool) -> tuple[float, float]:
    """Return two numbers between which the index lies for this z, either wide or as fine as possible.

    All numbers are measured from the bound, including the lowest reward.
    """
    reach = arm.reach
    near = min(max(z, -reach), reach)
    v = (arm.a0 + near * arm.a1) + (near * near) * (arm.a2 + near * arm.a3)
    blur = arm.deviation * (arm.blur * math.exp(0.5 * near * near) if finely else arm.widest)
    return (lowest if z < near else v - blur), (0.0 if z > near else v + blur)
