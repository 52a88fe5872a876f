"""Kinf: how far an empirical distribution is from those of larger mean and bounded support, and the resulting index.

    Kinf(F, q; upper) = max over lam in [0, 1/(upper - q)] of  mean_i log(1 - lam (X_i - q))

The mean of the data and the target q can be arbitrarily close, so nothing here subtracts two quantities of
first order: offsets are summed exactly, and logarithms enter through log(1+y) - y.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.compiler import entry_point, jit, shared
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.compensated import log1p_minus, mean_offset, weight_of
from dirichlet_bandits.numerics.tolerances import LARGEST_LEVEL, NEWTON_LIMIT, NEWTON_PATIENCE, NEWTON_STEP
from dirichlet_bandits.validation import finite_array, finite_number, positive_weights


class KinfResult(NamedTuple):
    """Kinf: its value, the multiplier lam that attains it, and whether the solver converged."""

    value: float
    multiplier: float
    iterations: int
    converged: bool


def kinf(values: ArrayLike, target: float, upper: float, weights: ArrayLike | None = None) -> KinfResult:
    """Return the smallest divergence from the data to a distribution on (-inf, upper] whose mean reaches the target.

    Kinf = max over lam in [0, 1/(upper - target)] of the (weighted) mean of log(1 - lam (x - target)). It is
    0 if the mean already reaches the target, and infinite if no distribution below `upper` can reach it.

    >>> round(kinf([0, 0, 1, 0], target=0.5, upper=1).value, 15)  # the Bernoulli divergence d(1/4, 1/2)
    0.130812035941137
    >>> kinf([0, 1], target=0.5, upper=1)
    KinfResult(value=0.0, multiplier=0.0, iterations=0, converged=True)

    Reference: Honda and Takemura (2010), An asymptotically optimal bandit algorithm for bounded support
    models, theorem 8.
    """
    x = finite_array("values", values)
    q = finite_number("target", target)
    top = finite_number("upper", upper)
    if x.max() > top:
        raise ArgumentError("values", f"at most upper = {top}", float(x.max()))
    w = positive_weights("weights", weights, x.size)
    if w.size:
        w = np.ldexp(w, -math.frexp(w.max())[1])  # exact, and no sum of weights overflows
        x, w = x[w > 0.0], w[w > 0.0]  # a weight 1e308 times smaller than another one has no effect
    value, multiplier, iterations, converged = _kinf_weighted(x, w, q, top, 0.0)
    return KinfResult(float(value), float(multiplier), int(iterations), bool(converged))


@jit
def kinf_dual(values: np.ndarray, target: float, upper: float, guess: float) -> tuple[float, float, int, bool]:
    """Return Kinf of unweighted data for compiled callers: value, multiplier, iterations, converged.

    `guess` is a multiplier to start from, for instance that of the previous round; 0, negative or NaN for none.
    A bad guess costs iterations but never changes the result.

    >>> value, multiplier, iterations, converged = kinf_dual(np.array([0.0, 0.0, 1.0, 0.0]), 0.5, 1.0, 0.0)
    >>> round(value, 15), converged
    (0.130812035941137, True)

    Reference: see :func:`kinf`.
    """
    return kinf_weighted(values, np.empty(0), target, upper, guess)


@shared
def kinf_weighted(
    values: np.ndarray, weights: np.ndarray, target: float, upper: float, guess: float
) -> tuple[float, float, int, bool]:
    """Return Kinf of weighted data for compiled callers (an empty `weights`: all 1); see :func:`kinf_dual`.

    In units of upper - target, put u = x - target, v = upper - x = 1 - u and lam = 1/(1 + e), so the constraint
    on lam is e >= 0. With gap = -mean(u), the slope vanishes where  excess(e) = mean u^2/(e + v) - gap  does.

    >>> round(kinf_weighted(np.array([0.0, 1.0]), np.array([3.0, 1.0]), 0.5, 1.0, 0.0)[0], 15)
    0.130812035941137

    Reference: see :func:`kinf`.
    """
    offset, total = mean_offset(values, weights, target)
    if offset >= 0.0:
        return 0.0, 0.0, 0, True
    if not target < upper:
        return math.inf, math.inf, 0, not math.isnan(target)
    width = upper - target
    gap = -offset / width
    second = 0.0
    v_least = math.inf
    w_least = 0.0
    for i in range(values.size):
        u = (values[i] - target) / width
        w = weight_of(weights, i)
        second += w * u * u
        v = (upper - values[i]) / width
        if v < v_least:
            v_least, w_least = v, w / total
    if not v_least >= 0.0:
        return math.nan, math.nan, 0, False
    # The largest observation alone keeps e above this bound, which is positive if that observation is at `upper`.
    low = (w_least - v_least) / (1.0 - w_least) if v_least < w_least < 1.0 else 0.0
    # Without a guess, start from the multiplier of the parabola that touches the dual function at 0.
    e = 1.0 / (guess * width) - 1.0 if guess > 0.0 else second / total / gap - 1.0
    e = e if e < math.inf else low
    highest = second / total / gap  # mean u^2/(e + v) is at most mean u^2/e
    dual = _Dual(target, upper, gap, total)
    e, iterations, converged = _stationary(values, weights, dual, low, highest, v_least, max(e, low))
    return _dual_value(values, weights, dual, e), 1.0 / ((1.0 + e) * width), iterations, converged


class _Dual(NamedTuple):
    """The dual problem without its data: the target, the bound, -mean(u) and the sum of the weights."""

    target: float
    upper: float
    gap: float
    total: float


@jit
def _excess(values: np.ndarray, weights: np.ndarray, dual: _Dual, e: float) -> tuple[float, float]:
    """Return the excess at e, and the Newton step there on the convex c - harmonic mean(c - u), c = 1 + e."""
    target, upper, gap, total = dual
    width = upper - target
    slope = 0.0
    square = 0.0
    direct = 0.0
    size = 0.0
    for i in range(values.size):
        u = (values[i] - target) / width
        t = u / (e + (upper - values[i]) / width)
        w = weight_of(weights, i)
        slope += w * (u * t)
        square += w * (t * t)
        direct += w * t
        size += w * abs(t)
    excess = slope / total - gap
    if (1.0 + e) * size < slope + gap * total:  # the same number, from smaller terms
        excess = (1.0 + e) * direct / total
    phi = excess / (1.0 + e)
    return excess, excess * (1.0 + phi) / (square / total - phi * phi)


@jit
def _stationary(
    values: np.ndarray,
    weights: np.ndarray,
    dual: _Dual,
    low: float,
    highest: float,
    v_least: float,
    start: float,
) -> tuple[float, int, bool]:
    """Return the e >= low where the excess vanishes, or low if it is negative already there; iterations; converged.

    This is Newton's method on a convex decreasing function: from the left, it climbs to the root without passing it;
    from the right, it jumps to the left of it. Only the jump can leave the bracket. Where one value at the target has
    almost all of the weight, the climb is slow, so we also split the bracket at its geometric mean. No root lies above
    ``highest``.
    """
    high = math.inf
    e = start
    low_seen = False
    for iteration in range(1, NEWTON_LIMIT):
        excess, step = _excess(values, weights, dual, e)
        if e <= low and excess <= 0.0:
            return e, iteration, True
        if abs(step) <= NEWTON_STEP * (e + v_least):
            return max(e + step, low), iteration, True
        if excess > 0.0:
            low, low_seen = e, True
        else:
            high = e
        # A step that doubles e indicates a long climb, so take a larger one; the bracket limits the damage.
        e += 4.0 * step if step > 0.5 * (e + v_least) and high == math.inf else step
        if iteration >= NEWTON_PATIENCE and iteration % 2 == 0 and low_seen:
            high = min(high, max(highest, 2.0 * low + v_least))
            e = math.sqrt((low + v_least) * (high + v_least)) - v_least
        if not low < e < high:
            # If the lower end was not evaluated, try it first: it may be the answer. Else take the geometric mean.
            e = math.sqrt((low + v_least) * (high + v_least)) - v_least if low_seen else low
            if low_seen and not low < e < high:
                return low, iteration, True
    return e, NEWTON_LIMIT, False


@jit
def _dual_value(values: np.ndarray, weights: np.ndarray, dual: _Dual, e: float) -> float:
    """Return the mean of log(1 - lam u) at lam = 1/(1+e), by whichever of two equal sums loses fewer digits.

    It is computed either directly, or as  lam * gap + mean(log(1+y) - y)  with y = -lam u, which keeps every digit when
    Kinf is tiny.
    """
    target, upper, gap, total = dual
    width = upper - target
    direct = 0.0
    size = 0.0
    curved = 0.0
    for i in range(values.size):
        y = -(values[i] - target) / width / (1.0 + e)
        w = weight_of(weights, i)
        if abs(y) < 0.1:
            bend = log1p_minus(y)
            log = bend + y
        else:
            log = math.log((e + (upper - values[i]) / width) / (1.0 + e))
            bend = log - y
        direct += w * log
        size += w * abs(log)
        curved += w * bend
    first = gap / (1.0 + e)
    if size < first * total - curved:
        return direct / total
    return first + curved / total


@shared
def kl_ucb_index(values: np.ndarray, level: float, upper: float, guess: float) -> tuple[float, float, int, bool]:
    """Return the largest target q with Kinf(F, q; upper) <= level: index, dual point c, iterations, converged.

    With c = q + 1/lam >= upper and H(c) the harmonic mean of c - x, q = c - H(c) and Kinf is
    mean log(c - x) - log H(c), which is one equation in c. If even c = upper gives less than the level, the multiplier
    is at its upper limit and q = upper - exp(mean log(upper - x) - level). `guess` is a c to start from; NaN or below
    upper for none.

    >>> q, c, iterations, converged = kl_ucb_index(np.array([0.0, 0.0, 1.0, 0.0]), 0.13081203594114, 1.0, 0.0)
    >>> round(q, 12), converged
    (0.5, True)

    Reference: Cappe, Garivier, Maillard, Munos and Stoltz (2013), Kullback-Leibler upper confidence bounds
    for optimal sequential allocation.
    """
    offset, _ = mean_offset(values, np.empty(0), upper)
    mean = upper + offset
    width = -offset  # v = (upper - x)/width has mean 1, so y = (v - 1)/(1 + e) has mean 0
    if width <= 0.0 or level <= 0.0:
        return mean, math.inf, 0, width >= 0.0
    variance = 0.0
    v_least = math.inf
    for i in range(values.size):
        v = (upper - values[i]) / width
        v_least = min(v_least, v)
        variance += (v - 1.0) * (v - 1.0)
    variance /= values.size
    if not v_least >= 0.0 or math.isnan(level):
        return math.nan, math.nan, 0, False
    level = min(level, LARGEST_LEVEL)
    goal = 1.0 / math.sqrt(math.expm1(2.0 * level))
    e = (guess - upper) / width if upper <= guess < math.inf else math.sqrt(variance / 2.0 / level) - 1.0
    low = 0.0
    low_seen = v_least == 0.0  # an observation at `upper` makes Kinf infinite there
    high = math.inf
    e = max(e, 0.0)
    if low_seen and e == 0.0:
        e = 1.0 / values.size
    iteration = 0
    while iteration < NEWTON_LIMIT:
        iteration += 1
        curved, rise, spread = _harmonic(values, upper, width, e)
        reached = curved + math.log1p(rise)  # Kinf at this c
        if e <= 0.0 and reached <= level:
            return mean - width * math.expm1(curved - level), upper, iteration, True
        # (exp(2 Kinf) - 1)^(-1/2) is almost a straight line in c, near the pole and far from it.
        lift = math.expm1(2.0 * reached)
        slope = (1.0 + 1.0 / lift) / math.sqrt(lift) * spread / ((1.0 + rise) * (1.0 + e))
        step = (goal - 1.0 / math.sqrt(lift)) / slope
        if abs(step) <= NEWTON_STEP * (e + v_least):
            e = max(e + step, 0.0)
            _, rise, _ = _harmonic(values, upper, width, e)
            return mean + width * (1.0 + e) * (rise / (1.0 + rise)), upper + width * e, iteration, True
        if reached > level:
            low, low_seen = e, True
        else:
            high = e
        e += step
        if not low < e < high:
            if not low_seen:
                e = 0.0
            elif low == 0.0:
                e = high / 16.0
            else:
                e = math.sqrt(low * high) if high < math.inf else 2.0 * low
    return math.nan, math.nan, NEWTON_LIMIT, False


@jit
def _harmonic(values: np.ndarray, upper: float, width: float, e: float) -> tuple[float, float, float]:
    """With y = (v - 1)/(1 + e), return the mean of log(1+y) - y, the mean of 1/(1+y) minus 1, and its variance."""
    curved = 0.0
    rise = 0.0
    square = 0.0
    for i in range(values.size):
        v = (upper - values[i]) / width
        y = (v - 1.0) / (1.0 + e)
        ratio = (e + v) / (1.0 + e)  # 1 + y, exact near the pole
        curved += log1p_minus(y) if abs(y) < 0.1 else math.log(ratio) - y
        rise += y * y / ratio
        square += (y / ratio) * (y / ratio)
    n = values.size
    return curved / n, rise / n, square / n - (rise / n) ** 2


_kinf_weighted = entry_point(kinf_weighted)
