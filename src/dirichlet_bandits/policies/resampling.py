"""Bootstrap means: GIRO (Kveton et al., 2019), bootstrap Thompson Sampling (Osband and Van Roy; Eckles and Kaptein).

GIRO and BootstrapTS draw from stored rewards, OnlineBootstrapTS from replicates. For propensities, indices are binomial
if rewards are binary, and one of the stored replicates otherwise.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, append, new_history
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, index, init, update
from dirichlet_bandits.errors import RewardError
from dirichlet_bandits.numerics.argmax import Discrete, binomial_law
from dirichlet_bandits.numerics.draws import binomial
from dirichlet_bandits.policies.families import BoundedPolicy, pseudo_rewards, rescaled
from dirichlet_bandits.policies.index import discrete_index_propensities
from dirichlet_bandits.policies.interface import choice
from dirichlet_bandits.policies.registry import DRAWS_FOR_REWARDS, register
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import positive_number, true_or_false, whole_number

_WEIGHTS: Final = {"double-or-nothing": 0, "poisson": 1}


class GIROParams(NamedTuple):
    """Pseudo-rewards of each kind per reward, and the interval of the rewards."""

    a: float
    lower: float
    upper: float


class BootstrapTSParams(NamedTuple):
    """The number of artificial rewards, whether they are coins, and the interval of the rewards."""

    artificial: int
    coins: bool
    lower: float
    upper: float


class OnlineBootstrapTSParams(NamedTuple):
    """The number of replicates, the code of their weights, and the interval of the rewards."""

    replicates: int
    weights: int
    lower: float
    upper: float


class ResamplingPolicy(BoundedPolicy):
    """A policy that resamples its rewards; with ``binary``, each reward is one of the two bounds."""

    binary: bool
    example_parameters: ClassVar = {"binary": True}

    def __post_init__(self) -> None:
        super().__post_init__()
        true_or_false("binary", self.binary)

    def check_reward(self, reward: float) -> None:
        """Refuse a reward that is not finite, outside the bounds, or, with ``binary``, between them."""
        super().check_reward(reward)
        if self.binary and reward not in self.reward_bounds:
            raise RewardError(f"{self!r} expects rewards {self.lower:g} or {self.upper:g} (got {reward!r})")


@dataclass(frozen=True)
class GIRO(ResamplingPolicy):
    """Garbage In, Reward Out: the bootstrap mean of the rewards and of pseudo-rewards at both bounds.

    The history of an arm with n rewards is extended by ceil(a n) copies of each bound. The index is the mean of as many
    values drawn from it with replacement, drawn again at every step. The analysis requires a > 1/sqrt(2); smaller
    values often do better.

    With ``binary``, all rewards must be one of the bounds. Then, on the scale where these are 0 and 1, the index is
    Binomial(N, (S + ceil(a n)) / N) / N with N = n + 2 ceil(a n), and propensities are known. For other rewards, the
    index has as many values as there are samples, so live studies refuse the policy.

    >>> GIRO()
    GIRO(a=1.0, lower=0.0, upper=1.0, binary=False)

    Reference: Kveton, Szepesvari, Vaswani, Wen, Ghavamzadeh and Lattimore, ICML 2019.
    """

    a: float = 1.0
    lower: float = 0.0
    upper: float = 1.0
    binary: bool = False
    assumes: ClassVar[str] = "rewards between known bounds, binary in live studies; proved if binary and a > 1/sqrt(2)"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Kveton, Szepesvari, Vaswani et al. (2019)"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_number("a", self.a)

    @property
    def params(self) -> GIROParams:
        return GIROParams(float(self.a), float(self.lower), float(self.upper))


@dataclass(frozen=True)
class BootstrapTS(ResamplingPolicy):
    """Bootstrap Thompson Sampling: the bootstrap mean of the rewards and a few artificial ones.

    The index of an arm with n rewards is the mean of n + M values, drawn with replacement from its rewards and from
    ``artificial`` = M more, which come from a prior and are drawn again at every step. The prior is uniform between the
    bounds; with ``binary``, where all rewards must be one of the bounds, it is a fair coin. Without artificial rewards,
    the regret would be linear.

    With ``binary``, propensities are known, because the index is a mixture of binomial variables. For other rewards,
    the index has as many values as there are samples, so live studies refuse the policy.

    >>> BootstrapTS()
    BootstrapTS(artificial=10, lower=0.0, upper=1.0, binary=False)

    Reference: Osband and Van Roy (2015), Bootstrapped Thompson sampling and deep exploration.
    """

    artificial: int = 10
    lower: float = 0.0
    upper: float = 1.0
    binary: bool = False
    assumes: ClassVar[str] = "rewards between known bounds, binary in live studies"
    reference: ClassVar[str] = "Osband and Van Roy (2015)"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("artificial", self.artificial, at_least=1)

    @property
    def params(self) -> BootstrapTSParams:
        return BootstrapTSParams(int(self.artificial), bool(self.binary), float(self.lower), float(self.upper))


@dataclass(frozen=True)
class OnlineBootstrapTS(BoundedPolicy):
    """Bootstrap Thompson Sampling without stored rewards: each arm's index is one of its replicates, drawn at random.

    Each of the J ``replicates`` of an arm is a weighted mean of its rewards. A new reward enters each replicate with a
    separate weight, which is 0 or 1 with equal probabilities (``"double-or-nothing"``; the factor 2 would cancel) or
    Poisson(1). Every replicate starts with both bounds, each with weight 1. A pull costs O(J), however many rewards
    there were.

    >>> OnlineBootstrapTS(replicates=1000)
    OnlineBootstrapTS(replicates=1000, weights='double-or-nothing', lower=0.0, upper=1.0)

    Reference: Eckles and Kaptein (2014), Thompson sampling with the online bootstrap.
    """

    replicates: int = 100
    weights: Literal["double-or-nothing", "poisson"] = "double-or-nothing"
    lower: float = 0.0
    upper: float = 1.0
    assumes: ClassVar[str] = "rewards between known bounds"
    reference: ClassVar[str] = "Eckles and Kaptein (2014)"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number("replicates", self.replicates, at_least=1)
        choice("weights", self.weights, _WEIGHTS)

    @property
    def params(self) -> OnlineBootstrapTSParams:
        code = _WEIGHTS[self.weights]
        return OnlineBootstrapTSParams(int(self.replicates), code, float(self.lower), float(self.upper))


class Sorted(NamedTuple):
    """A history in which each arm's rewards strictly between the bounds come first, and its pulls and means.

    ``inner`` counts these rewards, and ``ones`` those equal to the upper bound. Only inner rewards are looked up when a
    sample is drawn.
    """

    pulls: Ints
    means: Floats
    history: History
    inner: Ints
    ones: Ints


@implements(init, GIROParams, BootstrapTSParams)
def new_sorted(policy: Any, n_arms: int) -> Sorted:
    """Return a state without rewards."""
    history = new_history(n_arms)
    inner, ones = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    return Sorted(history.pulls, history.means, history, inner, ones)


@implements(update, GIROParams, BootstrapTSParams, random=False)
def sort_in(policy: Any, state: Sorted, arm: int, reward: float, rng: np.random.Generator) -> Sorted:
    """Store the reward, rescaled to [0, 1]; a reward strictly between the bounds is swapped to the front."""
    pulls, means, history, inner, ones = state
    x = rescaled(policy, reward)
    history = append(history, arm, x, x)
    if 0.0 < x < 1.0:
        first = history.start[arm]
        history.pool[first + pulls[arm] - 1] = history.pool[first + inner[arm]]
        history.pool[first + inner[arm]] = x
        inner[arm] += 1
    elif x >= 1.0:
        ones[arm] += 1
    return Sorted(pulls, means, history, inner, ones)


@jit
def heads(n: int, favorable: int, among: int, rng: np.random.Generator) -> int:
    """Return how many of n draws with replacement are favorable, if ``favorable`` of the ``among`` values are."""
    if favorable == 0 or n == 0:
        return 0
    return n if favorable == among else binomial(n, favorable / among, rng)


@jit
def inner_sum(state: Sorted, arm: int, n: int, rng: np.random.Generator) -> float:
    """Return the sum of n draws from the arm's rewards strictly between the bounds."""
    pool, first, inner, total = state.history.pool, state.history.start[arm], state.inner[arm], 0.0
    for _ in range(n):
        total += pool[first + int(rng.random() * inner)]
    return total


@jit
def resampled_mean(state: Sorted, arm: int, size: int, ones: int, rng: np.random.Generator) -> float:
    """Return the mean of ``size`` draws from ``size`` values: the inner rewards, ``ones`` ones, and zeros."""
    inner = state.inner[arm]
    n = heads(size, inner, size, rng)
    return (heads(size - n, ones, size - inner, rng) + inner_sum(state, arm, n, rng)) / size


@implements(index, GIROParams)
def garbage_in_reward_out(
    policy: GIROParams, state: Sorted, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the bootstrap mean of rewards and pseudo-rewards."""
    n = state.pulls[arm]
    m = pseudo_rewards(policy.a, n)
    return resampled_mean(state, arm, n + 2 * m, state.ones[arm] + m, rng)


@implements(index, BootstrapTSParams)
def bootstrap_with_a_prior(
    policy: BootstrapTSParams, state: Sorted, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the bootstrap mean of rewards and artificial rewards, some of which are drawn, perhaps more than once."""
    more, ones = policy.artificial, state.ones[arm]
    size = state.pulls[arm] + more
    if policy.coins:
        return resampled_mean(state, arm, size, ones + binomial(more, 0.5, rng), rng)
    drawn = heads(size, more, size, rng)
    n = heads(size - drawn, state.inner[arm], size - more, rng)
    found = heads(size - drawn - n, ones, size - more - state.inner[arm], rng) + inner_sum(state, arm, n, rng)
    for left in range(more, 0, -1):
        times = heads(drawn, 1, left, rng)
        drawn -= times
        found += times * rng.random()
    return found / size


class Replicates(NamedTuple):
    """A tally, its pulls and means, and for each arm the weighted sums of its replicates and of their weights."""

    pulls: Ints
    means: Floats
    tally: Tally
    totals: Floats
    weights: Floats


@implements(init, OnlineBootstrapTSParams)
def new_replicates(policy: OnlineBootstrapTSParams, n_arms: int) -> Replicates:
    """Return replicates that hold both bounds and no rewards."""
    tally = new_tally(n_arms)
    shape = (n_arms, policy.replicates)
    return Replicates(tally.pulls, tally.means, tally, np.ones(shape), np.full(shape, 2.0))


@implements(update, OnlineBootstrapTSParams)
def enter_replicates(
    policy: OnlineBootstrapTSParams, state: Replicates, arm: int, reward: float, rng: np.random.Generator
) -> Replicates:
    """Count the reward, with a separate weight in each replicate."""
    x = rescaled(policy, reward)
    count(state.tally, arm, x)
    for j in range(policy.replicates):
        weight = 1.0 * (rng.random() < 0.5) if policy.weights == 0 else 1.0 * rng.poisson(1.0)
        state.totals[arm, j] += weight * x
        state.weights[arm, j] += weight
    return state


@implements(index, OnlineBootstrapTSParams)
def some_replicate(
    policy: OnlineBootstrapTSParams, state: Replicates, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the mean of a replicate drawn at random."""
    j = int(rng.random() * policy.replicates)
    return state.totals[arm, j] / state.weights[arm, j]


def only_binary(policy: GIRO | BootstrapTS) -> str:
    """Return the obstacle to exact propensities, or an empty string if all rewards are binary."""
    if policy.binary:
        return ""
    return (
        f"{type(policy).__name__}(binary=True) where propensities are needed: the bootstrap mean of rewards other than "
        "the two bounds has as many values as there are samples, so the probability of a decision is not known"
    )


def giro_propensities(policy: GIRO, state: Sorted) -> Floats:
    """Return the propensities of GIRO from one binomial distribution per arm."""
    indices = []
    for n, ones in zip(state.pulls.tolist(), state.ones.tolist(), strict=True):
        m = pseudo_rewards.py_func(policy.a, n)  # type: ignore[attr-defined]
        first, chances = binomial_law(n + 2 * m, (ones + m) / (n + 2 * m))
        indices.append(Discrete(np.arange(first, first + chances.size) / (n + 2 * m), chances))
    return discrete_index_propensities(indices)


def bootstrap_propensities(policy: BootstrapTS, state: Sorted) -> Floats:
    """Return the propensities from binomial distributions mixed over the heads of the artificial coins."""
    _, coins = binomial_law(policy.artificial, 0.5)
    indices = []
    for n, ones in zip(state.pulls.tolist(), state.ones.tolist(), strict=True):
        size = n + policy.artificial
        mixed = np.zeros(size + 1)
        for shown, chance in enumerate(coins):
            first, chances = binomial_law(size, (ones + shown) / size)
            mixed[first : first + chances.size] += chance * chances
        indices.append(Discrete(np.arange(size + 1) / size, mixed))
    return discrete_index_propensities(indices)


def replicate_propensities(policy: OnlineBootstrapTS, state: Replicates) -> Floats:
    """Return the propensities; every replicate of an arm is equally probable."""
    share = np.full(policy.replicates, 1.0 / policy.replicates)
    return discrete_index_propensities([Discrete(means, share) for means in state.totals / state.weights])


register(GIRO, probability=giro_propensities, obstacle=only_binary)
register(BootstrapTS, probability=bootstrap_propensities, obstacle=only_binary)
register(OnlineBootstrapTS, probability=replicate_propensities, from_histories=DRAWS_FOR_REWARDS)
