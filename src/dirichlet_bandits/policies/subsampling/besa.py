"""Best Empirical Sampled Average: a knock-out tournament on equal sample sizes."""

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_rewards
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import implements, select
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, wins_by
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Flags, Floats, Ints, Words


class BESAParams(NamedTuple):
    """The probability that the arm with fewer rewards wins a tie."""

    tie: float


@dataclass(frozen=True)
class BESA(Policy):
    """A knock-out tournament: each duel compares means of equally many rewards, drawn without replacement.

    Two arms with m <= n rewards: all m rewards of the one, m of the other drawn without replacement; the larger mean
    wins, a tie goes to the arm with fewer rewards, then to any. With more arms the winners of pairs meet again, in an
    order drawn for each pull; an odd one out passes. The winner of all is pulled. ``ties="random"`` gives every tie to
    any of the two.

    With more than two arms, or skewed rewards, the regret may be linear: a warning example. Live studies do not take
    this policy: see :class:`WRSDA`.

    >>> BESA()
    BESA(ties='fewer')

    Reference: Baransi, Maillard and Mannor, Sub-sampling for multi-armed bandits, ECML-PKDD 2014.
    """

    ties: Literal["fewer", "random"] = "fewer"
    assumes: ClassVar[str] = "proved for two arms with balanced laws only; for simulations: no exact propensities"
    reference: ClassVar[str] = "Baransi, Maillard and Mannor (2014)"

    def __post_init__(self) -> None:
        choice("ties", self.ties, {"fewer": 0, "random": 1})

    @property
    def params(self) -> BESAParams:
        return BESAParams(0.5 if self.ties == "random" else 1.0)


keeps_rewards(BESAParams)


@jit
def tournament(
    tie: float,
    state: History,
    pool: Floats,
    known: int,
    beats: Flags,
    arms: Ints,
    words: Words,
    rng: np.random.Generator,
) -> int:
    """The winner among all arms, in an order drawn anew; ``arms`` is a place to write it down.

    ``pool`` is the state's, or a copy: rewards change their places. Of one arm, ``known`` (-1: none), the duels have
    been fought already: ``beats`` says who beats it.
    """
    pulls, means, sums, carry, lows, highs, _, start, _, _ = state
    left = arms.size
    for arm in range(left):
        arms[arm] = arm
    shuffle(arms, rng)
    while left > 1:
        for pair in range(left // 2):
            few, many = arms[2 * pair], arms[2 * pair + 1]
            if pulls[few] > pulls[many]:
                few, many = many, few
            n, size, mean = pulls[few], pulls[many], means[few]
            if few == known or many == known:
                wins = beats[few] if many == known else not beats[many]
            elif n == size:
                wins = wins_by(mean - means[many], 0.5, rng)
            else:
                total, low, high = sums[many] + carry[many], lows[many], highs[many]
                wins = wins_by(lead_over_subset(mean, n, pool, start[many], size, total, low, high, words), tie, rng)
            arms[pair] = few if wins else many
        if left % 2 == 1:
            arms[left // 2] = arms[left - 1]
        left = (left + 1) // 2
    return arms[0]


@implements(select, BESAParams)
def select_winner(policy: BESAParams, state: History, rng: np.random.Generator) -> int:
    """The winner of the tournament."""
    pool, arms = state.pool.copy(), np.empty(state.pulls.size, np.int64)
    return tournament(policy.tie, state, pool, -1, np.empty(0, np.bool_), arms, further_words(rng), rng)
