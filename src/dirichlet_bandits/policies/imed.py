"""Indexed Minimum Empirical Divergence (Honda and Takemura, JMLR 2015), with and without a family."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.checks import finite_number
from dirichlet_bandits.numerics.divergences import divergence
from dirichlet_bandits.numerics.kinf import kinf_dual
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.policies.families import FamilyPolicy
from dirichlet_bandits.policies.history import History, keeps_rewards, rewards
from dirichlet_bandits.policies.tally import Tally
from dirichlet_bandits.policies.verbs import implements, index

_PAPER = "Honda and Takemura (2015)"


class IMEDParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalIMEDParams(NamedTuple):
    """The bound."""

    upper: float


@dataclass(frozen=True)
class IMED(FamilyPolicy):
    """Least evidence against being best, in a one-parameter family: smallest N_k d(mu_k, max mu) + log N_k.

    >>> IMED("bernoulli")
    IMED(family='bernoulli', sigma=None)

    Reference: Honda and Takemura, JMLR 16, 2015.
    """

    assumes: ClassVar[str] = "rewards of a known one-parameter family"
    reference: ClassVar[str] = _PAPER

    @property
    def params(self) -> IMEDParams:
        return IMEDParams(*self._code())


@dataclass(frozen=True)
class EmpiricalIMED(Policy):
    """Least evidence against being best, without a model: smallest N_k Kinf(F_k, max mu; upper) + log N_k.

    >>> EmpiricalIMED(upper=1.0)
    EmpiricalIMED(upper=1.0)

    Reference: Honda and Takemura, JMLR 16, 2015.
    """

    upper: float
    assumes: ClassVar[str] = "rewards below a known bound"
    reference: ClassVar[str] = _PAPER

    def __post_init__(self) -> None:
        finite_number("upper", self.upper)

    @property
    def params(self) -> EmpiricalIMEDParams:
        return EmpiricalIMEDParams(float(self.upper))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return -math.inf, float(self.upper)


@implements(index, IMEDParams)
def imed(policy: IMEDParams, state: Tally, arm: int, total: int, top: float, rng: np.random.Generator) -> float:
    """N_k d(mu_k, max mu) + log N_k, with its sign turned."""
    n = state.pulls[arm]
    return -(n * divergence(policy.family, policy.sigma, state.means[arm], top) + math.log(n))


keeps_rewards(EmpiricalIMEDParams)


@implements(index, EmpiricalIMEDParams)
def empirical_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, top: float, rng: np.random.Generator
) -> float:
    """N_k Kinf(F_k, max mu; upper) + log N_k, with its sign turned."""
    n = state.pulls[arm]
    if state.means[arm] >= top:
        return -math.log(n)
    return -(n * kinf_dual(rewards(state, arm), top, policy.upper, math.nan)[0] + math.log(n))
