"""Compute Kinf repeatedly, for data that grow slowly, at a cost that does not grow with the data.

The dual problem of Kinf depends on the data only through one function of one variable, which is the same for all
targets. Near a point, this function is a power series whose coefficients are power sums of the data. A new observation
updates a few sums, and Kinf for a nearby target takes a few Newton steps on the series. A bound on the remainder of the
series shows when the data must be read again.

Shift the data by a reference and measure them in units of its distance to the bound, with primes for such values. With
lam = z/(1 - z q'), the dual problem of Kinf becomes

    n Kinf(F, q) = max over z in [0, 1] of  G(z) - n log(1 - z q'),      G(z) = sum_i log(1 - z x_i'),

where G does not depend on the target q. Near z_0, with u_i = x_i'/(1 - z_0 x_i'), it is a power series,

    G(z_0 + d) = G(z_0) - sum_k S_k d^k/k,      S_k = sum_i u_i^k,

and a new observation adds to a few power sums. The remainder of the series is at most
S_K |d|^(K+1) max|u| / ((K+1) (1 - |d| max|u|)) for even K.
"""

import math
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import set_all
from dirichlet_bandits.numerics.kinf import kinf_dual, kl_ucb_index
from dirichlet_bandits.numerics.tolerances import EXPANSION_ERROR
from dirichlet_bandits.types import Floats, Records

_TERMS: Final = 12
_ROUNDS: Final = 12  # Newton steps before the caller has to solve the problem from scratch

EXPANSION: Final = np.dtype(
    [
        ("known", np.int64),  # observations in the sums
        ("limit", np.int64),  # the number of observations up to which the sums are used; 0 before the first
        ("reference", np.float64),
        ("unit", np.float64),
        ("center", np.float64),  # z_0
        ("value", np.float64),  # G(z_0)
        ("largest", np.float64),  # max |u|
        ("last", np.float64),  # the last solution z, from which the next search starts
        ("sums", np.float64, (_TERMS,)),  # S_1, S_2, ...
    ],
    align=True,
)


@jit
def make_expansions(n_laws: int) -> Records:
    """Return this many records ``EXPANSION``, all empty."""
    return np.zeros(n_laws, EXPANSION)


@shared
def expand(expansion: Any, x: Floats, mean: float, upper: float, dual: float) -> None:
    """Compute the power sums of the data at the dual point c = q + 1/lam of a target q (infinite for their mean).

    >>> x, expansion = np.array([0.0, 0.0, 1.0, 0.0]), make_expansions(1)[0]
    >>> expand(expansion, x, 0.25, 1.0, 1.5)
    >>> value, slope, error = kinf_near(expansion, 0.5)  # four times the Bernoulli divergence d(1/4, 1/2)
    >>> round(value / 4, 12), error < 1e-10
    (0.130812035941, True)

    Reference: the docstring of this module.
    """
    expansion.known, expansion.limit = 0, 2 * x.size  # rounding errors must not accumulate
    expansion.reference, expansion.unit = mean, upper - mean
    expansion.center = expansion.last = (upper - mean) / (dual - mean)
    expansion.value = expansion.largest = 0.0
    set_all(expansion.sums, 0.0)
    for value in x:
        add(expansion, value)


@jit
def add(expansion: Any, x: float) -> None:
    """Add one more observation."""
    shifted = (x - expansion.reference) / expansion.unit
    left = 1.0 - expansion.center * shifted
    u = shifted / left
    expansion.known += 1
    expansion.value += math.log(left)
    expansion.largest = max(expansion.largest, abs(u))
    power, sums = 1.0, expansion.sums
    for k in range(_TERMS):
        power *= u
        sums[k] += power


@jit
def follow(expansion: Any, x: Floats) -> bool:
    """Add the observations that the expansion does not have yet; return False if there are too many of them."""
    known = expansion.known
    if not x.size <= expansion.limit or 4 * (x.size - known) > x.size:
        return False
    for value in x[known:]:
        add(expansion, value)
    return True


@jit
def _series(expansion: Any, z: float) -> tuple[float, float, float]:
    """Return G and its first two derivatives at z."""
    d = z - expansion.center
    value = first = second = 0.0
    sums = expansion.sums
    for k in range(_TERMS, 0, -1):
        total = sums[k - 1]
        value = value * d + total / k
        second = second * d + first
        first = first * d + total
    return expansion.value - value * d, -first, -second


@jit
def _remainder_bound(expansion: Any, z: float) -> float:
    """Return a bound on the remainder of the series at z."""
    reach = abs(z - expansion.center) * expansion.largest
    if not reach < 0.5:
        return math.inf
    d = abs(z - expansion.center)
    return expansion.sums[_TERMS - 1] * d**_TERMS * reach / ((_TERMS + 1) * (1.0 - reach))


@jit
def kinf_near(expansion: Any, target: float) -> tuple[float, float, float]:
    """Return n Kinf for a target above the data's mean, its slope in the target, and a bound on its error.

    Newton's method finds the zero of  h(z) = G'(z) (1 - z q') + n q'.

    Reference: the docstring of this module; see :func:`expand`.
    """
    n, unit, z = expansion.known, expansion.unit, expansion.last
    q = (target - expansion.reference) / unit
    for _ in range(_ROUNDS):
        value, first, second = _series(expansion, z)
        h = first * (1.0 - z * q) + n * q
        fall = q * first - second * (1.0 - z * q)
        if not (fall > 0.0 and z + h / fall > 0.0):  # far from the zero, which is positive
            break
        step = min(h / fall, 1.0 - z)
        z += step
        if step * step * abs(fall) < EXPANSION_ERROR:  # the value's error is of second order
            value += step * (first + 0.5 * step * second)
            expansion.last = z
            return value - n * math.log1p(-z * q), n * z / (1.0 - z * q) / unit, _remainder_bound(expansion, z)
    return math.nan, math.nan, math.inf


@jit
def index_near(expansion: Any, level: float) -> tuple[float, float]:
    """Return the largest target with n Kinf <= level, and a bound on the error of n Kinf there.

    The best z for a target is  q' = P/(n + z P)  with P = -G'(z), where  n Kinf = G(z) + n log(1 + z P/n).  Its root is
    nearly linear in z. Beyond z = 1, the multiplier is at its upper limit, and n Kinf = G(1) - n log(1 - q').

    >>> x, expansion = np.array([0.0, 0.0, 1.0, 0.0]), make_expansions(1)[0]
    >>> expand(expansion, x, 0.25, 1.0, 1.5)
    >>> q, error = index_near(expansion, 4 * 0.13081203594114)
    >>> round(q, 10), error < 1e-10
    (0.5, True)

    Reference: the docstring of this module.
    """
    n, unit, z = expansion.known, expansion.unit, expansion.last
    for _ in range(_ROUNDS):
        value, first, second = _series(expansion, z)
        lift = -z * first / n
        reached = value + n * math.log1p(lift)
        rise = -z * (second + first * first / n) / (1.0 + lift)
        if z == 1.0 and reached <= level:
            q = -math.expm1((value - level) / n)
            return expansion.reference + unit * q, _remainder_bound(expansion, z)
        if abs(reached - level) < EXPANSION_ERROR:
            expansion.last = z
            q = -first / (n - z * first)
            q += (level - reached) * (1.0 - z * q) / (n * z)  # lam is the slope of Kinf
            return expansion.reference + unit * q, _remainder_bound(expansion, z)
        root = math.sqrt(max(reached, 0.0))
        z = min(max(z + (math.sqrt(level) - root) * 2.0 * root / rise, 0.25 * z), 1.0)
    return math.nan, math.inf


@shared
def kinf_incremental(expansion: Any, x: Floats, mean: float, target: float, upper: float) -> tuple[float, float]:
    """Return Kinf of data x and its multiplier up to rounding, from their expansion, which is rebuilt when needed.

    >>> x, expansion = np.array([0.0, 0.0, 1.0, 0.0]), make_expansions(1)[0]
    >>> for target in (0.5, 0.5):  # from the data, from the expansion
    ...     round(kinf_incremental(expansion, x, 0.25, target, 1.0)[0], 12)
    0.130812035941
    0.130812035941

    Reference: the docstring of this module.
    """
    if mean >= target:
        return 0.0, 0.0
    if follow(expansion, x):
        value, slope, error = kinf_near(expansion, target)
        if error <= EXPANSION_ERROR:
            return value / x.size, slope / x.size
    value, multiplier, _, _ = kinf_dual(x, target, upper, math.nan)
    expand(expansion, x, mean, upper, target + 1.0 / multiplier)
    return value, multiplier


@shared
def kl_ucb_incremental(expansion: Any, x: Floats, mean: float, level: float, upper: float) -> float:
    """Return the largest target with n Kinf <= level for data x, up to rounding, like :func:`kinf_incremental`.

    >>> x, expansion = np.array([0.0, 0.0, 1.0, 0.0]), make_expansions(1)[0]
    >>> for level in (4 * 0.130812035941137, 4 * 0.130812035941137):
    ...     round(kl_ucb_incremental(expansion, x, 0.25, level, 1.0), 10)
    0.5
    0.5

    Reference: the docstring of this module.
    """
    if follow(expansion, x):
        value, error = index_near(expansion, level)
        if error <= EXPANSION_ERROR:
            return value
    value, dual, _, _ = kl_ucb_index(x, level / x.size, upper, math.nan)
    expand(expansion, x, mean, upper, dual)
    return value
