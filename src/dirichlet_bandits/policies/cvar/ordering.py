"""The rewards of an arm as far in order as draws of its reweighted CVaR need them.

A draw wants the n + 1 smallest values, n binomial. So the rewards of an arm are kept in three parts: ``low`` ones that
nearly always take part, in any order; those among which the n + 1 smallest nearly always end, in ascending order; and
the rest. A new reward costs a few moves instead of a place among all. The low ones enter a draw together, by the law
of their reweighted mean (``numerics/resampling.py``). Where a draw wants more than is known, all are sorted.

Of the others, which lie close to each other, one draws first what they weigh in all. Then the index lies between the
two numbers that it would be if all of them were as small as the smallest, or as large as the largest. Only where that
leaves open what one wants to know, each of them gets its own weight: given their sum, the shares are as always.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.arrays import partition
from dirichlet_bandits.numerics.costs import LAW_COST, LAW_LEAST
from dirichlet_bandits.numerics.resampling import Groups, make_groups, weighted_sum
from dirichlet_bandits.policies.cvar.rule import BCVTSParams, mean_excess
from dirichlet_bandits.types import Floats, Ints

_BEFORE, _BEYOND = 3.5, 5.0  # standard deviations of n around its mean that are kept in order
_SUCCESSES = 10.0  # expected ones of a binomial number up to which it is drawn by inversion
_FEW = 12  # values that are drawn one by one without asking whether they can matter
_MORE = 1.3  # as many times the rewards are parted anew

# Rows of the marks, a column an arm: how many are low, where the ordered ones end, how many rewards have their place,
# and from how many on all are sorted again.
LOW, END, _KNOWN, _NEXT = range(4)
# Rows of the limits: of the ordered part, and the probability of no success in a binomial number.
_LEAST, _MOST, _NONE = range(3)


class Samples(NamedTuple):
    """The parts of each arm's rewards, and the laws of the low ones."""

    groups: Groups
    marks: Ints
    limits: Floats


@jit
def new_samples(n_arms: int) -> Samples:
    """Nothing is in order."""
    return Samples(make_groups(n_arms, np.empty(0)), np.zeros((4, n_arms), np.int64), np.zeros((3, n_arms)))


@jit
def parts(level: float, n: int) -> tuple[int, int]:
    """How many of n rewards are low, and where the ordered ones end."""
    centre, deviation = level * n, math.sqrt(level * (1.0 - level) * n)
    low, end = min(int(centre - _BEFORE * deviation), n - 1), min(int(centre + _BEYOND * deviation) + 8, n)
    return 0 if low < LAW_LEAST else low, end


@jit
def mark(policy: BCVTSParams, state: History, samples: Samples, arm: int) -> None:
    """Note where the parts lie among rewards that are as far in order as they have to be."""
    x, marks, limits = rewards(state, arm), samples.marks, samples.limits
    n = x.size
    low, end = parts(policy.level, n)
    marks[LOW, arm], marks[END, arm], marks[_KNOWN, arm], marks[_NEXT, arm] = low, end, n, int(_MORE * n) + 8
    limits[_LEAST, arm] = -math.inf if low == 0 else x[low]
    limits[_MOST, arm] = math.inf if end == n else x[end - 1]


@shared
def arrange(policy: BCVTSParams, state: History, samples: Samples, arm: int, whole: bool) -> None:
    """Part all rewards of the arm anew; if ``whole``, sort them all."""
    x, groups = rewards(state, arm), samples.groups
    low, end = parts(policy.level, x.size)
    if whole:
        sort(x)
    else:
        partition(x, end)
        partition(x[:end], low)
        sort(x[low:end])
    mark(policy, state, samples, arm)
    groups.old[arm], groups.paid[arm] = 0, 0
    for row in range(groups.laws.shape[1]):
        for j in range(groups.laws.shape[2]):
            groups.laws[arm, row, j] = 0.0


@jit
def sort(x: Floats) -> None:
    """In place, in ascending order, by Shell's method: NumPy's sort takes long to compile.

    >>> x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    >>> sort(x)
    >>> x
    array([1., 2., 3., 4., 5.])
    """
    gap = 1
    while 3 * gap < x.size:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, x.size):
            value, place = x[i], i
            while place >= gap and x[place - gap] > value:
                x[place] = x[place - gap]
                place -= gap
            x[place] = value
        gap //= 3


@jit
def catch_up(policy: BCVTSParams, state: History, samples: Samples, arm: int) -> None:
    """Put new rewards in their part."""
    x, marks = rewards(state, arm), samples.marks
    least, most = samples.limits[_LEAST, arm], samples.limits[_MOST, arm]
    low, end = marks[LOW, arm], marks[END, arm]
    samples.limits[_NONE, arm] = no_success(x.size, policy.level)
    if marks[_NEXT, arm] == 0:
        arrange(policy, state, samples, arm, False)
        return
    for i in range(marks[_KNOWN, arm], x.size):
        value = x[i]
        if value <= most:
            x[i] = x[end]  # the first of the rest makes room
            place = end
            if value < least:
                while place > low:
                    x[place] = x[place - 1]
                    place -= 1
                low += 1
            else:
                while place > low and x[place - 1] > value:
                    x[place] = x[place - 1]
                    place -= 1
            x[place] = value
            end += 1
    marks[LOW, arm], marks[END, arm], marks[_KNOWN, arm] = low, end, x.size
    if x.size >= marks[_NEXT, arm]:
        wanted_low, wanted_end = parts(policy.level, x.size)
        if low <= wanted_low and wanted_end <= end:  # both parts have grown in proportion, usually far enough
            mark(policy, state, samples, arm)
        else:
            arrange(policy, state, samples, arm, False)


@jit
def in_order(policy: BCVTSParams, state: History, samples: Samples, arm: int, n: int) -> None:
    """Make sure that the n smallest rewards are the first n, at most all of them."""
    if not samples.marks[LOW, arm] <= n or not min(n, state.pulls[arm]) <= samples.marks[END, arm]:
        arrange(policy, state, samples, arm, True)


@shared
def draw_index(
    policy: BCVTSParams, state: History, samples: Samples, arm: int, low: float, high: float, rng: np.random.Generator
) -> float:
    """The index of an arm, with the law that ``rule.py`` gives it; or a number on the same side of low and of high,
    where these are not NaN."""
    n, together, weights, excess = begin_index(policy, state, samples, arm, rng)
    x, least = rewards(state, arm), state.lows[arm]
    others, lower, upper = index_bounds(x, least, policy.upper, n, together, weights, excess, -math.inf, rng)
    if not (lower == upper or lower > high or upper < low or low < lower <= upper < high):
        lower = finish_index(x, least, policy.upper, n, together, weights, excess, others, rng)
    return lower


@shared
def begin_index(
    policy: BCVTSParams, state: History, samples: Samples, arm: int, rng: np.random.Generator
) -> tuple[int, int, float, float]:
    """n; how many low rewards were drawn together; their weights and weighted excesses over the least reward."""
    if samples.marks[_KNOWN, arm] != state.pulls[arm]:
        catch_up(policy, state, samples, arm)
    x, groups = rewards(state, arm), samples.groups
    n, weights, excess = binomial(x.size, policy.level, samples.limits[_NONE, arm], rng), 0.0, 0.0
    in_order(policy, state, samples, arm, n + 1)
    low = samples.marks[LOW, arm]
    if 0 < low <= n + 1:
        mean = mean_of(x[:low]) if groups.paid[arm] >= LAW_COST else 0.0
        excess, weights = weighted_sum(groups, arm, x[:low], mean, state.lows[arm], rng)
    else:
        low = 0
    return n, low, weights, excess


@jit
def binomial(m: int, level: float, none: float, rng: np.random.Generator) -> int:
    """By inversion if ``none``, the probability of no success of the rarer kind, is positive; else by rejection."""
    rare = min(level, 1.0 - level)
    if none > 0.0:
        u, p, n, odds = rng.random(), none, 0, rare / (1.0 - rare)
        while u >= p and n < m:
            u -= p
            p *= (m - n) * odds / (n + 1.0)
            n += 1
    else:
        n = many_successes(m, rare, rng)
    return n if level <= 0.5 else m - n


@jit
def no_success(m: int, level: float) -> float:
    """What :func:`binomial` wants to know; 0 where many successes are expected."""
    rare = min(level, 1.0 - level)
    return math.exp(m * math.log1p(-rare)) if rare * m < _SUCCESSES else 0.0


@jit
def many_successes(m: int, p: float, rng: np.random.Generator) -> int:
    """A binomial number, of mean 10 or more and p at most 1/2, by transformed rejection: Numba's takes long to compile.

    Reference: Hoermann, The generation of binomial random variates, Journal of Statistical Computation and Simulation
    46, 1993, algorithm BTRS.
    """
    deviation = math.sqrt(m * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    while True:
        u, v = rng.random() - 0.5, rng.random()
        edge = 0.5 - abs(u)
        n = np.floor((2.0 * a / edge + b) * u + m * p + 0.5)
        if edge >= 0.07 and v <= 0.92 - 4.2 / b:
            return int(n)
        if 0.0 <= n <= m:
            mode = np.floor((m + 1.0) * p)
            height = math.lgamma(mode + 1.0) + math.lgamma(m - mode + 1.0) + (n - mode) * math.log(p / (1.0 - p))
            v *= (2.83 + 5.1 / b) * deviation / (a / (edge * edge) + b)
            if math.log(v) <= height - math.lgamma(n + 1.0) - math.lgamma(m - n + 1.0):
                return int(n)


@jit
def index_bounds(
    x: Floats,
    least: float,
    bound: float,
    n: int,
    low: int,
    weights: float,
    excess: float,
    enough: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """After :func:`begin_index`: what the values that are not low weigh, 0 if that was not asked, and two numbers
    between which the index lies; equal ones if it is known, or known to be below ``enough``."""
    top, others = value_at(x, bound, n), 0.0
    if top < enough:
        lower = upper = top
    elif low > 0 and n - low > _FEW:
        others = rng.standard_gamma(n + 1.0 - low)
        lower = least + (excess + others * (x[low] - least)) / (weights + others)
        upper = least + (excess + others * (top - least)) / (weights + others)
    else:
        lower = upper = finish_index(x, least, bound, n, low, weights, excess, 0.0, rng)
    return others, lower, upper


@jit
def value_at(x: Floats, upper: float, i: int) -> float:
    """The i-th value: the bound comes after the rewards."""
    return x[i] if i < x.size else upper


@jit
def finish_index(
    x: Floats,
    least: float,
    bound: float,
    n: int,
    low: int,
    weights: float,
    excess: float,
    others: float,
    rng: np.random.Generator,
) -> float:
    """The index, after :func:`begin_index`; ``others`` is what the other values weigh in all, 0 if nobody has asked."""
    before, sum_before = (weights, excess) if others == 0.0 else (0.0, 0.0)
    mean = mean_excess(x, low, n, bound, least, before, sum_before, rng)
    return least + (mean if others == 0.0 else (excess + others * mean) / (weights + others))


@jit
def mean_of(x: Floats) -> float:
    """Of a few values."""
    total = 0.0
    for i in range(x.size):
        total += x[i] - x[0]
    return x[0] + total / x.size
