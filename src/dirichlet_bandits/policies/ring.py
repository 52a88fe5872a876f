"""The rewards of the last decisions: the state of policies that forget, and how it looks with discounted rewards.

Decisions are numbered from 0 in the order in which they were made, and a reward belongs to its decision however late it
is reported. So the state depends on the rewards and on the number of decisions, not on the order in which the rewards
arrived.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.verbs import implements, verb
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


class DiscountedRewards(NamedTuple):
    """The rewards of all arms and their weights.

    Those of arm k are from ``first[k]`` to ``first[k + 1]``.
    """

    values: Floats
    weights: Floats
    first: Ints


@jit
def discounted_samples(policy: Any, ring: Ring) -> DiscountedRewards:
    """Return the rewards that still have a weight, by arm, newest first; also an entry point.

    ``policy`` has the discount ``gamma``; the last decision has the weight 1.
    """
    n_arms = ring.pulls.size
    first = np.zeros(n_arms + 1, np.int64)
    for arm in range(n_arms):
        first[arm + 1] = first[arm] + ring.pulls[arm]
    values, weights, used = np.empty(first[n_arms]), np.empty(first[n_arms]), first.copy()
    size, now, weight = ring.arms.size, decisions_made(ring), 1.0
    place = (now - 1) % size  # of the newest decision
    for _ in range(min(now, size)):
        arm = ring.arms[place]
        if arm >= 0:
            values[used[arm]], weights[used[arm]] = ring.rewards[place], weight
            used[arm] += 1
        weight *= policy.gamma
        place = place - 1 if place > 0 else size - 1
    return DiscountedRewards(values, weights, first)


class Weighted(NamedTuple):
    """Counts and means of the arms, where the counts are sums of weights."""

    pulls: Floats
    means: Floats


@jit
def discounted_state(policy: Any, ring: Ring) -> Weighted:
    """Return counts and means in which each reward counts with its weight; also an entry point."""
    n_arms = ring.pulls.size
    counts, means = np.zeros(n_arms), np.zeros(n_arms)
    origins, lows, highs = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    size, now, weight = ring.arms.size, decisions_made(ring), 1.0
    place = (now - 1) % size  # of the newest decision
    for _ in range(min(now, size)):
        arm, reward = ring.arms[place], ring.rewards[place]
        if arm >= 0:
            if counts[arm] == 0.0:
                origins[arm] = lows[arm] = highs[arm] = reward
            counts[arm] += weight
            means[arm] += weight * (reward - origins[arm])  # a distance: far from 0, digits would be lost
            lows[arm], highs[arm] = min(lows[arm], reward), max(highs[arm], reward)
        weight *= policy.gamma
        place = place - 1 if place > 0 else size - 1
    for arm in range(n_arms):
        if counts[arm] > 0.0:  # between the extremes, so that arms with equal rewards tie
            means[arm] = min(max(origins[arm] + means[arm] / counts[arm], lows[arm]), highs[arm])
    return Weighted(counts, means)


@verb
def select_discounted(inner: Any, policy: Any, ring: Ring, rng: np.random.Generator) -> Any:
    """Return the arm or arms that the inner policy selects from discounted rewards, if every arm has one."""


@implements(select_discounted)
def select_by_counts(inner: Any, policy: Any, ring: Ring, rng: np.random.Generator) -> Any:
    """By default, select from weighted counts and means."""
    return verbs.select(inner, discounted_state(policy, ring), rng)
