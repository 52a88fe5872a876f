"""Policies that sample in order to decide: an equal split, epsilon-greedy, and top-two sampling."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, init, select, specialized, update
from dirichlet_bandits.numerics.kinf_statistic import count_on_grid, grid_statistic, new_grid
from dirichlet_bandits.policies.families import BoundedPolicy, rescaled
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import number_between, number_within


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


class TopTwoParams(NamedTuple):
    """The bounds of the rewards, and the probability of pulling the leader."""

    lower: float
    upper: float
    beta: float


class GridTally(NamedTuple):
    """A tally, its pulls and means, and counts on a grid (``numerics/kinf_statistic.py``), one row per arm."""

    pulls: Ints
    means: Floats
    tally: Tally
    weights: Floats


@dataclass(frozen=True)
class TopTwo(BoundedPolicy):
    """Top-two sampling: pull the arm with the best mean with probability ``beta``, else its closest rival.

    The evidence Z_a that the leader b is better than arm a is

        Z_a = min over m of  N_b Kinf-(F_b, m) + N_a Kinf(F_a, m),

    for rewards between ``lower`` and ``upper``. The closest rival is the arm with the smallest Z_a + log N_a. Ties are
    broken uniformly at random. With two arms, each is pulled with probability 1/2 if ``beta`` is 1/2. The policy
    gathers evidence for the choice of the best arm, so its regret grows linearly. Rewards are counted on a grid of 64
    steps between the bounds, so a decision takes the same time however many rewards there are.

    >>> from dirichlet_bandits import propensities
    >>> propensities(TopTwo(), [[0.9, 0.8, 0.7], [0.1, 0.2, 0.1], [0.6, 0.5, 0.8]])
    array([0.5, 0. , 0.5])

    Reference: Jourdan, Degenne, Baudry, de Heide and Kaufmann, Top Two Algorithms Revisited, NeurIPS 2022 (EB-TCI).
    """

    lower: float = 0.0
    upper: float = 1.0
    beta: float = 0.5
    assumes: ClassVar[str] = "rewards in a known interval"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Jourdan et al. (2022)"

    def __post_init__(self) -> None:
        super().__post_init__()
        number_between("beta", self.beta, 0, 1)

    @property
    def params(self) -> TopTwoParams:
        return TopTwoParams(float(self.lower), float(self.upper), float(self.beta))


@implements(init, TopTwoParams)
def nothing_counted(policy: TopTwoParams, n_arms: int) -> GridTally:
    """Return a state without rewards."""
    tally = new_tally(n_arms)
    return GridTally(tally.pulls, tally.means, tally, new_grid(n_arms))


@implements(update, TopTwoParams, random=False)
def count_reward(
    policy: TopTwoParams, state: GridTally, arm: int, reward: float, rng: np.random.Generator
) -> GridTally:
    """Count the reward in the tally and on the grid."""
    count(state.tally, arm, reward)
    count_on_grid(state.weights[arm], rescaled(policy, reward))
    return state


@jit
def rivalry(state: GridTally, leader: int) -> Floats:
    """Return Z_a + log N_a of every arm against this leader, whose own entry is infinite."""
    n_arms = state.pulls.size
    values = np.zeros(n_arms)
    values[leader] = math.inf
    if n_arms == 2:  # there is one rival only
        return values
    for arm in range(n_arms):
        if arm != leader:
            n = float(state.pulls[arm])
            values[arm] = math.log(n)
            if state.means[arm] < state.means[leader]:
                best, n_best = state.weights[leader], float(state.pulls[leader])
                values[arm] += grid_statistic(best, n_best, state.weights[arm], n, 0.0)
    return values


@implements(select, TopTwoParams)
def leader_or_rival(policy: TopTwoParams, state: GridTally, rng: np.random.Generator) -> int:
    """Return the leader, or the rival with the smallest Z_a + log N_a."""
    n_arms = state.pulls.size
    leader, largest, ties = 0, -math.inf, 0
    for arm in range(n_arms):
        leader, largest, ties = larger(leader, largest, ties, arm, state.means[arm], rng)
    if n_arms == 1 or rng.random() < policy.beta:
        return leader
    values = rivalry(state, leader)
    rival, largest, ties = 0, -math.inf, 0
    for arm in range(n_arms):
        if arm != leader:
            rival, largest, ties = larger(rival, largest, ties, arm, -values[arm], rng)
    return rival


def equal_propensities(policy: EqualSplit, state: Tally) -> Floats:
    """Return 1 / K for each arm."""
    return np.full(state.pulls.size, 1.0 / state.pulls.size)


def greedy_propensities(policy: EpsilonGreedy, state: Tally) -> Floats:
    """Return epsilon / K for each arm, plus the rest for the arms with the best mean."""
    best = state.means == state.means.max()
    return np.asarray(policy.epsilon / best.size + (1.0 - policy.epsilon) * best / best.sum())


def top_two_propensities(policy: TopTwo, state: GridTally) -> Floats:
    """Return beta for the leader and 1 - beta for its rival; arms that tie share these equally."""
    leaders = np.flatnonzero(state.means == state.means.max())
    chances = np.zeros(state.pulls.size)
    for leader in leaders.tolist():
        values = specialized(_rivalry, policy.params)(policy.params, state, leader)
        rivals = np.arange(values.size) != leader
        closest = rivals & (values == values[rivals].min()) if rivals.any() else ~rivals
        chances[leader] += policy.beta / leaders.size
        chances[closest] += (1.0 - policy.beta) / closest.sum() / leaders.size
    return chances


def _rivalry(policy: Any, state: Any, leader: int) -> Floats:
    return rivalry(state, leader)


register(EqualSplit, probability=equal_propensities)
register(EpsilonGreedy, probability=greedy_propensities)
register(TopTwo, probability=top_two_propensities)

__all__ = ["EpsilonGreedy", "EqualSplit", "TopTwo"]
