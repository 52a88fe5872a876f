"""Compute how likely the CVaR of a Dirichlet-weighted sample is to reach a threshold.

Given how many of the smallest values the CVaR averages over, it is a Dirichlet-weighted mean of these values. This
number is binomial, so the probability is a binomial mixture of crossing probabilities. All terms of the mixture are
integrated together, on one line, in one pass over the values per group of nodes.

Let w ~ Dirichlet(1, ..., 1) on m ordered values and n ~ Binomial(m - 1, level). Given n, the CVaR of the reweighted
sample is the mean of the n + 1 smallest values with Dirichlet(1, ..., 1) weights of their own: the cumulative weights
are the order statistics of m - 1 uniform variables; n of them lie below the level, where they are uniform again and cut
the interval (0, level) into n + 1 pieces, the j-th of which carries the j-th value. Hence, with a_i = x_i - threshold,

    p = sum_n P(n) p_n = 1/(2 pi i) * integral over Re s = c of  sum_n P(n) prod_{i <= n+1} (1 - s a_i)^(-1) / s  ds,

one integral for all n: the product of n + 1 factors gets one more factor for the next n, so one pass over the values
gives the integrand at a node. The line crosses the real axis at the saddle point of the mixture. As in
``crossing.py``, the trapezoid rule converges exponentially. Where terms of very different n require different lines,
the sum would cancel, so each half of the terms is then integrated on its own line.
"""

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.compiler import entry_point, jit, shared
from dirichlet_bandits.numerics.argmax import log_binomial
from dirichlet_bandits.numerics.compensated import two_sum
from dirichlet_bandits.numerics.crossing import log_crossing, log_factor
from dirichlet_bandits.numerics.cvar import level_of
from dirichlet_bandits.numerics.tolerances import (
    CONTOUR_AGREEMENT,
    CONTOUR_HALVINGS,
    CONTOUR_TAIL,
    MIXTURE_CANCELLATION,
    MIXTURE_NEGLIGIBLE,
    NEWTON_LIMIT,
    SADDLE_STEP,
)
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number

_NODES: Final = 16  # nodes computed together, in one pass over the data
_STEP: Final = 0.2  # first step, as in ``crossing.py``
_FARTHEST: Final = 400.0
_LEAP: Final = 2.0  # the most that the search for a saddle point moves in one step, in the logarithm of e
_GONE: Final = 1e-100  # a product as small as this is negligible


def cvar_crossing_probability(values: ArrayLike, threshold: float, level: float, log: bool = False) -> float:
    """Return the probability that the CVaR of the values, with Dirichlet(1, ..., 1) weights, reaches the threshold.

    p = sum over n of Binomial(m - 1, level)(n) * crossing_probability(n + 1 smallest values, threshold)

    for m values, with a relative error of about 1e-12, however small p is. ``log=True`` returns log p, which cannot
    underflow. At level 1, this is ``crossing_probability`` itself.

    >>> round(cvar_crossing_probability([0, 1], 0.25, 0.5), 12)  # n = 1 with probability 1/2, and then 3/4
    0.375
    >>> round(cvar_crossing_probability([0] * 2000 + [1], 0.5, 1.0, log=True) / math.log(0.5), 9)
    2000.0

    Reference: Baudry, Gautron, Kaufmann and Maillard (2021), Optimal Thompson sampling strategies for support-aware
    CVaR bandits, for the reweighted CVaR; the docstring of this module for its distribution.
    """
    x = np.sort(finite_array("values", values))
    offsets = x - finite_number("threshold", threshold)
    result = float(_log_cvar_crossing(offsets, level_of("level", level)))
    return result if log else math.exp(result)


@shared
def log_cvar_crossing(offsets: Floats, level: float) -> float:
    """Return log P(CVaR of reweighted offsets >= 0), for offsets in ascending order.

    >>> round(math.exp(log_cvar_crossing(np.array([-1.0, 3.0]), 0.5)), 12)
    0.375

    Reference: see :func:`cvar_crossing_probability`.
    """
    if level >= 1.0:
        return log_crossing(offsets, np.empty(0))
    chances = log_binomial(offsets.size - 1, level)
    return log_cvar_tails(offsets, chances, -math.inf, new_scratch(offsets.size))[1]


class Base(NamedTuple):
    """Values that take part in every term: offsets and weights, and the b_i of ``crossing.py`` as scratch space."""

    offsets: Floats
    weights: Floats
    b: Floats


class Scratch(NamedTuple):
    """Scratch space for the other values: the b_i of ``crossing.py``, and the share and slope of each n's term. The
    ``saddles`` are where the last saddle points were, for offsets as they are and for their negatives."""

    b: Floats
    share: Floats
    slope: Floats
    saddles: Floats


@jit
def new_base(size: int) -> Base:
    """Return space for values that take part in every term."""
    return Base(np.empty(size), np.empty(size), np.empty(size))


@jit
def new_scratch(size: int) -> Scratch:
    """Return scratch space for values of this number; no saddle point is known."""
    return Scratch(np.empty(size), np.empty(size), np.empty(size), np.zeros(2))


@shared
def log_cvar_tails(offsets: Floats, log_chances: Floats, floor: float, work: Scratch) -> tuple[float, float]:
    """Return log P(CVaR < 0) and log P(CVaR >= 0) of reweighted, ascending offsets, from the distribution of n.

    The smaller of the two is integrated, and the other one follows from it. A value below exp(floor) may be returned
    as 0. ``work`` remembers where to look for saddle points.

    >>> below, above = log_cvar_tails(np.array([-1.0, 3.0]), np.log([0.5, 0.5]), -math.inf, new_scratch(2))
    >>> round(math.exp(below), 12), round(math.exp(above), 12)
    (0.625, 0.375)

    Reference: see :func:`cvar_crossing_probability`.
    """
    return log_cvar_tails_beyond(new_base(0), offsets, log_chances, floor, work)


@shared
def log_cvar_tails_beyond(
    base: Base, offsets: Floats, log_chances: Floats, floor: float, work: Scratch
) -> tuple[float, float]:
    """Return the same as :func:`log_cvar_tails` where some of the smallest values take part in every term.

    ``base`` has these values, or a few points that represent them (``compression.py``).

    >>> base = Base(np.array([-1.0, 0.5]), np.array([1.0, 2.0]), np.empty(2))
    >>> offsets = np.array([0.5, 3.0])
    >>> every, chances = np.array([-1.0, 0.5, 0.5, 0.5, 3.0]), np.log([1e-99, 1e-99, 1e-99, 0.4, 0.6])
    >>> of_all = log_cvar_tails(every, chances, -99.0, new_scratch(5))
    >>> np.allclose(log_cvar_tails_beyond(base, offsets, np.log([0.4, 0.6]), -99.0, new_scratch(2)), of_all)
    True

    Reference: see :func:`cvar_crossing_probability`.
    """
    m = offsets.size
    least, total, weight = offsets[0], 0.0, 0.0
    for i in range(base.offsets.size):
        least = min(least, base.offsets[i])
        total += base.offsets[i] * base.weights[i]
        weight += base.weights[i]
    if least >= 0.0:
        return -math.inf, 0.0
    if offsets[m - 1] <= 0.0:
        return 0.0, -math.inf
    first = 0  # the fewest values with one above 0 among them
    while offsets[first] <= 0.0:
        first += 1
    sure = 0.0  # P(n < first): all values that matter are at most 0, and not all of them are 0
    mean = 0.0
    for n in range(m):
        chance = math.exp(log_chances[n])
        total += offsets[n]
        mean += chance * total / (weight + n + 1.0)
        if n < first:
            sure += chance
    half = math.log(0.5)
    rare = math.log(sure) if sure > 0.0 else -math.inf
    if mean <= 0.0 or rare > half:
        above = _log_sum(base, offsets, log_chances, first, 1.0, -math.inf, floor, work)
        if above <= half:
            return math.log1p(-math.exp(above)), above
    below = _log_sum(base, offsets, log_chances, first, -1.0, rare, floor, work)
    if below <= half:
        return below, math.log1p(-math.exp(below))
    above = _log_sum(base, offsets, log_chances, first, 1.0, -math.inf, floor, work)
    return below, above


@jit
def _log_sum(
    base: Base,
    offsets: Floats,
    log_chances: Floats,
    first: int,
    sign: float,
    log_total: float,
    floor: float,
    work: Scratch,
) -> float:
    """Return the log of exp(log_total) + sum over n >= first of P(n) P(sign * sum_{i <= n+1} a_i G_i > 0).

    The probabilities increase with n if the sign is positive, and decrease otherwise. So all n whose P(n) is not
    negligible beside the largest come first, and then those on the side where the probabilities are larger, as long as
    they can matter.
    """
    last = offsets.size - 1
    top = first
    for n in range(first, last + 1):
        if log_chances[n] > log_chances[top]:
            top = n
    low = high = top
    reach = math.log(MIXTURE_NEGLIGIBLE)
    while low > first and log_chances[low - 1] > log_chances[top] + reach:
        low -= 1
    while high < last and log_chances[high + 1] > log_chances[top] + reach:
        high += 1
    log_total = _log_add(log_total, _log_group(base, offsets, log_chances, low, high, sign, floor, work))
    while True:
        if sign > 0.0:
            low, start = high + 1, high + 1
        else:
            high, start = low - 1, low - 1
        if not first <= start <= last or log_chances[start] == -math.inf:
            return log_total
        # Away from the mode, the P(n) fall faster and faster, so a geometric series bounds the rest of them.
        neighbor = min(max(start + int(sign), 0), last)
        fall = math.exp(log_chances[neighbor] - log_chances[start]) if neighbor != start else 0.0
        if fall < 1.0 and log_chances[start] - math.log(1.0 - fall) < max(log_total + reach, floor):
            return log_total
        if sign > 0.0:
            high = low
            while high < last and log_chances[high + 1] > log_chances[start] + reach:
                high += 1
        else:
            low = high
            while low > first and log_chances[low - 1] > log_chances[start] + reach:
                low -= 1
        log_total = _log_add(log_total, _log_group(base, offsets, log_chances, low, high, sign, floor, work))


@jit
def _log_add(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    high = max(a, b)
    return high if high == -math.inf else high + math.log1p(math.exp(min(a, b) - high))


@jit
def _log_group(
    base: Base, offsets: Floats, log_chances: Floats, low: int, high: int, sign: float, floor: float, work: Scratch
) -> float:
    """Return the log of the sum over low <= n <= high; a group without a suitable common line is split in two."""
    starts, ends = np.empty(64, np.int64), np.empty(64, np.int64)
    starts[0], ends[0], waiting = low, high, 1
    log_total = -math.inf
    while waiting > 0:
        waiting -= 1
        low, high = starts[waiting], ends[waiting]
        if low == high:
            log_total = _log_add(log_total, log_chances[low] + _log_alone(base, offsets, low, sign))
            continue
        log_p, sound = _log_integral(base, offsets, log_chances, low, high, sign, floor, work)
        if sound:
            log_total = _log_add(log_total, log_p)
            continue
        middle, jump = (low + high) // 2, 0.5 * offsets[high]
        for n in range(low, high):  # cutting off a distant bound is better than halving until it is alone
            if sign > 0.0 and offsets[n + 1] - offsets[n] > jump:
                middle, jump = n, offsets[n + 1] - offsets[n]
        starts[waiting], ends[waiting] = low, middle
        starts[waiting + 1], ends[waiting + 1] = middle + 1, high
        waiting += 2
    return log_total


@jit
def _log_alone(base: Base, offsets: Floats, n: int, sign: float) -> float:
    """Return the log of the crossing probability for one n."""
    if base.offsets.size == 0:
        return log_crossing(sign * offsets[: n + 1], np.empty(0))
    values, weights = np.empty(base.offsets.size + n + 1), np.ones(base.offsets.size + n + 1)
    for i in range(base.offsets.size):
        values[i], weights[i] = sign * base.offsets[i], base.weights[i]
    for i in range(n + 1):
        values[base.offsets.size + i] = sign * offsets[i]
    return log_crossing(values, weights)


@jit
def _line(
    base: Base,
    offsets: Floats,
    log_chances: Floats,
    numbers: tuple[int, int],
    sign: float,
    top: float,
    e: float,
    work: Scratch,
) -> tuple[float, float, float]:
    """Return log M(c), and slope and curvature of K(c) = log M(c) - log c, where the line crosses the real axis.

    In units of the largest offset, c = 1/(1 + e). The terms are those of n between two ``numbers``. ``work``
    receives the b_i of ``crossing.py`` and the share of each n.
    """
    (low, high), b, share, slope = numbers, work.b, work.share, work.slope
    height = rest = first = curvature = 0.0
    largest = -math.inf
    for i in range(base.offsets.size):
        a, weight = sign * base.offsets[i], base.weights[i]
        base.b[i] = a / top * (1.0 + e) / (e + (top - a) / top)
        height, carry = two_sum(height, -weight * log_factor(a, top, e))
        rest += carry
        first += weight * base.b[i]
        curvature += weight * base.b[i] * base.b[i]
    for n in range(high + 1):
        a = sign * offsets[n]
        b[n] = a / top * (1.0 + e) / (e + (top - a) / top)
        height, carry = two_sum(height, -log_factor(a, top, e))
        rest += carry
        first += b[n]
        if n >= low:
            share[n] = log_chances[n] + height + rest
            slope[n] = first
            largest = max(largest, share[n])
    total = mean = 0.0
    for n in range(low, high + 1):
        share[n] = math.exp(share[n] - largest)
        total += share[n]
        mean += share[n] * slope[n]
    mean /= total
    spread = 0.0
    for n in range(low, high + 1):
        share[n] /= total
        spread += share[n] * (slope[n] - mean) * (slope[n] - mean)
    curvature += spread
    left = 1.0  # the share of the terms that contain the factor
    for n in range(high + 1):
        curvature += left * b[n] * b[n]
        if n >= low:
            left -= share[n]
    return largest + math.log(total), mean - (1.0 + e), curvature + (1.0 + e) * (1.0 + e)


@shared
def _log_integral(
    base: Base, offsets: Floats, log_chances: Floats, low: int, high: int, sign: float, floor: float, work: Scratch
) -> tuple[float, bool]:
    """Return the log of the integral for the terms low <= n <= high, and whether it is reliable."""
    top = sign * offsets[high if sign > 0.0 else 0]
    for i in range(base.offsets.size):
        top = max(top, sign * base.offsets[i])
    known = 0 if sign > 0.0 else 1
    e, e_low, e_high = work.saddles[known], 0.0, math.inf
    if not e > 0.0:
        e = 1.0
    height = width = 0.0
    for iteration in range(NEWTON_LIMIT):
        height, slope, curvature = _line(base, offsets, log_chances, (low, high), sign, top, e, work)
        center = 1.0 / (1.0 + e)
        width = min(1.0 / math.sqrt(curvature), e * center)
        # The integral is taken for this e: any line between 0 and the pole is right, but some are better.
        if abs(slope / curvature) <= SADDLE_STEP * width or iteration == NEWTON_LIMIT - 1:
            break
        if slope > 0.0:
            e_low = e
        else:
            e_high = e
        # Newton's method in log e, where both the pole and 0 are far away.
        step = slope / (curvature * e * center * center)
        e *= math.exp(min(max(step, -_LEAP), _LEAP))
        bracketed = e_low > 0.0 and e_high < math.inf
        # The slope of a mixture may be far from linear, so every third step takes the geometric mean of the bracket.
        if bracketed and (iteration % 3 == 2 or not e_low < e < e_high):
            e = math.sqrt(e_low * e_high)
    work.saddles[known] = e
    if height < floor:  # Chernoff's bound
        return -math.inf, True
    step = _STEP
    total, size = _line_sum(base, work, low, high, e, width, step, step)
    coarse = step * (0.5 + total)
    if not coarse >= MIXTURE_CANCELLATION * step * (0.5 + size):
        return math.nan, False
    for _ in range(CONTOUR_HALVINGS):
        fine = 0.5 * (coarse + step * _line_sum(base, work, low, high, e, width, 0.5 * step, step)[0])
        step *= 0.5
        settled = abs(fine - coarse) <= CONTOUR_AGREEMENT * abs(fine)
        coarse = fine
        if settled:
            return height + math.log1p(e) + math.log(coarse * width / math.pi), True
    return math.nan, False


@jit
def _line_sum(
    base: Base, work: Scratch, low: int, high: int, e: float, width: float, first: float, step: float
) -> tuple[float, float]:
    """Return the sums of the integrand, relative to its value on the real axis, and of its modulus.

    The sums are taken at x = first, first + step, and so on.
    """
    b, share = work.b, work.share
    y, real, imag = np.empty(_NODES), np.empty(_NODES), np.empty(_NODES)
    mixed_real, mixed_imag = np.empty(_NODES), np.empty(_NODES)
    total = sizes = 0.0
    x = first
    while x <= _FARTHEST:
        for j in range(_NODES):
            y[j] = width * math.sinh(x + step * j)
            size, turn = 0.0, 0.0
            for i in range(base.offsets.size):
                t = y[j] * base.b[i]
                size += base.weights[i] * math.log1p(t * t)
                turn += base.weights[i] * math.atan(t)
            size = math.exp(-0.5 * size)
            real[j], imag[j], mixed_real[j], mixed_imag[j] = size * math.cos(turn), size * math.sin(turn), 0.0, 0.0
        for n in range(high + 1):
            p = share[n] if n >= low else 0.0
            for j in range(_NODES):  # one more factor: divide by 1 - i y b
                t = y[j] * b[n]
                inverse = 1.0 / (1.0 + t * t)
                r = (real[j] - imag[j] * t) * inverse
                imag[j] = (imag[j] + real[j] * t) * inverse
                real[j] = r
                mixed_real[j] += p * r
                mixed_imag[j] += p * imag[j]
            if n % 16 == 15:  # subnormal numbers are slow
                for j in range(_NODES):
                    if abs(real[j]) + abs(imag[j]) < _GONE:
                        real[j] = imag[j] = 0.0
                if real[0] == 0.0 and imag[0] == 0.0:
                    break
        size = 0.0
        for j in range(_NODES):
            jacobian = math.cosh(x + step * j)
            v = y[j] * (1.0 + e)
            total += jacobian * (mixed_real[j] + mixed_imag[j] * v) / (1.0 + v * v)
            size = jacobian * (abs(mixed_real[j]) + abs(mixed_imag[j])) / math.sqrt(1.0 + v * v)
            sizes += size
        if size <= CONTOUR_TAIL * abs(total):
            break
        x += step * _NODES
    return total, sizes


_log_cvar_crossing = entry_point(log_cvar_crossing)
