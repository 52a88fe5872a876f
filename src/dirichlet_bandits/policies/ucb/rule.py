"""Upper confidence bounds: UCB1, R-UCB-LT, KL-UCB and empirical KL-UCB."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index
from dirichlet_bandits.numerics.divergences import kl_upper
from dirichlet_bandits.numerics.kinf import kl_ucb_index
from dirichlet_bandits.policies.families import BoundedAbovePolicy, FamilyPolicy
from dirichlet_bandits.policies.growth import GROWTHS, slow_growth
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.validation import reward_scale


class UCB1Params(NamedTuple):
    """An upper bound on the standard deviation of the rewards."""

    sigma: float


class RUCBLTParams(NamedTuple):
    """The growth function f and the scale of the confidence width."""

    growth: int
    scale: float


class KLUCBParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class EmpiricalKLUCBParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


@dataclass(frozen=True)
class UCB1(Policy):
    """Mean plus a confidence width for sub-Gaussian rewards: mu_k + sigma sqrt(2 log t / N_k).

    For rewards in an interval, sigma is half its length.

    >>> UCB1(sigma=0.5)
    UCB1(sigma=0.5)

    Reference: Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002.
    """

    sigma: float
    assumes: ClassVar[str] = "sub-Gaussian rewards with known sigma"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Auer, Cesa-Bianchi and Fischer (2002)"
    example_parameters: ClassVar = {"sigma": 1.0}

    def __post_init__(self) -> None:
        reward_scale("sigma", self.sigma)

    @property
    def params(self) -> UCB1Params:
        return UCB1Params(float(self.sigma))


@dataclass(frozen=True)
class RUCBLT(Policy):
    """Robust UCB for light tails of unknown weight: mu_k + scale sqrt(f(t) log t / N_k).

    f grows slowly without bound: ``log(t)^2``, ``log(t)`` or ``sqrt(log(t))``. The theory holds for any scale; the
    scale, in the unit of the rewards, determines how many pulls it takes until f is large enough.

    >>> RUCBLT(f="log")
    RUCBLT(f='log', scale=1.0)

    Reference: Ashutosh, Nair, Kagrecha and Jagannathan, AISTATS 2021.
    """

    f: Literal["log2", "log", "sqrt-log"] = "log2"
    scale: float = 1.0
    assumes: ClassVar[str] = "light tails"
    guarantee: ClassVar[str] = "almost logarithmic"
    reference: ClassVar[str] = "Ashutosh et al. (2021)"

    def __post_init__(self) -> None:
        choice("f", self.f, GROWTHS)
        reward_scale("scale", self.scale)

    @property
    def params(self) -> RUCBLTParams:
        return RUCBLTParams(GROWTHS[self.f], float(self.scale))


@dataclass(frozen=True)
class KLUCB(FamilyPolicy):
    """Optimism in a one-parameter family: sup{q : N_k d(mu_k, q) <= log t}.

    >>> KLUCB("gaussian", sigma=0.5)
    KLUCB(family='gaussian', sigma=0.5)

    Reference: Cappé, Garivier, Maillard, Munos and Stoltz, Annals of Statistics 41, 2013.
    """

    assumes: ClassVar[str] = "rewards of a known one-parameter family"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Cappé et al. (2013)"

    @property
    def params(self) -> KLUCBParams:
        return KLUCBParams(*self._code())


@dataclass(frozen=True)
class EmpiricalKLUCB(BoundedAbovePolicy):
    """Optimism without a model: sup{q : N_k Kinf(F_k, q; upper) <= log t}, with the empirical distribution F_k.

    >>> EmpiricalKLUCB(upper=1.0)
    EmpiricalKLUCB(upper=1.0)

    Reference: Cappé, Garivier, Maillard, Munos and Stoltz, Annals of Statistics 41, 2013.
    """

    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Cappé et al. (2013)"

    @property
    def params(self) -> EmpiricalKLUCBParams:
        return EmpiricalKLUCBParams(float(self.upper))


@implements(index, UCB1Params)
def ucb1(policy: UCB1Params, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator) -> float:
    """Return mu_k + sigma sqrt(2 log t / N_k); if a discounted t is below 1, its logarithm counts as 0."""
    return state.means[arm] + policy.sigma * math.sqrt(2.0 * math.log(max(total, 1)) / state.pulls[arm])


@implements(index, RUCBLTParams)
def rucblt(
    policy: RUCBLTParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index mu_k + scale sqrt(f(t) log t / N_k)."""
    width = math.sqrt(slow_growth(policy.growth, float(total)) * math.log(total) / state.pulls[arm])
    return state.means[arm] + policy.scale * width


@implements(index, KLUCBParams)
def klucb(policy: KLUCBParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator) -> float:
    """Return sup{q : N_k d(mu_k, q) <= log t}; if a discounted t is below 1, its logarithm counts as 0."""
    return kl_upper(policy.family, policy.sigma, state.means[arm], math.log(max(total, 1)) / state.pulls[arm])


keeps_rewards(EmpiricalKLUCBParams)


@implements(index, EmpiricalKLUCBParams)
def empirical_klucb(
    policy: EmpiricalKLUCBParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index sup{q : N_k Kinf(F_k, q; upper) <= log t}."""
    x = rewards(state, arm)
    return kl_ucb_index(x, math.log(total) / x.size, policy.upper, math.nan)[0]
