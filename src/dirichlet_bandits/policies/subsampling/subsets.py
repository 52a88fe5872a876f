"""Means of rewards drawn without replacement: WR-SDA and BESA."""

import numpy as np

from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.types import Floats, Ints


@jit
def draw_to_front(pool: Floats, first: int, size: int, n: int, moves: Ints, rng: np.random.Generator) -> float:
    """Bring n of an arm's rewards, drawn without replacement, to the front; the sum of distances from the old first.

    Fisher and Yates' shuffle, stopped after n steps. ``moves`` takes note of them unless it is empty.
    """
    origin, distance = pool[first], 0.0
    for i in range(n):
        j = i + int(rng.random() * (size - i))
        value = pool[first + j]
        pool[first + j] = pool[first + i]
        pool[first + i] = value
        distance += value - origin
        if moves.size > 0:
            moves[i] = j
    return distance


@jit
def put_back(pool: Floats, first: int, n: int, moves: Ints) -> None:
    """Undo the moves."""
    for i in range(n - 1, -1, -1):
        j = first + moves[i]
        value = pool[j]
        pool[j] = pool[first + i]
        pool[first + i] = value


@jit
def subset_mean(state: History, arm: int, n: int, moves: Ints, rng: np.random.Generator) -> float:
    """Mean of n of an arm's rewards drawn without replacement; with room in ``moves`` the rewards stay in their order.

    More than half of them are drawn by drawing those that are left out.
    """
    pool, first, size = state.pool, state.start[arm], state.pulls[arm]
    if state.lows[arm] == state.highs[arm]:
        return state.lows[arm]
    origin, drawn = pool[first], min(n, size - n)
    distance = draw_to_front(pool, first, size, drawn, moves, rng)
    if moves.size > 0:
        put_back(pool, first, drawn, moves)
    if drawn < n:
        distance = (state.sums[arm] + state.carry[arm]) - size * origin - distance
    return mean_from(origin, distance, n)
