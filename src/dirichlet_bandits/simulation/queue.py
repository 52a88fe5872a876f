"""A queue of ring times: whose clock rings first, at a cost that hardly grows with the number of clocks.

A tournament in one flat array: the times are its last half, and every other entry is the smaller of its two
children, the first of all in place 1. One time changes, log2(K) matches are played again.
"""

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.tally import Ints
from dirichlet_bandits.simulation.clocks import NEVER


@jit
def new_queue(n_clocks: int) -> Ints:
    """Clocks that never ring.

    >>> queue = new_queue(3)
    >>> change(queue, 0, 50), change(queue, 2, 20), change(queue, 1, 30)
    (None, None, None)
    >>> first(queue), time_of(queue, first(queue))
    (2, 20)
    """
    size = 1
    while size < n_clocks:
        size *= 2
    return np.full(2 * size, NEVER)


@jit
def time_of(queue: Ints, clock: int) -> int:
    """When this clock rings."""
    return queue[queue.size // 2 + clock]


@jit
def next_time(queue: Ints) -> int:
    """When the first clock rings."""
    return queue[1]


@jit
def first(queue: Ints) -> int:
    """The clock that rings first; of several the one with the smallest number."""
    place, half = 1, queue.size // 2
    while place < half:
        place = 2 * place if queue[2 * place] == queue[1] else 2 * place + 1
    return place - half


@jit
def change(queue: Ints, clock: int, time: int) -> None:
    """Let a clock ring at another time."""
    place = queue.size // 2 + clock
    queue[place] = time
    while place > 1:
        place //= 2
        queue[place] = min(queue[2 * place], queue[2 * place + 1])
