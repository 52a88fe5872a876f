"""Upper confidence bounds: UCB1, R-UCB-LT, KL-UCB, empirical KL-UCB, kl-UCB++ and KL-UCB-switch.

The last two are optimal both for each problem and in the worst case.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.divergences import kl_upper
from dirichlet_bandits.numerics.kinf import kl_ucb_index
from dirichlet_bandits.numerics.kinf_series import kl_ucb_incremental
from dirichlet_bandits.policies.families import BoundedAbovePolicy, FamilyPolicy
from dirichlet_bandits.policies.growth import GROWTHS, slow_growth
from dirichlet_bandits.policies.index import DirectIndices, index_propensities
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.min_divergence import exact_value, keeps_indices, value_of
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.weighted_rewards import weighted_tally
from dirichlet_bandits.types import Records
from dirichlet_bandits.validation import large_count, reward_bound, reward_scale


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


class KLUCBPlusPlusParams(NamedTuple):
    """Code of the family, its standard deviation and the horizon."""

    family: int
    sigma: float
    horizon: int


class KLUCBSwitchParams(NamedTuple):
    """The interval of the rewards and the horizon, 0 if it is not known."""

    lower: float
    upper: float
    horizon: int


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


@dataclass(frozen=True)
class KLUCBPlusPlus(FamilyPolicy):
    """KL-UCB for a known horizon T, with the index sup{q : N_k d(mu_k, q) <= g(N_k)}.

    With K arms,

        g(n) = phi(T / (K n)),    phi(x) = log+(x (1 + log+(x)^2)).

    >>> KLUCBPlusPlus("bernoulli", horizon=10_000)
    KLUCBPlusPlus(family='bernoulli', sigma=None, horizon=10000)

    Reference: Menard and Garivier, A minimax and asymptotically optimal algorithm for stochastic bandits, ALT 2017.
    """

    horizon: int = field(kw_only=True)
    assumes: ClassVar[str] = "rewards of a known one-parameter family; a known horizon"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Menard and Garivier (2017)"
    example_parameters: ClassVar = {"family": "gaussian", "sigma": 1.0, "horizon": 1000}

    def __post_init__(self) -> None:
        super().__post_init__()
        large_count("horizon", self.horizon, at_least=1)

    @property
    def params(self) -> KLUCBPlusPlusParams:
        return KLUCBPlusPlusParams(*self._code(), int(self.horizon))


@dataclass(frozen=True)
class KLUCBSwitch(Policy):
    """Empirical KL-UCB for arms with few rewards, UCB for the others; rewards in [lower, upper].

    With a horizon T, K arms and l(n) = log+(T / (K n)), the index is

        sup{q : N_k Kinf(F_k, q; upper) <= l(N_k)}               while N_k <= (T/K)^(1/5),
        mu_k + (upper - lower) sqrt(l(N_k) / (2 N_k))            from then on.

    Without a horizon, t takes the place of T, and l(n) = phi(t / (K n)) with phi(x) = log+(x (1 + log+(x)^2)).

    >>> KLUCBSwitch(upper=1.0)
    KLUCBSwitch(upper=1.0, horizon=None, lower=0.0)

    Reference: Garivier, Hadiji, Menard and Stoltz, KL-UCB-switch: optimal regret bounds for stochastic bandits from
    both a distribution-dependent and a distribution-free viewpoints, JMLR 23, 2022.
    """

    upper: float
    horizon: int | None = None
    lower: float = 0.0
    assumes: ClassVar[str] = "rewards in a known interval"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Garivier et al. (2022)"
    example_parameters: ClassVar = {"upper": 1.0}

    def __post_init__(self) -> None:
        reward_bound("lower", self.lower)
        if not reward_bound("upper", self.upper) > self.lower:
            raise ArgumentError("upper", f"greater than lower = {self.lower}", self.upper)
        if self.horizon is not None:
            large_count("horizon", self.horizon, at_least=1)

    @property
    def params(self) -> KLUCBSwitchParams:
        return KLUCBSwitchParams(float(self.lower), float(self.upper), int(self.horizon or 0))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)


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


keeps_indices(EmpiricalKLUCBParams)


@implements(exact_value, EmpiricalKLUCBParams)
def empirical_klucb(policy: EmpiricalKLUCBParams, history: History, arm: int, total: int, best_mean: float) -> float:
    """Return the index sup{q : N_k Kinf(F_k, q; upper) <= log t}."""
    x = rewards(history, arm)
    return kl_ucb_index(x, math.log(total) / x.size, policy.upper, math.nan)[0]


@implements(value_of, EmpiricalKLUCBParams)
def incremental_klucb(
    policy: EmpiricalKLUCBParams, history: History, arm: int, total: int, best_mean: float, expansions: Records
) -> float:
    """Return the same up to rounding, from power sums."""
    return kl_ucb_incremental(expansions[arm], rewards(history, arm), history.means[arm], math.log(total), policy.upper)


@jit
def phi(x: float) -> float:
    """Return log+(x (1 + log+(x)^2)).

    >>> phi(0.5), round(phi(math.e), 12)  # log(2 e)
    (0.0, 1.69314718056)
    """
    if x <= 1.0:
        return 0.0
    log = math.log(x)
    return log + math.log1p(log * log)


@implements(index, KLUCBPlusPlusParams)
def klucb_plus_plus(
    policy: KLUCBPlusPlusParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index sup{q : N_k d(mu_k, q) <= phi(T / (K N_k))}."""
    n = state.pulls[arm]
    return kl_upper(policy.family, policy.sigma, state.means[arm], phi(policy.horizon / (state.pulls.size * n)) / n)


keeps_rewards(KLUCBSwitchParams)


@implements(index, KLUCBSwitchParams)
def klucb_switch(
    policy: KLUCBSwitchParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index, based on Kinf for few rewards and on a confidence width for many."""
    n, known = state.pulls[arm], policy.horizon > 0
    share = (policy.horizon if known else total) / state.pulls.size
    bound = max(math.log(share / n), 0.0) if known else phi(share / n)
    if float(n) ** 5 <= share:
        return kl_ucb_index(rewards(state, arm), bound / n, policy.upper, math.nan)[0]
    return state.means[arm] + (policy.upper - policy.lower) * math.sqrt(bound / (2.0 * n))


register(UCB1, KLUCB, probability=index_propensities, incremental=DirectIndices, weighted=weighted_tally)
register(
    *(RUCBLT, KLUCBPlusPlus, KLUCBSwitch, EmpiricalKLUCB), probability=index_propensities, incremental=DirectIndices
)
