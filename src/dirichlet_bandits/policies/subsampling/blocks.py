"""Blocks of consecutive rewards: their means from running sums, and which block a challenger meets."""

import math
from enum import IntEnum
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, append
from dirichlet_bandits.types import Floats


class Block(IntEnum):
    """Which of the leader's blocks the challenger meets: a random one, the last, one from a sequence, or all."""

    RANDOM = 0
    LAST = 1
    SEQUENCE = 2
    ANY = 3


@jit
def block_start(block: int, u: float, n_leader: int, n: int) -> int:
    """Return the start of the block of n rewards; u in [0, 1) is uniform or from the sequence.

    >>> block_start(Block.SEQUENCE, 0.5, 8, 3)
    3
    """
    if block == Block.LAST:
        return n_leader - n
    return math.ceil(u * (n_leader - n)) if block == Block.SEQUENCE else int(u * (n_leader - n + 1))


@jit
def mean_from(origin: float, distance: float, n: int) -> float:
    """Return the mean of n rewards from the sum of their distances from one of them."""
    # So written whole numbers and their halves give the mean that adding them up would give: ties stay ties.
    return (n * origin + distance) / n if distance != 0.0 else origin


@jit
def running_sum(pool: Floats, first: int, n: int, reward: float) -> float:
    """Return what is stored after the n-th reward: the first reward itself, then sums of distances from it.

    Plain sums would lose the digits of rewards that are far from 0 and close to each other.
    """
    if n < 2:
        return reward if n == 0 else reward - pool[first]
    return pool[first + n - 1] + (reward - pool[first])


@jit
def block_mean(running: Floats, start: int, n: int) -> float:
    """Return the mean of n rewards from the start-th on, from the running sums of all rewards."""
    end = start + n - 1
    distance = (running[end] if end > 0 else 0.0) - (running[start - 1] if start > 1 else 0.0)
    return mean_from(running[0], distance, n)


@jit
def blocks_reached(running: Floats, mean: float, n: int, seen: int) -> int:
    """Return how many blocks of n rewards that end after the first ``seen`` rewards have at most this mean."""
    reached = 0
    for end in range(max(seen, n - 1), running.size):
        reached += mean >= block_mean(running, end - n + 1, n)
    return reached


@jit
def remember_running_sum(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    """Store the running sum that ends with this reward. This is ``update`` of these policies."""
    return append(state, arm, reward, running_sum(state.pool, state.start[arm], state.pulls[arm], reward))
