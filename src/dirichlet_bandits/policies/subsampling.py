"""Random-Block Subsampling Duelling (Baudry, Kaufmann and Maillard, NeurIPS 2020)."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.policies.history import History, append, new_history, rewards
from dirichlet_bandits.policies.rounds import duel_round
from dirichlet_bandits.policies.tally import Floats
from dirichlet_bandits.policies.verbs import duel, implements, init, select, update


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
    """A history of running sums: the mean of any block is a difference of two."""
    return new_history(n_arms)


@implements(update, RBSDAParams)
def remember(policy: RBSDAParams, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    """Store the running sum that this reward ends."""
    return append(state, arm, reward, state.sums[arm] + reward)


@jit
def beats_block(state: History, challenger: int, running: Floats, start: int) -> bool:
    """Whether the challenger's mean reaches that of the leader's block with this start."""
    n = state.pulls[challenger]
    before = running[start - 1] if start > 0 else 0.0
    return state.means[challenger] >= (running[start + n - 1] - before) / n


@implements(duel, RBSDAParams)
def block_duel(policy: RBSDAParams, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """The challenger's sum against that of as many consecutive rewards of the leader."""
    running = rewards(state, leader)
    start = int(rng.random() * (running.size - state.pulls[challenger] + 1))
    return beats_block(state, challenger, running, start)


implements(select, RBSDAParams)(duel_round)
