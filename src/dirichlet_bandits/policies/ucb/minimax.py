"""Upper confidence bounds that are optimal both for each problem and in the worst case: kl-UCB++ and KL-UCB-switch."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import implements, index
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.divergences import kl_upper
from dirichlet_bandits.numerics.kinf import kl_ucb_index
from dirichlet_bandits.policies.families import FamilyPolicy
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.validation import large_count, reward_bound


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
