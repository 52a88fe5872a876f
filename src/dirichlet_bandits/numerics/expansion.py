"""Approximate a crossing probability from four power sums, with a bound on the error that decides most duels.

For many rewards, a reweighted mean is nearly normal, and Edgeworth's expansion corrects the normal approximation by the
third and fourth power sums of the data. Power sums are updated with every reward, so no pass over the data is needed.
The error is bounded by a proof, so a duel whose uniform variable lies outside the bound is decided exactly.

With a_i = x_i - threshold and S_k = sum_i w_i a_i^k, on the imaginary axis

    P(sum_i a_i G_i >= 0) = 1/2 + 1/pi * integral over y > 0 of  Im prod_i (1 - i y a_i)^(-w_i) / y  dy.

Put u = y sqrt(S_2), z = S_1/sqrt(S_2), h_3 = S_3/(3 S_2^(3/2)), h_4 = S_4/(4 S_2^2) and
h_5 = max|a| S_4/(5 S_2^(5/2)). The product is exp(i u z - u^2/2 + w + r) with w = -i h_3 u^3 + h_4 u^4 and, by Taylor's
theorem, |r| <= h_5 u^5. In place of exp(w + r) take 1 + w - h_3^2 u^6/2: that is Edgeworth's expansion,

    P ~ Phi(z) + phi(z) (h_3 He_2(z) - h_4 He_3(z) - h_3^2/2 He_5(z)).

Up to some u = U, what it leaves out is at most, in modulus and besides exp(-u^2/2),

    |exp(w + r) - exp(w)| + |exp(w) - 1 - w - w^2/2| + |w^2/2 + h_3^2 u^6/2|
        <= exp(h_4 u^4 + h_5 u^5) (h_5 u^5 + |w|^3/6) + |h_3| h_4 u^7 + h_4^2 u^8/2,

and with u <= U in the exponent and once in |w|, all that integrates to Gaussian moments. Beyond U, the modulus of the
product is at most exp(-U^2/2 + h_4 U^4) (u/U)^(-k), k = U^2 - 4 h_4 U^4, because -log(1 + v^2) <= -v^2 + v^4/2 and
v^2/(1 + v^2) >= v^2 - v^4 and increases with v. So the bound is a proof, not an estimate.
"""

import math
from typing import Final

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.tolerances import POWER_SUM_ROUNDING
from dirichlet_bandits.types import Floats

_ROOT: Final = math.sqrt(0.5 * math.pi)
_BELL: Final = 1.0 / math.sqrt(2.0 * math.pi)
_LEAST: Final = 0.3  # of what is left of the Gaussian's exponent: with less, the bound is useless


@jit
def normal_below(z: float) -> float:
    """Return the standard normal distribution function at z.

    >>> normal_below(0.0)
    0.5
    """
    return 0.5 * math.erfc(-z * math.sqrt(0.5))


@jit
def expansion_error(h3: float, h4: float, h5: float) -> float:
    """Return a bound on the error of :func:`expanded_crossing`, valid also for arguments larger than the true ones.

    >>> expansion_error(0.01, 1e-3, 1e-5) < 3e-4, expansion_error(0.1, 0.1, 0.1)
    (True, inf)

    Reference: the docstring of this module.
    """
    far = 5.5 if h4 < 1e-3 else 4.5 if h4 < 5e-3 else 4.0
    square = far * far
    rest = 1.0 - 2.0 * square * (h4 + h5 * far)
    if not rest >= _LEAST:
        return math.inf
    falls = square - 4.0 * h4 * square * square
    if not falls > 1.0:
        return math.inf
    root = math.sqrt(rest)
    q = math.sqrt(h3 * h3 + h4 * h4 * square)
    missed = 3.0 * _ROOT * h5 / (rest * rest * root) + 17.5 * _ROOT * q * q * q / (rest * rest * rest * rest * root)
    missed += 15.0 * _ROOT * h3 * h4 + 24.0 * h4 * h4
    gauss = math.exp(-0.5 * square)
    beyond = gauss * math.exp(h4 * square * square) / falls
    beyond += 1.25 * gauss * (1.0 / square + h3 * far + h4 * square + 0.5 * h3 * h3 * square * square)
    return (missed + beyond) / math.pi + POWER_SUM_ROUNDING


@jit
def more_powers(
    p1: float, p2: float, p3: float, p4: float, d: float, weight: float
) -> tuple[float, float, float, float]:
    """Return the sums of the first four powers after adding the number d (weight 1) or removing it (weight -1).

    >>> more_powers(1.0, 1.0, 1.0, 1.0, 2.0, 1.0)
    (3.0, 5.0, 9.0, 17.0)
    """
    square = d * d
    return p1 + weight * d, p2 + weight * square, p3 + weight * (square * d), p4 + weight * (square * square)


@jit
def moved_sums(n: float, p1: float, p2: float, p3: float, p4: float, d: float) -> tuple[float, float, float, float]:
    """Return the sums of the first four powers of n numbers, each reduced by d, from the sums of the numbers.

    >>> moved_sums(2.0, 4.0, 10.0, 28.0, 82.0, 1.0)  # 1 and 3 become 0 and 2
    (2.0, 4.0, 8.0, 16.0)
    """
    s2 = p2 - d * (2.0 * p1 - n * d)
    s3 = p3 - d * (3.0 * p2 - d * (3.0 * p1 - n * d))
    s4 = p4 - d * (4.0 * p3 - d * (6.0 * p2 - d * (4.0 * p1 - n * d)))
    return p1 - n * d, s2, s3, s4


@jit
def held_error(held: Floats, h3: float, h4: float, h5: float) -> float:
    """Return a bound like :func:`expansion_error`, computed for larger arguments and reused while they stay larger.

    >>> import numpy as np
    >>> held = np.full(4, np.nan)
    >>> held_error(held, 0.01, 1e-3, 1e-5) == held_error(held, 0.0105, 1.05e-3, 1.05e-5)
    True
    """
    if not (h3 <= held[0] and 0.7 * held[1] <= h4 <= held[1] and h5 <= held[2]):
        held[0], held[1], held[2] = 1.1 * h3 + 0.3 * h4, 1.1 * h4, 1.1 * h5
        held[3] = expansion_error(held[0], held[1], held[2])
    return held[3]


@jit
def expanded_crossing(s1: float, s2: float, s3: float, s4: float, largest: float, held: Floats) -> tuple[float, float]:
    """Return P(sum_i a_i G_i >= 0), G_i ~ Gamma(w_i, 1), from S_k = sum_i w_i a_i^k and max|a_i|; and an error bound.

    ``held`` keeps four numbers for the next call, NaN at first.

    >>> import numpy as np
    >>> a = np.linspace(-1.0, 1.0, 2001)
    >>> sums = (a.sum(), (a**2).sum(), (a**3).sum(), (a**4).sum())
    >>> p, error = expanded_crossing(*sums, 1.0, np.full(4, np.nan))
    >>> round(p, 9), error < 1e-4
    (0.5, True)

    Reference: Feller (1971), An introduction to probability theory and its applications, volume 2, chapter XVI.
    """
    square = 1.0 / s2
    root = math.sqrt(square)
    z, h3, h4 = s1 * root, s3 * square * root * (1.0 / 3.0), 0.25 * s4 * square * square
    zz = z * z
    curve = h3 * (zz - 1.0) - z * (h4 * (zz - 3.0) + 0.5 * h3 * h3 * (zz * zz - 10.0 * zz + 15.0))
    p = normal_below(z) + math.exp(-0.5 * zz) * curve * _BELL
    return p, held_error(held, abs(h3), h4, 0.8 * largest * h4 * root)
