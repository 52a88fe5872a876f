"""Best Empirical Sampled Average: a knock-out tournament on equal sample sizes."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine.history import History, keeps_rewards
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import implements, select
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.subsampling.subsets import subset_mean
from dirichlet_bandits.types import Ints


class BESAParams(NamedTuple):
    """Nothing to tune; the compiler wants a field."""

    unused: float = 0.0


@dataclass(frozen=True)
class BESA(Policy):
    """A knock-out tournament: each duel compares means of equally many rewards, drawn without replacement.

    Two arms with m <= n rewards: all m rewards of the one, m of the other drawn without replacement; the larger mean
    wins, a tie goes to the arm with fewer rewards, then to any. With more arms the winners of pairs meet again, in an
    order drawn for each pull; an odd one out passes. The winner of all is pulled.

    With more than two arms, or skewed rewards, the regret may be linear: a warning example. Live studies do not take
    this policy: see :class:`WRSDA`.

    >>> BESA()
    BESA()

    Reference: Baransi, Maillard and Mannor, Sub-sampling for multi-armed bandits, ECML-PKDD 2014.
    """

    assumes: ClassVar[str] = "two arms whose laws are balanced; for simulations: no exact propensities"
    reference: ClassVar[str] = "Baransi, Maillard and Mannor (2014)"

    @property
    def params(self) -> BESAParams:
        return BESAParams()


keeps_rewards(BESAParams)


@jit
def better_of(state: History, one: int, other: int, moves: Ints, rng: np.random.Generator) -> int:
    """The winner of a duel; the rewards stay in their order if ``moves`` has room."""
    few, many = (one, other) if state.pulls[one] <= state.pulls[other] else (other, one)
    n = state.pulls[few]
    difference = state.means[few] - subset_mean(state, many, n, moves, rng)
    if difference == 0.0 and n == state.pulls[many]:
        return few if rng.random() < 0.5 else many
    return few if difference >= 0.0 else many


@jit
def tournament(state: History, arms: Ints, moves: Ints, rng: np.random.Generator) -> int:
    """The winner among all arms, in an order drawn anew; ``arms`` is a place to write it down."""
    left = arms.size
    for arm in range(left):
        arms[arm] = arm
    shuffle(arms, rng)
    while left > 1:
        for pair in range(left // 2):
            arms[pair] = better_of(state, arms[2 * pair], arms[2 * pair + 1], moves, rng)
        if left % 2 == 1:
            arms[left // 2] = arms[left - 1]
        left = (left + 1) // 2
    return arms[0]


@implements(select, BESAParams)
def select_winner(policy: BESAParams, state: History, rng: np.random.Generator) -> int:
    """The winner of the tournament."""
    most = 1
    for arm in range(state.pulls.size):
        most = max(most, state.pulls[arm])
    return tournament(state, np.empty(state.pulls.size, np.int64), np.empty(most, np.int64), rng)
