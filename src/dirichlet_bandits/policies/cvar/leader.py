"""How probably a leader's index falls below some thresholds at most, reward by reward, and draws of it there.

The CVaR of a law is the largest, over b, of the expectation of y = b - (b - x)^+ / level. So for any fixed b the
index is at least the reweighted mean of the y_i, and with Dirichlet weights as exponentials E_i over their sum, mu >=
0,

    P(index < q) <= P(sum_i E_i (q - y_i) > 0) <= prod_i 1/(1 - mu (q - y_i)) =: G        (Chernoff),

the y of the bound, which is b, among them. A new reward is one factor more. With b near the quantile the mean of the
y_i is about the CVaR, with the same spread, and little is lost. A draw of all E_i at rates 1 - mu (q - y_i), kept
with probability exp(-mu S), S = sum_i E_i (q - y_i), if its CVaR v is below q, has the law of the index given that,
and is kept with probability P(index < q)/G.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum, shared
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.policies.cvar.ordering import LOW, Samples, catch_up, in_order
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.types import Floats

THRESHOLDS = (2.2, 3.6, 5.6)  # below the mean of the y_i, in standard deviations of the index
N_CELLS = len(THRESHOLDS) + 1  # above the first threshold, between two of them, below the last
_ROOM = 0.1  # by how many deviations the mean may fall before ceilings are raised,
_WASTE = 0.25  # and rise before they are lowered
_MOVED = 0.8  # by how many it may move, and
_MORE = 1.3  # how many times the rewards there may be before new thresholds are taken

# Rows of the cells, a column a threshold: where it is, mu, G now, what G may be at most and at least, what it was at
# first, and the factor of a reward of at least b.
AT, MU, _NOW, MOST, _LEAST, _ONCE, _CALM = range(7)


class Leader(NamedTuple):
    """b, the number of rewards up to which the thresholds serve, and the thresholds."""

    b: float
    most: int
    cells: Floats


@jit
def factors(
    policy: BCVTSParams, x: Floats, above: int, b: float, cells: Floats, row: Floats, slopes: Floats, curves: Floats
) -> None:
    """log G for each threshold to ``row``; its slope and curvature in mu. ``above`` values are not in x: at least b."""
    product = np.empty(len(THRESHOLDS))
    for j in range(len(THRESHOLDS)):
        product[j], row[j], slopes[j], curves[j] = 1.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        y = b - (b - x[i]) / policy.level
        for j in range(len(THRESHOLDS)):
            left = 1.0 - cells[MU, j] * (cells[AT, j] - y)
            share = (cells[AT, j] - y) / left
            product[j] *= left
            slopes[j] += share
            curves[j] += share * share
            if not 1e-100 < product[j] < 1e100:
                row[j] -= math.log(product[j])
                product[j] = 1.0
    for j in range(len(THRESHOLDS)):
        left = 1.0 - cells[MU, j] * (cells[AT, j] - b)
        share = (cells[AT, j] - b) / left
        row[j] -= math.log(product[j]) + above * math.log(left)
        slopes[j] += above * share
        curves[j] += above * share * share
        cells[_CALM, j] = 1.0 / left


@jit_sum
def distances(x: Floats, b: float) -> tuple[float, float]:
    """Sum of the distances from b, and of their squares."""
    total = squares = 0.0
    for i in range(x.size):
        total += b - x[i]
        squares += (b - x[i]) * (b - x[i])
    return total, squares


@jit
def rank_of_quantile(policy: BCVTSParams, n: int) -> int:
    """How many of n rewards lie before b."""
    return min(int(policy.level * n), n - 1)


@shared
def shortfalls(policy: BCVTSParams, state: History, samples: Samples, arm: int) -> tuple[float, float, float, float]:
    """b, a quantile of the rewards; mean, variance and maximum of the b - y_i. b less the mean is the CVaR."""
    catch_up(policy, state, samples, arm)
    x = rewards(state, arm)
    n = x.size
    rank = rank_of_quantile(policy, n)
    in_order(policy, state, samples, arm, rank + 1)
    b = x[rank]
    total, squares = distances(x[:rank], b)
    total, squares, lowest = (
        total / policy.level,
        squares / policy.level**2,
        (b - state.lows[arm]) / policy.level,
    )
    # The index of equal rewards moves too, by the bound's share.
    spread = max(squares / n - (total / n) ** 2, ((policy.upper - state.lows[arm]) / n) ** 2)
    return b, total / n, spread, lowest


@jit
def lead(policy: BCVTSParams, state: History, samples: Samples, arm: int) -> Leader:
    """Thresholds for an arm as it is now, and guessed ceilings: :func:`set_bounds` finds those that hold."""
    b, mean, spread, lowest = shortfalls(policy, state, samples, arm)
    n = state.pulls[arm]
    deviation = math.sqrt(spread / n)
    cells = np.zeros((7, len(THRESHOLDS)))
    for j in range(len(THRESHOLDS)):
        z = THRESHOLDS[j] * deviation
        cells[AT, j] = b - mean - z
        cells[MU, j] = z / (spread + max(lowest - mean, 0.0) * z)  # Bernstein's
        cells[MOST, j] = math.exp(-0.5 * THRESHOLDS[j] ** 2)  # a guess
    return Leader(b, int(_MORE * n) + 8, cells)


@jit
def set_bounds(policy: BCVTSParams, state: History, leader: Leader, arm: int) -> None:
    """A better mu for each threshold, G, and the ceilings."""
    b, cells, n = leader.b, leader.cells, state.pulls[arm]
    rank = rank_of_quantile(policy, n)
    x = rewards(state, arm)[:rank]  # all others are at least b
    lowest = (b - state.lows[arm]) / policy.level
    slopes, curves = np.empty(len(THRESHOLDS)), np.empty(len(THRESHOLDS))
    factors(policy, x, n + 1 - rank, b, cells, cells[_NOW], slopes, curves)
    for j in range(len(THRESHOLDS)):
        most = 0.95 / (cells[AT, j] - b + max(lowest, 1e-300)) if cells[AT, j] - b + lowest > 0.0 else math.inf
        cells[MU, j] = min(max(cells[MU, j] - slopes[j] / curves[j], 0.3 * cells[MU, j]), 3.0 * cells[MU, j], most)
    factors(policy, x, n + 1 - rank, b, cells, cells[_NOW], slopes, curves)
    for j in range(len(THRESHOLDS)):
        cells[_NOW, j] = math.exp(cells[_NOW, j])
        cells[_ONCE, j] = cells[_NOW, j]
    set_ceilings(cells)


@jit
def set_ceilings(cells: Floats) -> None:
    """What the G may be from now on: a mean that moves by z deviations moves log G by about the threshold times z."""
    for j in range(len(THRESHOLDS)):
        cells[MOST, j] = cells[_NOW, j] * math.exp(_ROOM * THRESHOLDS[j])
        cells[_LEAST, j] = cells[_NOW, j] * math.exp(-_WASTE * THRESHOLDS[j])


@jit
def holds(cells: Floats) -> bool:
    """Whether the ceilings are good for the leader as it is now."""
    good = True
    for j in range(len(THRESHOLDS)):
        good &= cells[_LEAST, j] <= cells[_NOW, j] <= cells[MOST, j]
    return good


@jit
def outgrown(leader: Leader, n: int) -> bool:
    """Whether it is time for new thresholds."""
    cells = leader.cells
    drift = abs(math.log(cells[_NOW, 0] / cells[_ONCE, 0])) if 0.0 < cells[_NOW, 0] < math.inf else math.inf
    return n > leader.most or not drift < _MOVED * THRESHOLDS[0]


@jit
def pulls_below(policy: BCVTSParams, leader: Leader, block: Floats) -> int:
    """How many of the next rewards the leader may earn before its ceilings no longer hold; G follows them."""
    cells, b, level = leader.cells, leader.b, policy.level
    for i in range(block.size):
        if block[i] >= b:
            for j in range(len(THRESHOLDS)):
                cells[_NOW, j] *= cells[_CALM, j]
        else:
            y = b - (b - block[i]) / level
            for j in range(len(THRESHOLDS)):
                left = 1.0 - cells[MU, j] * (cells[AT, j] - y)
                cells[_NOW, j] = cells[_NOW, j] / left if left > 0.0 else math.inf
        if not holds(cells):
            return i + 1
    return block.size


@shared
def index_below(
    policy: BCVTSParams, state: History, samples: Samples, leader: Leader, arm: int, cell: int, rng: np.random.Generator
) -> float:
    """One draw for the ceiling of the threshold above this cell: the leader's index if it is kept, else NaN."""
    catch_up(policy, state, samples, arm)
    x, b, level, cells, threshold = rewards(state, arm), leader.b, policy.level, leader.cells, cell - 1
    q, mu, least = cells[AT, threshold], cells[MU, threshold], state.lows[arm]
    count = 0
    while count < samples.marks[LOW, arm] or (count < x.size and x[count] < b):
        count += 1
    low = np.empty(count)  # the weights of the rewards below b
    weights = excess = score = 0.0
    for i in range(count):
        y = b - (b - x[i]) / level if x[i] < b else b
        low[i] = rng.standard_exponential() / (1.0 - mu * (q - y))
        weights += low[i]
        excess += low[i] * (x[i] - least)
        score += low[i] * (q - y)
    others = x.size + 1 - count
    left = rng.standard_gamma(float(others)) / (1.0 - mu * (q - b))
    score += left * (q - b)
    if rng.random() * cells[MOST, threshold] >= cells[_NOW, threshold] * math.exp(-mu * score):
        return math.nan
    share = level * (weights + left)
    last = count
    while weights > share:  # all that is beyond the level does not count: the largest go first
        last, top = last - 1, 0
        if last >= samples.marks[LOW, arm]:
            top = last
        else:  # these are not in order
            for i in range(count):
                if low[i] > 0.0 and (low[top] == 0.0 or x[i] > x[top]):
                    top = i
        taken = min(low[top], weights - share)
        weights -= taken
        excess -= taken * (x[top] - least)
        low[top] -= taken
        if taken <= 0.0 or weights - share <= 1e-15 * share:
            break
    i = count
    while weights < share and others > 0:  # the next largest values, by their shares of what is left
        in_order(policy, state, samples, arm, i + 1)
        value = x[i] if i < x.size else policy.upper
        weight = left if others == 1 else -left * math.expm1(math.log(1.0 - rng.random()) / (others - 1.0))
        taken = min(weight, share - weights)
        weights += taken
        excess += taken * (value - least)
        left -= weight
        others -= 1
        i += 1
    return least + max(excess, 0.0) / share
