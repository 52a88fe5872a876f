"""Index policies: pull the arm with the largest index, ties at random.

These verbs are the defaults of all policies; those that remember or decide otherwise register their own.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.tally import Tally, count, new_tally


@verbs.implements(verbs.init)
def init(policy: Any, n_arms: int) -> Tally:
    """An index policy that does not say otherwise remembers counts and means."""
    return new_tally(n_arms)


@verbs.implements(verbs.update)
def update(policy: Any, state: Tally, arm: int, reward: float, rng: np.random.Generator) -> Tally:
    """Count the reward."""
    count(state, arm, reward)
    return state


@jit
def overview(state: Any) -> tuple[int, float]:
    """What an index may know of the other arms: the number of all pulls and the largest mean."""
    total, top = 0, -np.inf
    for arm in range(state.pulls.size):
        total += state.pulls[arm]
        top = max(top, state.means[arm])
    return total, top


@verbs.implements(verbs.select)
def select(policy: Any, state: Any, rng: np.random.Generator) -> int:
    """The arm with the largest index."""
    total, top = overview(state)
    best, best_index, ties = 0, -np.inf, 0
    for arm in range(state.pulls.size):
        value = verbs.index(policy, state, arm, total, top, rng)
        if value > best_index:
            best, best_index, ties = arm, value, 1
        elif value == best_index:
            ties += 1
            if rng.random() * ties < 1.0:  # each of the tied arms ends up chosen equally often
                best = arm
    return best
