"""Arms drawn at random: an equal split, and epsilon-greedy."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, select
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.validation import number_within


class EqualSplitParams(NamedTuple):
    """A placeholder that no verb uses."""

    unused: int


class EpsilonGreedyParams(NamedTuple):
    """The probability of exploration."""

    epsilon: float


@dataclass(frozen=True)
class EqualSplit(Policy):
    """Equal split: pull every arm with probability 1 / K, as in an A/B test; the baseline for other policies.

    Arms are drawn independently and uniformly at random rather than in turn. Their shares are equal on average only,
    but every decision has the propensity 1 / K, so estimates of other choices can use all trials. Taking the arms in
    turn would make each decision certain, with propensities 0 and 1, and rewards that follow a rhythm would favor some
    of the arms.

    >>> from dirichlet_bandits import propensities
    >>> propensities(EqualSplit(), [[0.0], [1.0], [1.0], [0.5]])
    array([0.25, 0.25, 0.25, 0.25])
    """

    assumes: ClassVar[str] = "nothing"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Fisher (1935)"

    @property
    def params(self) -> EqualSplitParams:
        return EqualSplitParams(0)


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    """Epsilon-greedy: pull the arm with the best mean with probability 1 - epsilon, else an arm at random.

    Arms tied for the best mean share its probability equally.

    >>> from dirichlet_bandits import propensities
    >>> propensities(EpsilonGreedy(epsilon=0.1), [[0.3, 0.5], [0.6]])
    array([0.05, 0.95])

    Reference: Sutton and Barto, Reinforcement Learning: An Introduction, second edition, 2018, section 2.2.
    """

    epsilon: float = 0.1
    assumes: ClassVar[str] = "nothing"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Sutton and Barto (2018)"

    def __post_init__(self) -> None:
        number_within("epsilon", self.epsilon, 0, 1)

    @property
    def params(self) -> EpsilonGreedyParams:
        return EpsilonGreedyParams(float(self.epsilon))


@implements(select, EqualSplitParams)
def any_arm(policy: EqualSplitParams, state: Tally, rng: np.random.Generator) -> int:
    """Return an arm drawn uniformly at random."""
    return int(rng.random() * state.pulls.size)


@implements(select, EpsilonGreedyParams)
def explore_or_exploit(policy: EpsilonGreedyParams, state: Tally, rng: np.random.Generator) -> int:
    """Return a random arm, or the arm with the best mean."""
    n_arms = state.pulls.size
    if rng.random() < policy.epsilon:
        return int(rng.random() * n_arms)
    best, largest, ties = 0, -math.inf, 0
    for arm in range(n_arms):
        best, largest, ties = larger(best, largest, ties, arm, state.means[arm], rng)
    return best
