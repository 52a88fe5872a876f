"""How probably a challenger's index reaches a threshold at most, and draws of the index given that it does.

With m rewards, a_i = x_i - q, n ~ Binomial(m, level) and exponential E_i, the index reaches q if S = E_1 a_1 + ... +
E_{n+1} a_{n+1} >= 0, the values in ascending order and the bound after them. For every lam >= 0

    P(S >= 0 | n) <= E(exp(lam S) | n) = prod_{i <= n+1} 1/(1 - lam a_i)        (Chernoff),

if lam is below 1/a_{n+1}. The n for which a_{n+1} is positive, without it S cannot be, are cut into a few blocks,
each with a lam of its own; n that are hardly ever so large or so small, and whose values need not be in order, count
with a bound of 1 instead. The sum over n of P(n) times these bounds is the ceiling. A draw in proportion to it, n by
its terms and E_i at rates 1 - lam a_i, that is kept with probability exp(-lam S) if S >= 0, has the law of the index
given that it reaches q, and is kept with probability P(S >= 0)/ceiling.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.tolerances import MIXTURE_NEGLIGIBLE
from dirichlet_bandits.policies.cvar.ordering import END, LOW, Samples, catch_up, draw_index, in_order
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.types import Floats

_BLOCKS = 6  # of n, each with its tilt
_NARROWEST = 2  # numbers in a block
_BEYOND = 5.0  # n is tilted up to so many standard deviations above its mean
_NEGLIGIBLE = 9.0  # n so many deviations below it do not count: exp(-40) of all
_STEPS = 4  # of Newton's method at most: every lam gives a ceiling
_GAIN = 0.1  # in the logarithm of the ceiling: less is not worth another step
_NEAR_POLE = 0.98  # the largest lam, in units of 1/max a_i

_FIRST, _LAST, _BELOW, _ABOVE, _LOG = range(5)  # the n that are tilted, P(n < first), P(n > last), log P(first)
# Of a threshold: its ceiling, the first n that can reach it, how many make a block; then three numbers for each block:
# lam, its part of the ceiling, and its terms' sum in units of the first.
CEILING, _START, _WIDTH, _TILT, _PART, _TOTAL = 0, 1, 2, 3, 3 + _BLOCKS, 3 + 2 * _BLOCKS


class Tilts(NamedTuple):
    """For each arm, what is known of its n; and for each arm and threshold, the ceiling and how it is made."""

    numbers: Floats
    rows: Floats


@shared
def new_tilts(n_arms: int, n_thresholds: int) -> Tilts:
    """No tilts yet."""
    return Tilts(np.zeros((n_arms, 5)), np.zeros((n_arms, n_thresholds, 3 + 3 * _BLOCKS)))


@jit
def part_binomial(policy: BCVTSParams, samples: Samples, arm: int, size: int, numbers: Floats) -> None:
    """Which n are tilted, and how probable the others are."""
    level = policy.level
    if level >= 1.0:
        numbers[_FIRST], numbers[_LAST] = size, size
        numbers[_BELOW], numbers[_ABOVE], numbers[_LOG] = 0.0, 0.0, 0.0
        return
    low, end, odds = samples.marks[LOW, arm], samples.marks[END, arm], level / (1.0 - level)
    centre, deviation = level * size, math.sqrt(level * (1.0 - level) * size)
    lowest = max(int(centre - _NEGLIGIBLE * deviation), 0)
    first = max(lowest, low - 1)
    last = max(min(int(centre + _BEYOND * deviation) + 2, size if end == size else end - 1), first)
    log_p = (
        math.lgamma(size + 1.0)
        - math.lgamma(first + 1.0)
        - math.lgamma(size - first + 1.0)
        + first * math.log(level)
        + (size - first) * math.log1p(-level)
    )
    p, below = math.exp(log_p), 0.0
    for n in range(first, lowest, -1):
        p *= n / ((size - n + 1.0) * odds)
        below += p
    p, above = math.exp(log_p), 0.0
    for n in range(first, size):
        p *= (size - n) * odds / (n + 1.0)
        if n >= last:
            above += p
            if p < MIXTURE_NEGLIGIBLE * above:
                break
    numbers[_FIRST], numbers[_LAST], numbers[_BELOW], numbers[_ABOVE] = first, last, below, above
    numbers[_LOG] = log_p


@jit
def value_at(x: Floats, upper: float, i: int) -> float:
    """The i-th value: the bound comes after the rewards."""
    return x[i] if i < x.size else upper


@jit
def block_terms(
    x: Floats, upper: float, odds: float, first: int, last: int, q: float, lam: float
) -> tuple[float, float, float, float]:
    """Sum of the terms first <= n <= last in units of the first; the logarithm of the first one's product; slope and
    curvature of the logarithm of the sum."""
    product, height, slope, squares = 1.0, 0.0, 0.0, 0.0
    for i in range(first + 1):
        a = value_at(x, upper, i) - q
        left = 1.0 - lam * a
        product *= left
        if not 1e-100 < product < 1e100:
            height += math.log(product)
            product = 1.0
        share = a / left
        slope += share
        squares += share * share
    term = total = 1.0
    mean, spread = slope, squares + slope * slope
    for n in range(first + 1, last + 1):
        a = value_at(x, upper, n) - q
        left = 1.0 - lam * a
        term *= (x.size - n + 1.0) * odds / (n * left)
        share = a / left
        slope += share
        squares += share * share
        total += term
        mean += term * slope
        spread += term * (squares + slope * slope)
    mean /= total
    return total, -height - math.log(product), mean, spread / total - mean * mean


@shared
def set_ceiling(policy: BCVTSParams, x: Floats, numbers: Floats, row: Floats, q: float, starts: Floats) -> None:
    """The ceiling for one threshold: a few steps towards the best lam of each block, from those that served before."""
    upper, odds = policy.upper, policy.level / (1.0 - policy.level)
    first, last = int(numbers[_FIRST]), int(numbers[_LAST])
    n, log_p = first, numbers[_LOG]
    p = 1.0
    while n <= last and value_at(x, upper, n) <= q:
        p *= (x.size - n) * odds / (n + 1.0)
        n += 1
        if p < 1e-100 or p > 1e100:
            log_p += math.log(p)
            p = 1.0
    log_p += math.log(p) if n <= last else 0.0
    width = max(-(-(last - n + 1) // _BLOCKS), _NARROWEST)
    row[CEILING], row[_START], row[_WIDTH] = numbers[_BELOW] + numbers[_ABOVE], n, width
    for block in range(_BLOCKS):
        row[_PART + block] = 0.0
        end = min(n + width - 1, last)
        if n > last:
            continue
        most = _NEAR_POLE / (value_at(x, upper, end) - q)
        lam = min(starts[_TILT + block], most)
        best = math.inf
        for _ in range(_STEPS):
            total, log_first, slope, curvature = block_terms(x, upper, odds, n, end, q, lam)
            part = math.exp(log_p + log_first) * total
            if part < best:
                best = part
                row[_TILT + block], row[_PART + block], row[_TOTAL + block] = lam, part, total
            step = -slope / curvature if curvature > 0.0 else 0.0
            if not abs(step * slope) > 2.0 * _GAIN or (lam == most and step > 0.0) or (lam == 0.0 and step < 0.0):
                break
            lam = min(max(lam + step, 0.2 * lam), most)
        row[CEILING] += row[_PART + block]
        for k in range(n, end + 1):
            log_p += math.log((x.size - k) * odds / (k + 1.0)) if k < last else 0.0
        n = end + 1


@shared
def set_tilts(
    policy: BCVTSParams, state: History, samples: Samples, tilts: Tilts, arm: int, thresholds: Floats
) -> None:
    """A ceiling for each of the thresholds, in descending order; below the last of them there is one more cell."""
    catch_up(policy, state, samples, arm)
    x, numbers, rows = rewards(state, arm), tilts.numbers[arm], tilts.rows[arm]
    part_binomial(policy, samples, arm, x.size, numbers)
    in_order(policy, state, samples, arm, int(numbers[_LAST]) + 1)
    for cell in range(thresholds.size):
        set_ceiling(policy, x, numbers, rows[cell], thresholds[cell], rows[max(cell - 1, 0)])
        rows[cell, CEILING] = min(rows[cell, CEILING], 1.0)  # 1: plain draws
    rows[thresholds.size, CEILING] = 1.0


@jit
def tilted_number(
    policy: BCVTSParams, x: Floats, numbers: Floats, row: Floats, q: float, u: float
) -> tuple[int, float]:
    """n by the terms of the ceiling, of which u is a share of all; and lam."""
    first, last, below, above = int(numbers[_FIRST]), int(numbers[_LAST]), numbers[_BELOW], numbers[_ABOVE]
    size, odds = x.size, policy.level / (1.0 - policy.level)
    u *= row[CEILING]
    if u < below:
        p, n = math.exp(numbers[_LOG]), first
        while n > 0:
            p *= n / ((size - n + 1.0) * odds)
            n -= 1
            u -= p
            if u < 0.0:
                break
        return n, 0.0
    u -= below
    if u < above:
        p, n = math.exp(numbers[_LOG]), first
        while n < size:
            p *= (size - n) * odds / (n + 1.0)
            n += 1
            if n > last:
                u -= p
                if u < 0.0:
                    break
        return n, 0.0
    u -= above
    block = 0
    while block < _BLOCKS - 1 and u >= row[_PART + block] and row[_PART + block + 1] > 0.0:
        u -= row[_PART + block]
        block += 1
    lam, width = row[_TILT + block], int(row[_WIDTH])
    n = int(row[_START]) + block * width
    end = min(n + width - 1, last)
    u *= row[_TOTAL + block] / row[_PART + block]
    term = 1.0
    while n < end:
        u -= term
        if u < 0.0:
            break
        n += 1
        term *= (size - n + 1.0) * odds / (n * (1.0 - lam * (value_at(x, policy.upper, n) - q)))
    return n, lam


@shared
def index_above(
    policy: BCVTSParams,
    state: History,
    samples: Samples,
    tilts: Tilts,
    arm: int,
    cell: int,
    q: float,
    rng: np.random.Generator,
) -> float:
    """One draw for the ceiling of this cell: the arm's index if it is kept, else NaN."""
    row = tilts.rows[arm, cell]
    if row[CEILING] == 1.0:
        v = draw_index(policy, state, samples, arm, rng)
        return v if v >= q else math.nan
    x, least = rewards(state, arm), state.lows[arm]
    n, lam = tilted_number(policy, x, tilts.numbers[arm], row, q, rng.random())
    in_order(policy, state, samples, arm, n + 1)
    weights = excess = 0.0
    for i in range(n + 1):
        value = value_at(x, policy.upper, i)
        weight = rng.standard_exponential() / (1.0 - lam * (value - q))
        weights += weight
        excess += weight * (value - least)
    v = least + excess / weights
    return v if v >= q and rng.random() < math.exp(-lam * weights * (v - q)) else math.nan
