"""Thompson Sampling in one-parameter families, and its binarized form for bounded rewards."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import Tally, count
from dirichlet_bandits.engine.verbs import implements, index, update
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.policies.bounded import BoundedPolicy
from dirichlet_bandits.policies.families import FamilyPolicy


class ThompsonParams(NamedTuple):
    """Code of the family and its standard deviation."""

    family: int
    sigma: float


class BinarizedTSParams(NamedTuple):
    """The interval of the rewards."""

    lower: float
    upper: float


@dataclass(frozen=True)
class ThompsonSampling(FamilyPolicy):
    """Thompson Sampling: pull the arm with the largest posterior draw of the mean.

    After n rewards with sum S, the posteriors are: Bernoulli, Beta(1 + S, 1 + n - S) from a uniform prior; Gaussian
    with known sigma, N(S/n, sigma^2/n) from a flat prior; exponential, S / Gamma(n), and Poisson, Gamma(S + 1/2) / n,
    from Jeffreys priors.

    >>> ThompsonSampling("bernoulli")
    ThompsonSampling(family='bernoulli', sigma=None)

    Reference: Thompson, Biometrika 25, 1933; Korda, Kaufmann and Munos, NeurIPS 2013.
    """

    assumes: ClassVar[str] = "rewards of a known one-parameter family"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Thompson (1933); Korda, Kaufmann and Munos (2013)"

    @property
    def params(self) -> ThompsonParams:
        return ThompsonParams(*self._code())


@dataclass(frozen=True)
class BinarizedTS(BoundedPolicy):
    """Bernoulli Thompson Sampling for bounded rewards, which it replaces with coin tosses.

    Each reward x tosses a coin that shows 1 with probability (x - lower) / (upper - lower), and only the coins are
    remembered.

    >>> BinarizedTS(lower=0.0, upper=1.0)
    BinarizedTS(lower=0.0, upper=1.0)

    Reference: Agrawal and Goyal, COLT 2012.
    """

    lower: float
    upper: float
    assumes: ClassVar[str] = "rewards between known bounds"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Agrawal and Goyal (2012)"

    @property
    def params(self) -> BinarizedTSParams:
        return BinarizedTSParams(float(self.lower), float(self.upper))


@jit
def posterior(policy: ThompsonParams, n: float, mean: float) -> tuple[float, float]:
    """Return the Beta shapes, the Gaussian mean and deviation, the exponential S and n, or Poisson shape and rate."""
    if policy.family == Family.BERNOULLI:
        return 1.0 + n * mean, 1.0 + n * (1.0 - mean)
    if policy.family == Family.GAUSSIAN:
        return mean, policy.sigma / math.sqrt(n)
    return n * mean + (0.0 if policy.family == Family.EXPONENTIAL else 0.5), float(n)


@jit
def coin_posterior(n: int, heads: float) -> tuple[float, float]:
    """Return Beta's two shapes after n coins."""
    return 1.0 + heads, 1.0 + n - heads


@implements(index, ThompsonParams)
def posterior_draw(
    policy: ThompsonParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return a draw from the posterior of the mean."""
    first, second = posterior(policy, state.pulls[arm], state.means[arm])
    if policy.family == Family.BERNOULLI:
        return rng.beta(first, second)
    if policy.family == Family.GAUSSIAN:
        return first + second * rng.standard_normal()
    if policy.family == Family.EXPONENTIAL:
        return first / rng.standard_gamma(second)
    return rng.standard_gamma(first) / second


@implements(update, BinarizedTSParams)
def toss(policy: BinarizedTSParams, state: Tally, arm: int, reward: float, rng: np.random.Generator) -> Tally:
    """Count a coin in place of the reward."""
    heads = rng.random() * (policy.upper - policy.lower) < reward - policy.lower
    count(state, arm, 1.0 if heads else 0.0)
    return state


@implements(index, BinarizedTSParams)
def coin_posterior_draw(
    policy: BinarizedTSParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return a draw from the posterior of the coins' mean."""
    first, second = coin_posterior(state.pulls[arm], state.sums[arm])
    return rng.beta(first, second)
