"""A queue: whose number is the smallest, at a cost that hardly grows with how many there are.

A tournament in one flat array: the numbers are its last half, and every other entry is the smaller of its two
children, the smallest of all in place 1. One number changes, log2(K) matches are played again. The numbers are ring
times of clocks, or bounds.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.types import Floats, Ints

NEVER = 2**62  # a time that no run reaches


@jit
def new_queue(n_clocks: int) -> Ints:
    """Clocks that never ring.

    >>> queue = new_queue(3)
    >>> change(queue, 0, 50), change(queue, 2, 20), change(queue, 1, 30)
    (None, None, None)
    >>> first(queue), value_of(queue, first(queue))
    (2, 20)
    >>> which = np.empty(3, np.int64)
    >>> which[: up_to(queue, 30, which)]
    array([1, 2])
    """
    return np.full(2 * _power_of_two(n_clocks), NEVER)


@jit
def new_bounds(n_bounds: int) -> Floats:
    """Bounds that nothing breaks."""
    return np.full(2 * _power_of_two(n_bounds), np.inf)


@jit
def _power_of_two(n: int) -> int:
    """The first that is not smaller."""
    size = 1
    while size < n:
        size *= 2
    return size


@jit
def value_of(queue: Ints | Floats, member: int) -> Any:
    """The number of a member."""
    return queue[queue.size // 2 + member]


@jit
def smallest(queue: Ints | Floats) -> Any:
    """The smallest number."""
    return queue[1]


@jit
def first(queue: Ints | Floats) -> int:
    """Whose number is the smallest; of several members the first."""
    place, half = 1, queue.size // 2
    while place < half:
        place = 2 * place if queue[2 * place] == queue[1] else 2 * place + 1
    return place - half


@jit
def up_to(queue: Ints | Floats, limit: float, members: Ints) -> int:
    """Write down all members whose numbers do not exceed the limit, in order; how many."""
    half, place, n = queue.size // 2, 1, 0
    while place > 0:
        if queue[place] <= limit:
            if place < half:
                place *= 2
                continue
            members[n] = place - half
            n += 1
        while place % 2 == 1:  # up from right children and the root
            place //= 2
        if place > 0:
            place += 1
    return n


@jit
def change(queue: Ints | Floats, member: int, value: float) -> None:
    """Give a member another number."""
    place = queue.size // 2 + member
    queue[place] = value
    while place > 1:
        place //= 2
        queue[place] = min(queue[2 * place], queue[2 * place + 1])
