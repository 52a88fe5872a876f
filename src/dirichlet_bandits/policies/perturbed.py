"""Perturbed means: PHE (Kveton et al., 2019), ReBoot (Wang et al., 2020) and MBE (Wan et al., 2023).

The cost of an index does not grow with the rewards. A propensity is the probability that an index is the largest.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, index, init, update
from dirichlet_bandits.numerics.argmax import (
    Discrete,
    RandomVariable,
    argmax_probabilities,
    binomial_law,
    discrete_argmax_probabilities,
    gaussian,
)
from dirichlet_bandits.numerics.draws import binomial
from dirichlet_bandits.policies.families import BoundedPolicy, pseudo_rewards, rescaled
from dirichlet_bandits.policies.index import discrete_index_propensities, normalized, random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import positive_number, reward_scale


class PHEParams(NamedTuple):
    """Pseudo-rewards per reward, and the interval of the rewards."""

    a: float
    lower: float
    upper: float


class ReBootParams(NamedTuple):
    """Size of the two pseudo-residuals."""

    sigma: float


class MBEParams(NamedTuple):
    """Weight of the pseudo-rewards, deviation of all weights, and the interval of the rewards."""

    scale: float
    deviation: float
    lower: float
    upper: float


@dataclass(frozen=True)
class PHE(BoundedPolicy):
    """Perturbed-History Exploration: the mean of all rewards and of fair coins, a coins per reward.

    With n rewards of sum S, on the scale where the bounds are 0 and 1,

        index = (S + U) / (n + m),  m = ceil(a n),  U ~ Binomial(m, 1/2), drawn again at every step.

    The regret is logarithmic if a is large enough. Smaller values often do better, but below 2 a run may go wrong
    forever: an arm whose rewards have all been 0 has an index of at most m / (n + m), about a / (1 + a), while the
    index of another arm, with mean mu, settles at (mu + a/2) / (1 + a), which is larger if mu > a/2.

    >>> PHE()
    PHE(a=1.1, lower=0.0, upper=1.0)

    Reference: Kveton, Szepesvari, Ghavamzadeh and Boutilier, IJCAI 2019.
    """

    a: float = 1.1
    lower: float = 0.0
    upper: float = 1.0
    assumes: ClassVar[str] = "rewards between known bounds; a > 2, unlike the default"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Kveton, Szepesvari, Ghavamzadeh et al. (2019)"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_number("a", self.a)

    @property
    def params(self) -> PHEParams:
        return PHEParams(float(self.a), float(self.lower), float(self.upper))


@dataclass(frozen=True)
class ReBoot(Policy):
    """Residual bootstrap: the mean, shifted by its randomly reweighted residuals and two pseudo-residuals.

    With n rewards of mean m, residuals e_i = X_i - m, and e = sigma sqrt(n + 2) and -e as two more residuals,

        index = m + (1/(n + 2)) sum_{i <= n+2} w_i e_i,  w_i ~ N(0, 1), drawn again at every step,

    which is a draw from N(m, (sum_i (X_i - m)^2 + 2 (n + 2) sigma^2) / (n + 2)^2). For Gaussian rewards, the regret is
    logarithmic if sigma is large enough; comparisons use 1.5 times their standard deviation.

    >>> ReBoot(sigma=1.5)
    ReBoot(sigma=1.5)

    Reference: Wang, Yu, Hao and Cheng (2020), Residual bootstrap exploration for bandit algorithms.
    """

    sigma: float
    assumes: ClassVar[str] = "Gaussian rewards; sigma well above their standard deviation"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Wang et al. (2020)"
    example_parameters: ClassVar = {"sigma": 1.0}

    def __post_init__(self) -> None:
        reward_scale("sigma", self.sigma)

    @property
    def params(self) -> ReBootParams:
        return ReBootParams(float(self.sigma))


@dataclass(frozen=True)
class MBE(BoundedPolicy):
    """Multiplier Bootstrap-based Exploration: the rewards, each with both bounds added, are reweighted at random.

    On the scale where the bounds are 0 and 1, with independent weights w_i, u_i, v_i ~ N(1, variance) drawn again at
    every step,

        index = sum_i (w_i X_i + scale u_i) / sum_i (w_i + scale u_i + scale v_i)

    if the sum of the weights is positive. If it is not, which is rare except for the first few rewards, the weights
    carry no information about the arm, and it is pulled: its index is infinite. Numerator and denominator are jointly
    normal, so two normal variables suffice to draw an index.

    >>> MBE()
    MBE(scale=0.5, variance=0.5, lower=0.0, upper=1.0)

    Reference: Wan, Wei, Kveton and Song, ICML 2023.
    """

    scale: float = 0.5
    variance: float = 0.5
    lower: float = 0.0
    upper: float = 1.0
    assumes: ClassVar[str] = "rewards between known bounds; a large enough scale"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Wan et al. (2023)"

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_number("scale", self.scale)
        positive_number("variance", self.variance)

    @property
    def params(self) -> MBEParams:
        return MBEParams(float(self.scale), math.sqrt(self.variance), float(self.lower), float(self.upper))


class Spread(NamedTuple):
    """A tally, its pulls and means, and the sum of squared distances of each arm's rewards from their mean."""

    pulls: Ints
    means: Floats
    tally: Tally
    squares: Floats


@implements(init, ReBootParams, MBEParams)
def new_spread(policy: Any, n_arms: int) -> Spread:
    """Return a state without pulls."""
    tally = new_tally(n_arms)
    return Spread(tally.pulls, tally.means, tally, np.zeros(n_arms))


@jit
def spread(state: Spread, arm: int, reward: float) -> None:
    """Count a reward and add its squared distance from the mean (Welford, 1962)."""
    before = state.means[arm]
    count(state.tally, arm, reward)
    if state.pulls[arm] > 1:
        state.squares[arm] += (reward - before) * (reward - state.means[arm])


@implements(update, PHEParams, random=False)
def count_rescaled(policy: PHEParams, state: Tally, arm: int, reward: float, rng: np.random.Generator) -> Tally:
    """Count the reward, rescaled to [0, 1]."""
    count(state, arm, rescaled(policy, reward))
    return state


@implements(update, ReBootParams, random=False)
def spread_reward(policy: ReBootParams, state: Spread, arm: int, reward: float, rng: np.random.Generator) -> Spread:
    """Count the reward and its squared distance from the mean."""
    spread(state, arm, reward)
    return state


@implements(update, MBEParams, random=False)
def spread_rescaled(policy: MBEParams, state: Spread, arm: int, reward: float, rng: np.random.Generator) -> Spread:
    """Count the reward, rescaled to [0, 1], and its squared distance from the mean."""
    spread(state, arm, rescaled(policy, reward))
    return state


@implements(index, PHEParams)
def perturbed_mean(
    policy: PHEParams, state: Tally, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the mean of rewards and fair coins. Sums of whole numbers are exact, so ties occur as they do on paper."""
    n = state.pulls[arm]
    m = pseudo_rewards(policy.a, n)
    return (state.sums[arm] + state.carry[arm] + binomial(m, 0.5, rng)) / (n + m)


@jit
def residual_deviation(policy: ReBootParams, state: Spread, arm: int) -> float:
    """Return the standard deviation of the index of ReBoot."""
    n = state.pulls[arm] + 2.0
    return math.sqrt(state.squares[arm] + 2.0 * n * policy.sigma * policy.sigma) / n


@implements(index, ReBootParams)
def residual_bootstrap(
    policy: ReBootParams, state: Spread, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the mean, shifted by reweighted residuals."""
    return state.means[arm] + residual_deviation(policy, state, arm) * rng.standard_normal()


class Ratio(NamedTuple):
    """The joint distribution of MBE's numerator A and denominator D, both divided by n.

    The fields are the mean and variance of D, the c for which D and the excess A - c D are independent, and the mean
    and variance of the excess. The index is c + excess / D.
    """

    weight: float
    weight_variance: float
    center: float
    excess: float
    excess_variance: float


@jit
def weighted_ratio(policy: MBEParams, n: int, mean: float, squares: float) -> Ratio:
    """Return the joint normal distribution of numerator and denominator.

    c = Cov(A, D) / Var D is the mean of all values with their weights squared. So A - c D has variance s^2 sum_j b_j^2
    (x_j - c)^2 over rewards (b = 1) and bounds (b = scale), and nothing cancels.
    """
    b, s = policy.scale, policy.deviation
    bb = b * b
    c = (mean + bb) / (1.0 + 2.0 * bb)
    return Ratio(
        1.0 + 2.0 * b,
        s * s * (1.0 + 2.0 * bb) / n,
        c,
        (mean - c) + b * (1.0 - 2.0 * c),
        s * s * (squares / n + (mean - c) * (mean - c) + bb * ((1.0 - c) * (1.0 - c) + c * c)) / n,
    )


@implements(index, MBEParams)
def multiplier_bootstrap(
    policy: MBEParams, state: Spread, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the ratio of two normal variables."""
    law = weighted_ratio(policy, state.pulls[arm], state.means[arm], state.squares[arm])
    weights = law.weight + math.sqrt(law.weight_variance) * rng.standard_normal()
    excess = law.excess + math.sqrt(law.excess_variance) * rng.standard_normal()
    return law.center + excess / weights if weights > 0.0 else math.inf


def perturbed_propensities(policy: PHE, state: Tally) -> Floats:
    """Return the propensities of PHE from binomial distributions on the grids of the arms."""
    totals = zip(state.pulls.tolist(), state.sums + state.carry, strict=True)
    return discrete_index_propensities([_perturbed(policy.a, n, total) for n, total in totals])


def _perturbed(a: float, n: int, total: float) -> Discrete:
    """Return the index distribution of PHE; values are computed as in the rule, so ties are the same."""
    m = pseudo_rewards.py_func(a, n)  # type: ignore[attr-defined]
    first, chances = binomial_law(m, 0.5)
    return Discrete((total + np.arange(first, first + chances.size)) / (n + m), chances)


def residual_propensities(policy: ReBoot, state: Spread) -> Floats:
    """Return the propensities of ReBoot from normal distributions around the means.

    The first mean serves as the origin, because digits would be lost far from 0.
    """
    deviation = residual_deviation.py_func  # type: ignore[attr-defined]
    return random_index_propensities(
        [
            gaussian(float(mean - state.means[0]), deviation(policy.params, state, arm))
            for arm, mean in enumerate(state.means)
        ]
    )


def multiplier_propensities(policy: MBE, state: Spread) -> Floats:
    """Return the propensities of MBE.

    Arms whose weights have no positive sum share the pull; if there are none, the arm with the largest ratio is pulled.
    """
    triples = zip(state.pulls.tolist(), state.means.tolist(), state.squares.tolist(), strict=True)
    ratios = [weighted_ratio.py_func(policy.params, *triple) for triple in triples]  # type: ignore[attr-defined]
    heights = np.array([ratio.weight / math.sqrt(ratio.weight_variance) for ratio in ratios])
    infinite = scipy.special.ndtr(-heights)
    lots = [Discrete(np.array([0.0, 1.0]), np.array([1.0 - p, p])) for p in infinite]
    *shares, none = discrete_argmax_probabilities([*lots, Discrete(np.array([0.5]), np.ones(1))])
    finite = argmax_probabilities([_angle(ratio, height) for ratio, height in zip(ratios, heights, strict=True)])
    return normalized(np.array(shares) + none * finite)


def _angle(ratio: Ratio, height: float) -> RandomVariable:
    """Return the distribution of arctan(A/D) given D > 0, a scale on which the Cauchy tails end at right angles."""
    middle = math.atan(ratio.center + ratio.excess / ratio.weight)
    distance = ratio.excess / ratio.weight
    deviation = math.sqrt(ratio.excess_variance + ratio.weight_variance * distance**2) / ratio.weight  # of A/D, about
    knots = np.array([-0.5 * math.pi, 0.5 * math.pi])
    tails = functools.partial(_angle_tails, ratio, height)
    return RandomVariable(middle, math.cos(middle) ** 2 * deviation, tails, knots)


def _angle_tails(ratio: Ratio, height: float, t: Floats) -> tuple[Floats, Floats]:
    """Return both tails at each angle: normal probabilities of wedges between D = 0 and L = A cos t - D sin t = 0.

    With h = E L / sd L and k = E D / sd D, Owen (1956) has P(L > 0, D > 0) = (Phi(h) + Phi(k)) / 2 - T(h, a) - T(k, b),
    less 1/2 if h < 0. Because the excess and D are independent, b does not depend on t. Written with Phi(-k), the only
    terms that cancel are as small as both tails.
    """
    t = np.clip(t, -0.5 * math.pi, 0.5 * math.pi)
    cos, sin = np.cos(t), np.sin(t)
    slope = ratio.center * cos - sin
    mean = ratio.excess * cos + ratio.weight * slope
    h = mean / np.sqrt(ratio.excess_variance * cos**2 + ratio.weight_variance * slope**2)
    of_excess = math.sqrt(ratio.excess_variance)
    a = height * of_excess * cos - math.sqrt(ratio.weight_variance) * slope * ratio.excess / of_excess
    with np.errstate(divide="ignore"):
        owen = scipy.special.owens_t(h, a / mean) + scipy.special.owens_t(height, ratio.excess / of_excess / height)
    beyond, whole = scipy.special.ndtr(-height), scipy.special.ndtr(height)
    rarer = (
        np.maximum(0.5 * scipy.special.ndtr(-np.abs(h)) - 0.5 * beyond + np.where(h < 0.0, -owen, owen), 0.0) / whole
    )
    other = np.maximum(1.0 - rarer, 0.0)
    return np.where(h < 0.0, other, rarer), np.where(h < 0.0, rarer, other)


register(PHE, probability=perturbed_propensities)
register(ReBoot, probability=residual_propensities)
register(MBE, probability=multiplier_propensities)
