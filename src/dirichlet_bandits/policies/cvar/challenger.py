"""How probably a challenger's index reaches a threshold at most, and draws of the index given that it does.

With m rewards, n ~ Binomial(m, level) and the values in ascending order, the bound after them, the index is the mean
of the n + 1 smallest values with weights from Dirichlet(1, ..., 1): that of a point drawn uniformly from a simplex.

Where few values are at stake, the probability is computed. Take a simplex with a vertex x_i < q, and x_j >= q another
one. On the edge between them there is a point of value q, which cuts it in two: one part has it in place of x_i and
the share a = (x_j - q)/(x_j - x_i) of the volume, the other in place of x_j. So for the values i to j

    P(i, j) = a P(i + 1, j) + (1 - a) P(i, j - 1),

and what has no vertex below q any more surely reaches it. All terms are positive, and one table serves all n. To go
from one part to the next in proportion to these terms, and to draw uniformly from where one ends, gives the index
given that it reaches q.

Where they are many, with a_i = x_i - q and exponential E_i, S = E_1 a_1 + ... + E_{n+1} a_{n+1} >= 0 says that the
index reaches q. For every lam >= 0

    P(S >= 0 | n) <= E(exp(lam S) | n) = prod_{i <= n+1} 1/(1 - lam a_i)        (Chernoff),

if lam is below 1/a_{n+1}. The n for which a_{n+1} is positive, without it S cannot be, are cut into a few blocks,
each with a lam of its own. The sum over n of P(n) times these bounds is the ceiling. A draw in proportion to it, n by
its terms and E_i at rates 1 - lam a_i, that is kept with probability exp(-lam S) if S >= 0, has the law of the index
given that it reaches q, and is kept with probability P(S >= 0)/ceiling.

In both cases n that are hardly ever so large or so small, and whose values need not be in order, count with a bound
of 1 instead.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.policies.cvar.ordering import END, LOW, Samples, catch_up, draw_index, in_order, value_at
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.types import Floats

_TABLE, _WIDEST = (
    1024,
    48,
)  # entries of the largest table of probabilities, and of a row: more take longer than they spare
_BLOCKS, _FEW_BLOCKS = 6, 2  # of n, each with its tilt; and where a pass over the values takes long
_MANY = 128  # values
_NARROWEST = 2  # numbers in a block
_BEYOND = 4.2  # n counts with its own bound up to so many standard deviations above its mean
_NEGLIGIBLE = 9.0  # n so many deviations below it do not count: exp(-40) of all
_STEPS = 4  # of Newton's method at most: every lam gives a ceiling
_GAIN = 0.1  # in the logarithm of the ceiling: less is not worth another step
_NEAR_POLE = 0.98  # the largest lam, in units of 1/max a_i

# The n whose values are in order, P(n < first), P(n > last), log P(first); and whether all values up to the last are.
_FIRST, _LAST, _BELOW, _ABOVE, _LOG, _WHOLE = range(6)
# Of a threshold: its ceiling, the first n that can reach it, how many make a block, or minus the width of its table;
# three numbers for each block: lam, its part of the ceiling, and its terms' sum in units of the first; or the table's
# terms.
CEILING, _START, _WIDTH, _TILT, _PART, _TOTAL, _TERMS = 0, 1, 2, 3, 3 + _BLOCKS, 3 + 2 * _BLOCKS, 3 + 3 * _BLOCKS


class Tilts(NamedTuple):
    """For each arm, what is known of its n; for each arm and threshold, the ceiling and how it is made, and a table."""

    numbers: Floats
    rows: Floats
    tables: Floats


@jit
def new_tilts(n_arms: int, n_cells: int) -> Tilts:
    """No tilts yet."""
    rows = np.zeros((n_arms, n_cells, _TERMS + _WIDEST))
    return Tilts(np.zeros((n_arms, 6)), rows, np.empty((n_arms, n_cells, _TABLE)))


@jit
def part_binomial(policy: BCVTSParams, samples: Samples, arm: int, size: int, numbers: Floats) -> None:
    """Which n are tilted, and how probable the others are."""
    level, low, end = policy.level, samples.marks[LOW, arm], samples.marks[END, arm]
    if level >= 1.0:
        numbers[_FIRST], numbers[_LAST] = size, size
        numbers[_BELOW], numbers[_ABOVE], numbers[_LOG], numbers[_WHOLE] = 0.0, 0.0, 0.0, low == 0
        return
    odds = level / (1.0 - level)
    centre, deviation = level * size, math.sqrt(level * (1.0 - level) * size)
    lowest = max(int(centre - _NEGLIGIBLE * deviation), 0)
    first = max(lowest, low)
    last = max(min(int(centre + _BEYOND * deviation) + 2, size if end == size else end - 1), first)
    log_p = first * math.log(level) + (size - first) * math.log1p(-level)
    if first > 0:
        log_p += math.lgamma(size + 1.0) - math.lgamma(first + 1.0) - math.lgamma(size - first + 1.0)
    p, below = math.exp(log_p), 0.0
    for n in range(first, lowest, -1):
        p *= n / ((size - n + 1.0) * odds)
        below += p
    p, inside = math.exp(log_p), 0.0
    for n in range(first, last + 1):
        inside += p
        p *= (size - n) * odds / (n + 1.0)
    numbers[_FIRST], numbers[_LAST], numbers[_BELOW] = first, last, below
    numbers[_ABOVE] = max(1.0 - below - inside, 0.0) if last < size else 0.0
    numbers[_LOG], numbers[_WHOLE] = log_p, low == 0


@jit
def fill_table(x: Floats, upper: float, q: float, start: int, last: int, table: Floats) -> None:
    """P(i, j) for i <= start <= j <= last, row by row; the values before ``start`` are below q."""
    width = last - start + 1
    for j in range(width):
        table[start * width + j] = 1.0
    for i in range(start - 1, -1, -1):
        p = 0.0
        for j in range(width):
            value = value_at(x, upper, start + j)
            share = (value - q) / (value - x[i])
            p = share * table[(i + 1) * width + j] + (1.0 - share) * p
            table[i * width + j] = p


@jit
def index_by_table(
    policy: BCVTSParams, x: Floats, row: Floats, q: float, u: float, table: Floats, rng: np.random.Generator
) -> float:
    """The index given that it reaches q; u is a number below the sum of all terms."""
    start, width, j = int(row[_START]), int(-row[_WIDTH]), 0
    for k in range(width):
        if row[_TERMS + k] > 0.0:
            u, j = u - row[_TERMS + k], k
            if u < 0.0:
                break
    i = vertices = 0
    while i < start:
        value = value_at(x, policy.upper, start + j)
        if j == 0 or rng.random() * table[i * width + j] * (value - x[i]) < (value - q) * table[(i + 1) * width + j]:
            i += 1
        else:
            j -= 1
        vertices += 1
    weights, excess = rng.standard_gamma(float(vertices)), 0.0
    for k in range(start, start + j + 1):
        weight = rng.standard_exponential()
        weights += weight
        excess += weight * (value_at(x, policy.upper, k) - q)
    return q + excess / weights


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
def set_ceiling(policy: BCVTSParams, x: Floats, numbers: Floats, row: Floats, q: float, table: Floats) -> None:
    """The ceiling for one threshold: by a table, or with a few steps towards the best lam of each block, from those
    that the row has."""
    upper, odds = policy.upper, policy.level / (1.0 - policy.level)
    first, last = int(numbers[_FIRST]), int(numbers[_LAST])
    row[CEILING] = numbers[_BELOW] + numbers[_ABOVE]
    start = 0
    while numbers[_WHOLE] > 0.0 and start <= last and value_at(x, upper, start) < q:
        start += 1
    width = last - start + 1
    if numbers[_WHOLE] > 0.0 and width <= _WIDEST and (start + 1) * width <= table.size:
        row[_START], row[_WIDTH] = start, -width
        fill_table(x, upper, q, start, last, table)
        for j in range(width):
            row[_TERMS + j] = 0.0
        p = math.exp(numbers[_LOG])
        for n in range(first, last + 1):
            if n >= start:
                row[_TERMS + n - start] = p * table[n - start]
                row[CEILING] += row[_TERMS + n - start]
            p *= (x.size - n) * odds / (n + 1.0)
        return
    n, log_p = first, numbers[_LOG]
    p = 1.0
    while n <= last and value_at(x, upper, n) <= q:
        p *= (x.size - n) * odds / (n + 1.0)
        n += 1
        if p < 1e-100 or p > 1e100:
            log_p += math.log(p)
            p = 1.0
    log_p += math.log(p) if n <= last else 0.0
    # The bound, if it is among the values, is far from them and wants a lam of its own.
    blocks = _FEW_BLOCKS if n > _MANY and last < x.size else _BLOCKS
    width = max(-(-(last - n + 1) // blocks), _NARROWEST)
    row[_START], row[_WIDTH] = n, width
    for block in range(_BLOCKS):
        row[_PART + block] = 0.0
        end = min(n + width - 1, last)
        if n > last:
            continue
        most = _NEAR_POLE / (value_at(x, upper, end) - q)
        lam = min(row[_TILT + block], most)
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
        p = 1.0
        for k in range(n, min(end + 1, last)):
            p *= (x.size - k) * odds / (k + 1.0)
        log_p += math.log(p)
        n = end + 1


@shared
def set_tilts(
    policy: BCVTSParams, state: History, samples: Samples, tilts: Tilts, arm: int, thresholds: Floats, begin: int
) -> None:
    """A ceiling for each of the thresholds, in descending order, from the one called ``begin`` on, if the arm has not
    been pulled since those before were set; below the last of them there is one more cell."""
    x, numbers, rows = rewards(state, arm), tilts.numbers[arm], tilts.rows[arm]
    if begin == 0:
        catch_up(policy, state, samples, arm)
        part_binomial(policy, samples, arm, x.size, numbers)
        in_order(policy, state, samples, arm, int(numbers[_LAST]) + 1)
    for cell in range(begin, thresholds.size):
        rows[cell, CEILING] = 1.0  # plain draws
        if thresholds[cell] > state.lows[arm]:
            set_ceiling(policy, x, numbers, rows[cell], thresholds[cell], tilts.tables[arm, cell])
            rows[cell, CEILING] = min(rows[cell, CEILING], 1.0)
    rows[thresholds.size, CEILING] = 1.0


@jit
def rare_number(policy: BCVTSParams, x: Floats, numbers: Floats, u: float) -> int:
    """An n below the first or above the last, the one for u below the sum of their probabilities."""
    first, last, below = int(numbers[_FIRST]), int(numbers[_LAST]), numbers[_BELOW]
    size, odds = x.size, policy.level / (1.0 - policy.level)
    p, n = math.exp(numbers[_LOG]), first
    if u < below:
        while n > 0 and u >= 0.0:
            p *= n / ((size - n + 1.0) * odds)
            n -= 1
            u -= p
        return n
    u -= below
    while n < size and u >= 0.0:
        p *= (size - n) * odds / (n + 1.0)
        n += 1
        u -= p if n > last else 0.0
    return n


@jit
def tilted_number(
    policy: BCVTSParams, x: Floats, numbers: Floats, row: Floats, q: float, u: float
) -> tuple[int, float]:
    """n by the terms of the blocks, of which u is a part; and lam."""
    size, odds = x.size, policy.level / (1.0 - policy.level)
    block = 0
    while block < _BLOCKS - 1 and u >= row[_PART + block] and row[_PART + block + 1] > 0.0:
        u -= row[_PART + block]
        block += 1
    lam, width = row[_TILT + block], int(row[_WIDTH])
    n = int(row[_START]) + block * width
    end = min(n + width - 1, int(numbers[_LAST]))
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
        v = draw_index(policy, state, samples, arm, math.nan, math.nan, rng)
        return v if v >= q else math.nan
    x, least, numbers = rewards(state, arm), state.lows[arm], tilts.numbers[arm]
    rare, u, lam = numbers[_BELOW] + numbers[_ABOVE], rng.random() * row[CEILING], 0.0
    if u < rare:
        n = rare_number(policy, x, numbers, u)
        in_order(policy, state, samples, arm, n + 1)
    elif row[_WIDTH] <= 0.0:
        return index_by_table(policy, x, row, q, u - rare, tilts.tables[arm, cell], rng)
    else:
        n, lam = tilted_number(policy, x, numbers, row, q, u - rare)
    weights = excess = 0.0
    for i in range(n + 1):
        value = value_at(x, policy.upper, i)
        weight = rng.standard_exponential() / (1.0 - lam * (value - q))
        weights += weight
        excess += weight * (value - least)
    v = least + excess / weights
    return v if v >= q and rng.random() < math.exp(-lam * weights * (v - q)) else math.nan
