"""EXP3.S: exponential weights that share a little with every arm, so that no arm is lost forever."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.verbs import implements, init, select, specialized, update
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import ORDER_MATTERS, register
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, large_count, whole_number


class EXP3SParams(NamedTuple):
    """The horizon, the number of segments, alpha, and gamma, which is NaN if it follows from the others."""

    horizon: float
    segments: float
    alpha: float
    gamma: float


class Weights(NamedTuple):
    """Pulls and weights of the arms; the weights sum to 1."""

    pulls: Ints
    weights: Floats


@dataclass(frozen=True)
class EXP3S(Policy):
    """Exponential weights for rewards in [0, 1] that may change in any way.

    Arm k is pulled with probability p_k = (1 - gamma) w_k / sum w + gamma / K. Its reward x then changes the weights:
    w_k <- w_k exp(gamma x / (p_k K)), and every arm gets e alpha / K of the previous sum. By default, alpha = 1 / T and
    gamma = min(1, sqrt(K (S log(K T) + e) / ((e - 1) T))) for T decisions and S segments, where S is the number of
    changes plus one.

    The first reward of each arm, from the opening, does not change the weights, because its pull was certain. Rewards
    are expected before the next decision; if a reward is late, p_k is the probability at the time when it is reported.

    >>> EXP3S(horizon=10_000, segments=3)
    EXP3S(horizon=10000, segments=3, alpha=None, gamma=None)

    Reference: Auer, Cesa-Bianchi, Freund and Schapire, The nonstochastic multiarmed bandit problem, SIAM Journal on
    Computing 32, 2002, section 8.
    """

    horizon: int
    segments: int = 1
    alpha: float | None = None
    gamma: float | None = None
    assumes: ClassVar[str] = "rewards in [0, 1] that may change in any way; linear for fixed parameters"
    guarantee: ClassVar[str] = "linear"
    reference: ClassVar[str] = "Auer et al. (2002)"
    example_parameters: ClassVar = {"horizon": 1000}

    def __post_init__(self) -> None:
        large_count("horizon", self.horizon, at_least=1)
        whole_number("segments", self.segments, at_least=1)
        if self.alpha is not None and not 0.0 <= finite_number("alpha", self.alpha) <= 1.0:
            raise ArgumentError("alpha", "None, or a number from 0 to 1", self.alpha)
        if self.gamma is not None and not 0.0 < finite_number("gamma", self.gamma) <= 1.0:
            raise ArgumentError("gamma", "None, or a number above 0 and at most 1", self.gamma)

    @property
    def params(self) -> EXP3SParams:
        alpha = 1.0 / self.horizon if self.alpha is None else float(self.alpha)
        gamma = math.nan if self.gamma is None else float(self.gamma)
        return EXP3SParams(float(self.horizon), float(self.segments), alpha, gamma)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return 0.0, 1.0


@jit
def uniform_share(policy: EXP3SParams, n_arms: int) -> float:
    """Return the given gamma, or min(1, sqrt(K (S log(K T) + e) / ((e - 1) T))) by corollary 8.3."""
    if not math.isnan(policy.gamma):
        return policy.gamma
    total = n_arms * (policy.segments * math.log(n_arms * policy.horizon) + math.e)
    return min(1.0, math.sqrt(total / ((math.e - 1.0) * policy.horizon)))


@jit
def probability(gamma: float, weights: Floats, arm: int) -> float:
    """Return (1 - gamma) w_k + gamma / K, for weights that sum to 1."""
    return (1.0 - gamma) * weights[arm] + gamma / weights.size


@implements(init, EXP3SParams)
def equal_weights(policy: EXP3SParams, n_arms: int) -> Weights:
    """Return equal weights for all arms."""
    return Weights(np.zeros(n_arms, np.int64), np.full(n_arms, 1.0 / n_arms))


@implements(select, EXP3SParams)
def draw_by_probability(policy: EXP3SParams, state: Weights, rng: np.random.Generator) -> int:
    """Return an arm drawn with its probability."""
    gamma, n_arms = uniform_share(policy, state.weights.size), state.weights.size
    left = rng.random()
    for arm in range(n_arms - 1):
        left -= probability(gamma, state.weights, arm)
        if left < 0.0:
            return arm
    return n_arms - 1


@implements(update, EXP3SParams, random=False)
def reweigh(policy: EXP3SParams, state: Weights, arm: int, reward: float, rng: np.random.Generator) -> Weights:
    """Raise the arm's weight by its reward over its probability, share among all arms, and normalize the weights."""
    state.pulls[arm] += 1
    if state.pulls[arm] == 1:
        return state
    weights, n_arms = state.weights, state.weights.size
    gamma = uniform_share(policy, n_arms)
    weights[arm] *= math.exp(gamma * reward / (probability(gamma, weights, arm) * n_arms))
    total = 0.0
    for k in range(n_arms):
        weights[k] += math.e * policy.alpha / n_arms
        total += weights[k]
    for k in range(n_arms):
        weights[k] /= total
    return state


@jit
def all_probabilities(policy: EXP3SParams, state: Weights) -> Floats:
    """Return the probability of every arm; also an entry point."""
    gamma, chances = uniform_share(policy, state.weights.size), np.empty(state.weights.size)
    for arm in range(chances.size):
        chances[arm] = probability(gamma, state.weights, arm)
    return chances


def weight_propensities(policy: Policy, state: Weights) -> Floats:
    """Return the probabilities of the rule itself."""
    chances: Floats = specialized(all_probabilities, policy.params)(policy.params, state)
    return chances


register(EXP3S, probability=weight_propensities, from_histories=ORDER_MATTERS)
