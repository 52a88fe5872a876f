"""Indexed Minimum Empirical Divergence (Honda and Takemura, JMLR 2015), with and without a family."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index, verb
from dirichlet_bandits.numerics.divergences import divergence, divergence_slope
from dirichlet_bandits.numerics.kinf import kinf_dual
from dirichlet_bandits.policies.families import FamilyPolicy
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.validation import finite_number

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


keeps_rewards(EmpiricalIMEDParams)


@verb
def evidence(policy: Any, state: Any, arm: int, target: float) -> Any:
    """Evidence a reward against a mean of at least ``target``, and its slope there.

    It depends on the rewards and the target alone, so that arms with the same rewards tie exactly.
    """


@implements(evidence, IMEDParams)
def family_evidence(policy: IMEDParams, state: Tally, arm: int, target: float) -> tuple[float, float]:
    """d(mu_k, target), and (target - mu_k) / V(target) with the family's variance V."""
    mean = state.means[arm]
    return (
        divergence(policy.family, policy.sigma, mean, target),
        divergence_slope(policy.family, policy.sigma, mean, target),
    )


@implements(evidence, EmpiricalIMEDParams)
def empirical_evidence(policy: EmpiricalIMEDParams, state: History, arm: int, target: float) -> tuple[float, float]:
    """Kinf(F_k, target; upper), whose slope is the optimal multiplier."""
    if state.means[arm] >= target:
        return 0.0, 0.0
    value, multiplier, _, _ = kinf_dual(rewards(state, arm), target, policy.upper, math.nan)
    return value, multiplier


@implements(index, IMEDParams, EmpiricalIMEDParams)
def imed_index(policy: Any, state: Any, arm: int, total: int, best_mean: float, rng: np.random.Generator) -> float:
    """N_k times the evidence plus log N_k, with its sign turned."""
    n = state.pulls[arm]
    return -(n * evidence(policy, state, arm, best_mean)[0] + math.log(n))
