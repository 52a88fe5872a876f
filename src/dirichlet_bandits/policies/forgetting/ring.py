"""The rewards of the last decisions: the state of policies that forget.

Decisions are numbered from 0 in the order in which they were made, and a reward belongs to its decision however late it
is reported. So the state depends on the rewards and on the number of decisions, not on the order in which the rewards
arrived.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.types import Floats, Ints, Records

LONGEST: Final = 10_000_000
"""The most decisions that a policy may remember; their rewards take 160 MB."""

CLOCK: Final = np.dtype(
    [
        ("next", np.int64),  # the decision to which the next reward belongs
        ("now", np.int64),  # how many decisions have been made
    ]
)


class Ring(NamedTuple):
    """Arms and rewards of the last decisions.

    The entries of decision s are ``arms[s % size]`` and ``rewards[s % size]``; the arm is -1 if its reward is not
    known. ``pulls`` counts the known rewards of each arm. ``clock`` is one record of ``CLOCK``.
    """

    pulls: Ints
    arms: Ints
    rewards: Floats
    clock: Records


@jit
def new_ring(n_arms: int, size: int) -> Ring:
    """Return a ring without rewards."""
    return Ring(np.zeros(n_arms, np.int64), np.full(size, -1), np.zeros(size), np.zeros(1, CLOCK))


@jit
def decisions_made(ring: Any) -> int:
    """Return how many decisions have been made."""
    return ring.clock[0].now


@jit
def advance(ring: Any, now: int) -> None:
    """Forget rewards that are too old after ``now`` decisions."""
    size, before = ring.arms.size, ring.clock[0].now
    for decision in range(max(before, now - size), now):  # it takes the place of an old one
        place = decision % size
        if ring.arms[place] >= 0:
            ring.pulls[ring.arms[place]] -= 1
            ring.arms[place] = -1
    ring.clock[0].now = max(before, now)


@jit
def expect(ring: Any, decision: int, now: int) -> None:
    """Assign the next reward to an earlier decision, after ``now`` decisions."""
    advance(ring, now)
    ring.clock[0].next = decision


@jit
def remember(ring: Any, arm: int, reward: float) -> bool:
    """Store a reward, by default that of a new decision; return whether it is recent enough."""
    decision, size = ring.clock[0].next, ring.arms.size
    advance(ring, decision + 1)
    ring.clock[0].next = ring.clock[0].now
    if decision < ring.clock[0].now - size:
        return False
    place = decision % size
    ring.arms[place], ring.rewards[place] = arm, reward
    ring.pulls[arm] += 1
    return True
