"""Minimum Empirical Divergence: each arm is pulled as often as its rewards leave it a chance of being the best."""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit
from dirichlet_bandits.engine.verbs import implements, select
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.policies.families import BELOW_A_BOUND, FamilyOrBoundPolicy, family_code
from dirichlet_bandits.policies.index import DirectRule, overview
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.min_divergence import current_divergence, use_family_divergence, use_kinf
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import reward_scale


class MEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalMEDParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


@dataclass(frozen=True)
class MED(FamilyOrBoundPolicy):
    """Minimum Empirical Divergence: pull arm k with probability proportional to exp(-N_k D_k).

    D_k is 0 for the arm with the largest mean. With ``MED(family)``, D_k = d(mu_k, max mu) in a one-parameter family.
    In the Bernoulli family, which serves all rewards in [0, 1], this is also known as KL-MS. With ``MED(upper=...)``,
    D_k = Kinf(F_k, max mu; upper), without a model. The rule itself gives the propensities, so they cost a live study
    no more than a decision.

    >>> MED("bernoulli")
    MED(family='bernoulli', sigma=None, upper=None)
    >>> from dirichlet_bandits import propensities
    >>> propensities(MED(upper=1.0), [[0.0, 1.0], [0.0]])  # Kinf of one 0 from mean 1/2 is log 2
    array([0.66666667, 0.33333333])

    Reference: Honda and Takemura, An asymptotically optimal policy for finite support models in the multiarmed bandit
    problem, Machine Learning 85, 2011; Qin, Jun and Zhang, Kullback-Leibler Maillard sampling for multi-armed
    bandits with bounded rewards, NeurIPS 2023.
    """

    assumes: ClassVar[str] = f"rewards of a known one-parameter family, or {BELOW_A_BOUND}"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Honda and Takemura (2011); Qin, Jun and Zhang (2023)"

    @property
    def params(self) -> MEDParams | EmpiricalMEDParams:
        if self.family is not None:
            return MEDParams(*family_code(self.family, self.sigma))
        return EmpiricalMEDParams(float(self.upper or 0.0))


@dataclass(frozen=True)
class MaillardSampling(Policy):
    """MED with the Gaussian divergence: probability proportional to exp(-N_k (max mu - mu_k)^2 / (2 sigma^2)).

    For rewards in an interval, sigma is half its length.

    >>> MaillardSampling(sigma=0.5)
    MaillardSampling(sigma=0.5)

    Reference: Maillard, Apprentissage séquentiel, thesis, Lille 2013; Bian and Jun, Maillard sampling: Boltzmann
    exploration done optimally, AISTATS 2022.
    """

    sigma: float
    assumes: ClassVar[str] = "sub-Gaussian rewards with known sigma"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Maillard (2013); Bian and Jun (2022)"
    example_parameters: ClassVar = {"sigma": 1.0}

    def __post_init__(self) -> None:
        reward_scale("sigma", self.sigma)

    @property
    def params(self) -> MEDParams:
        return MEDParams(int(Family.GAUSSIAN), float(self.sigma))


use_family_divergence(MEDParams)
use_kinf(EmpiricalMEDParams)


@jit
def weight(policy: Any, state: Any, arm: int, best_mean: float) -> float:
    """Return the weight exp(-N_k D_k)."""
    return math.exp(-state.pulls[arm] * current_divergence(policy, state, arm, best_mean))


@implements(select, MEDParams, EmpiricalMEDParams)
def draw_by_weight(policy: Any, state: Any, rng: np.random.Generator) -> int:
    """Return an arm with probability proportional to its weight, in one pass over the arms.

    Each arm replaces the previous choice with probability equal to its share of the weights so far.
    """
    state, rng = borrowed(state), borrowed(rng)
    _, best_mean = overview(state)
    chosen, total = 0, 0.0
    for arm in range(state.pulls.size):
        w = weight(policy, state, arm, best_mean)
        total += w
        if rng.random() * total < w:
            chosen = arm
    return chosen


def write_weights(policy: Any, state: Any, weights: Floats) -> None:
    """Write the weight of every arm; an entry point."""
    _, best_mean = overview(state)
    for arm in range(weights.size):
        weights[arm] = weight(policy, state, arm, best_mean)


def weight_propensities(policy: Policy, state: Any) -> Floats:
    """Return the weights divided by their sum."""
    return Weights(policy, state.pulls.size).propensities(state)


def _shares(weights: Floats) -> Floats:
    return weights / weights.sum()


Weights = functools.partial(DirectRule, write=write_weights, finish=_shares)
register(MED, MaillardSampling, probability=weight_propensities, incremental=Weights)
