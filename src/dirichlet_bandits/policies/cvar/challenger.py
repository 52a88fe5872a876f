"""How probably a challenger's index reaches a threshold at most, and draws of the index given that it does.

With m rewards, a_i = x_i - q, n ~ Binomial(m, level) and exponential E_i, the index reaches q if
S = E_1 a_1 + ... + E_{n+1} a_{n+1} >= 0, the values in ascending order and the bound after them. For every lam >= 0

    P(S >= 0) <= E exp(lam S) = sum over n of P(n) prod_{i <= n+1} 1/(1 - lam a_i)        (Chernoff),

if lam is below 1/a_i for all i that take part. To keep the largest values from saying how large it may be, n that are
hardly ever so large take part with a factor of 1 each, and so do n that are hardly ever so small: their values need
not be in order. A draw under the tilted law, n by its terms and E_i at rates 1 - lam a_i, that is kept with probability
exp(-lam S) if S >= 0, has the law of the index given that it reaches q, and is kept with probability P(S >= 0)/ceiling.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.policies.cvar.ordering import END, LOW, Samples, catch_up, draw_index, in_order
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.numerics.tolerances import MIXTURE_NEGLIGIBLE
from dirichlet_bandits.types import Floats

_BEYOND = 3.7  # n is tilted up to so many standard deviations above its mean
_NEGLIGIBLE = 9.0  # n so many deviations below it do not count: exp(-40) of all
_STEPS = 4  # of Newton's method at most: every lam gives a ceiling
_NEAR_POLE = 0.95  # the largest lam, in units of 1/max a_i

_FIRST, _LAST, _BELOW, _ABOVE, _LOG = range(5)  # the n that are tilted, P(n < first), P(n > last), log P(first)
_TILT, _CEILING, _TOTAL = range(3)  # lam (0: plain draws), the ceiling, the sum of terms in units of the first


class Tilts(NamedTuple):
    """For each arm, what is known of its n; and a tilt for each threshold."""

    numbers: Floats
    rows: Floats


@shared
def new_tilts(n_arms: int, n_thresholds: int) -> Tilts:
    """No tilts yet."""
    return Tilts(np.zeros((n_arms, 5)), np.zeros((n_arms, 3, n_thresholds)))


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
    last = max(min(int(centre + _BEYOND * deviation + 1.5), size if end == size else end - 1), first)
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
def mixture(
    policy: BCVTSParams, x: Floats, numbers: Floats, q: float, lam: float
) -> tuple[float, float, float, float]:
    """Sum of the tilted terms, in units of the first; the first one's logarithm; slope and curvature of log sum."""
    first, last = int(numbers[_FIRST]), int(numbers[_LAST])
    odds = policy.level / (1.0 - policy.level)
    product, height, slope, squares = 1.0, 0.0, 0.0, 0.0
    for i in range(first + 1):
        a = value_at(x, policy.upper, i) - q
        left = 1.0 - lam * a
        product *= left
        if not 1e-100 < product < 1e100:
            height += math.log(product)
            product = 1.0
        slope += a / left
        squares += (a / left) * (a / left)
    term = total = 1.0
    mean, spread = slope, squares + slope * slope
    for n in range(first + 1, last + 1):
        a = value_at(x, policy.upper, n) - q
        left = 1.0 - lam * a
        term *= (x.size - n + 1.0) * odds / (n * left)
        slope += a / left
        squares += (a / left) * (a / left)
        total += term
        mean += term * slope
        spread += term * (squares + slope * slope)
    mean /= total
    return total, numbers[_LOG] - height - math.log(product), mean, spread / total - mean * mean


@jit
def find_tilt(policy: BCVTSParams, x: Floats, numbers: Floats, row: Floats, cell: int, q: float, start: float) -> None:
    """The ceiling for one threshold: a few steps towards the best lam, from one that served before."""
    row[_TILT, cell], row[_CEILING, cell], row[_TOTAL, cell] = 0.0, 1.0, 1.0
    top = value_at(x, policy.upper, int(numbers[_LAST])) - q
    rest = numbers[_BELOW] + numbers[_ABOVE]
    if top < 0.0:  # the n that are tilted do not come so high
        row[_TILT, cell], row[_CEILING, cell], row[_TOTAL, cell] = 1.0, rest, 0.0
        return
    if top == 0.0:
        return
    most = _NEAR_POLE / top
    lam = min(start, most)
    for _ in range(_STEPS):
        total, log_first, slope, curvature = mixture(policy, x, numbers, q, lam)
        ceiling = math.exp(log_first) * total + rest
        if lam > 0.0 and ceiling < row[_CEILING, cell]:
            row[_TILT, cell], row[_CEILING, cell], row[_TOTAL, cell] = lam, ceiling, total
        if not curvature > 0.0 or (lam == 0.0 and slope >= 0.0):
            break
        step = slope / curvature
        if abs(step * slope) < 0.1 or (lam == most and slope < 0.0):  # about twice what the next step would gain
            break
        lam = min(max(lam - step, 0.0 if lam == 0.0 else 0.2 * lam), most)


@shared
def set_tilts(
    policy: BCVTSParams, state: History, samples: Samples, tilts: Tilts, arm: int, thresholds: Floats
) -> None:
    """A ceiling for each of the thresholds, in descending order; beyond the last of them there is one more, of 1."""
    catch_up(policy, state, samples, arm)
    x, numbers, row = rewards(state, arm), tilts.numbers[arm], tilts.rows[arm]
    part_binomial(policy, samples, arm, x.size, numbers)
    in_order(policy, state, samples, arm, int(numbers[_LAST]) + 1)
    start = row[_TILT, 0]
    for cell in range(thresholds.size):
        find_tilt(policy, x, numbers, row, cell, thresholds[cell], start)
        start = row[_TILT, cell]
    row[_TILT, thresholds.size], row[_CEILING, thresholds.size] = 0.0, 1.0


@jit
def tilted_number(policy: BCVTSParams, size: int, x: Floats, numbers: Floats, row: Floats, cell: int, q: float, u: float) -> int:
    """n by the terms of the ceiling, of which u is a share of all."""
    first, last, below, above = int(numbers[_FIRST]), int(numbers[_LAST]), numbers[_BELOW], numbers[_ABOVE]
    odds = policy.level / (1.0 - policy.level)
    u *= row[_CEILING, cell]
    p = math.exp(numbers[_LOG])
    if u < below:
        n = first
        while n > 0:
            p *= n / ((size - n + 1.0) * odds)
            n -= 1
            u -= p
            if u < 0.0:
                break
        return n
    u -= below
    if u < above:
        n = first
        while n < size:
            p *= (size - n) * odds / (n + 1.0)
            n += 1
            if n > last:
                u -= p
                if u < 0.0:
                    break
        return n
    u = (u - above) / (row[_CEILING, cell] - below - above) * row[_TOTAL, cell]
    term, n = 1.0, first
    while n < last:
        u -= term
        if u < 0.0:
            break
        n += 1
        term *= (size - n + 1.0) * odds / (n * (1.0 - row[_TILT, cell] * (value_at(x, policy.upper, n) - q)))
    return n


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
    numbers, row = tilts.numbers[arm], tilts.rows[arm]
    lam = row[_TILT, cell]
    if lam == 0.0:
        v = draw_index(policy, state, samples, arm, rng)
        return v if v >= q else math.nan
    x, least = rewards(state, arm), state.lows[arm]
    n = tilted_number(policy, x.size, x, numbers, row, cell, q, rng.random())
    if not numbers[_FIRST] <= n <= numbers[_LAST]:
        lam = 0.0
    in_order(policy, state, samples, arm, n + 1)
    weights = excess = 0.0
    for i in range(n + 1):
        value = value_at(x, policy.upper, i)
        weight = rng.standard_exponential() / (1.0 - lam * (value - q))
        weights += weight
        excess += weight * (value - least)
    v = least + excess / weights
    return v if v >= q and rng.random() < math.exp(-lam * weights * (v - q)) else math.nan
