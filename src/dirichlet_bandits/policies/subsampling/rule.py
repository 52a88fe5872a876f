"""Random-Block Subsampling Duelling (Baudry, Kaufmann and Maillard, NeurIPS 2020)."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine.history import History, append, new_history, rewards
from dirichlet_bandits.engine.verbs import duel, implements, init, select, update
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.rounds import duel_round
from dirichlet_bandits.types import Floats


class RBSDAParams(NamedTuple):
    """Nothing to tune; the compiler wants a field."""

    unused: float = 0.0


@dataclass(frozen=True)
class RBSDA(Policy):
    """Duels of equal sample sizes: the challenger's mean against a random block of the leader's rewards.

    The challenger with n rewards wins iff its mean is at least that of n consecutive rewards of the leader,
    the block's start being uniform over all starts that leave it inside the history.

    >>> RBSDA()
    RBSDA()

    Reference: Baudry, Kaufmann and Maillard, NeurIPS 2020.
    """

    assumes: ClassVar[str] = "all arms in one exponential family, which need not be known"
    reference: ClassVar[str] = "Baudry, Kaufmann and Maillard (2020)"

    @property
    def params(self) -> RBSDAParams:
        return RBSDAParams()


@implements(init, RBSDAParams)
def remember_running_sums(policy: RBSDAParams, n_arms: int) -> History:
    """A history of running sums: the mean of any block follows from two of them."""
    return new_history(n_arms)


@implements(update, RBSDAParams)
def remember(policy: RBSDAParams, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    """Store the running sum that this reward ends."""
    return append(state, arm, reward, running_sum(state.pool, state.start[arm], state.pulls[arm], reward))


@jit
def running_sum(pool: Floats, first: int, n: int, reward: float) -> float:
    """What is stored for the reward after the n-th: the first reward itself, then sums of distances from it.

    Rewards far from 0, and close to each other, would drown in sums of their own.
    """
    if n < 2:
        return reward if n == 0 else reward - pool[first]
    return pool[first + n - 1] + (reward - pool[first])


@jit
def block_mean(pool: Floats, first: int, start: int, n: int) -> float:
    """Mean of n consecutive rewards from the start-th on, from the running sums that begin at ``pool[first]``."""
    end = start + n - 1
    distance = (pool[first + end] if end > 0 else 0.0) - (pool[first + start - 1] if start > 1 else 0.0)
    # So written whole numbers and their halves give the mean that adding them up would give: ties stay ties.
    return (n * pool[first] + distance) / n if distance != 0.0 else pool[first]


@jit
def block_start(u: float, n_leader: int, n: int) -> int:
    """Where the block of n rewards starts, from a uniform variable."""
    return int(u * (n_leader - n + 1))


@implements(duel, RBSDAParams)
def block_duel(policy: RBSDAParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean reaches that of as many consecutive rewards of the leader."""
    running, n = rewards(state, leader), state.pulls[challenger]
    return state.means[challenger] >= block_mean(running, 0, block_start(rng.random(), running.size, n), n)


implements(select, RBSDAParams)(duel_round)
