"""Thompson Sampling in one-parameter families, and its binarized form for bounded rewards.

For propensities, posteriors are transformed to a scale on which their densities are log-concave and their distribution
functions are smooth over the whole line: log-odds for Beta, the logarithm for Gamma and inverse Gamma.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.engine.tally import Tally, count
from dirichlet_bandits.engine.verbs import implements, index, specialized, update
from dirichlet_bandits.numerics.argmax import RandomVariable
from dirichlet_bandits.numerics.bells import LOG_GAMMA, LOG_INVERSE_GAMMA, LOGIT_BETA, NORMAL, log_concave_argmax
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.policies.families import BoundedPolicy, FamilyPolicy
from dirichlet_bandits.policies.index import DirectRule, normalized, random_index_propensities
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.weighted_rewards import weighted_tally
from dirichlet_bandits.types import Floats


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


# Plain Python: too small to be worth compiling in every process that calls it.
_coin_posterior: Any = coin_posterior.py_func  # type: ignore[attr-defined]

_LARGEST_LOG_ODDS: Final = 700.0  # exp does not overflow

_NO_CHANCE: Final = 1e-300


def thompson_propensities(policy: ThompsonSampling, state: Tally) -> Floats:
    """Return the probability that each posterior draw of a mean is the largest."""
    chances = np.empty(state.pulls.size)
    specialized(write_posteriors, policy.params)(policy.params, state, chances)
    return normalized(chances)


def coin_propensities(policy: BinarizedTS, state: Tally) -> Floats:
    """Return the propensities given the coins that were tossed."""
    return normalized(_of_coins(state))


def write_posteriors(policy: ThompsonParams, state: Tally, chances: Floats) -> None:
    """Write the probability that each posterior draw is the largest to ``chances``; an entry point."""
    n = state.pulls.size
    first, second = np.empty(n), np.empty(n)
    for arm in range(n):
        # A location: far from 0 digits would be lost.
        origin = state.means[0] if policy.family == Family.GAUSSIAN else 0.0
        first[arm], second[arm] = posterior(policy, float(state.pulls[arm]), state.means[arm] - origin)
    if policy.family == Family.BERNOULLI:
        chances[:] = log_concave_argmax(LOGIT_BETA, first, second)
    elif policy.family == Family.GAUSSIAN:
        chances[:] = log_concave_argmax(NORMAL, first, second)
    elif policy.family == Family.POISSON:
        chances[:] = log_concave_argmax(LOG_GAMMA, first, second)
    else:
        positive = np.flatnonzero(first > 0.0)  # a total of 0 gives the index 0 whatever is drawn
        chances[:] = 0.0 if positive.size > 0 else 1.0 / n
        if positive.size > 0:
            chances[positive] = log_concave_argmax(LOG_INVERSE_GAMMA, first[positive], second[positive])


@entry_point
def _of_coins(state: Tally) -> Floats:
    """Return the propensities from posteriors of coins; an entry point."""
    n = state.pulls.size
    heads, tails = np.empty(n), np.empty(n)
    for arm in range(n):
        heads[arm], tails[arm] = coin_posterior(state.pulls[arm], state.sums[arm])
    return log_concave_argmax(LOGIT_BETA, heads, tails)


def expected_coin_propensities(policy: BinarizedTS, histories: Sequence[Floats]) -> Floats:
    """Return the propensities averaged over the coins.

    The number of heads of an arm is a sum of independent coins, so its index is a mixture of Beta variables.
    """
    return random_index_propensities([_mixture((x - policy.lower) / (policy.upper - policy.lower)) for x in histories])


def _beta(a: float, b: float) -> RandomVariable:
    """Return the log-odds of a Beta variable; mean and variance are sums of digamma and trigamma values."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        # The smaller of x and 1 - x keeps its digits; 1 - x is Beta with the shapes exchanged.
        low = v <= 0.0
        first, second = np.where(low, a, b), np.where(low, b, a)
        x = scipy.special.expit(-np.abs(v))
        near, far = scipy.special.betainc(first, second, x), scipy.special.betaincc(first, second, x)
        return np.where(low, near, far), np.where(low, far, near)

    width = math.sqrt(scipy.special.polygamma(1, a) + scipy.special.polygamma(1, b))
    return RandomVariable(float(scipy.special.digamma(a) - scipy.special.digamma(b)), width, tails)


def _mixture(coins: Floats) -> RandomVariable:
    """Return the Beta posteriors mixed over the number H of heads of coins with these probabilities.

    A Beta(1 + h, 1 + n - h) variable is at most x when a binomial B(n + 1, x) variable exceeds h, so the mixture is
    P(B > H) = sum over j of P(B = j) P(H < j).
    """
    chances = heads_law(coins)
    fewer = np.append(0.0, np.minimum(np.cumsum(chances), 1.0))  # P(H < j), j = 0 .. n + 1
    more = np.append(np.minimum(np.cumsum(chances[::-1]), 1.0)[::-1], 0.0)  # P(H >= j)

    def tails(v: Floats) -> tuple[Floats, Floats]:
        below, above = np.empty(v.shape), np.empty(v.shape)
        _mix(fewer, more, v.ravel(), below.ravel(), above.ravel())
        return below, above

    mean = _beta(*_coin_posterior(coins.size, float(coins.sum())))
    # The log-odds move by about width^2 with each head.
    return mean._replace(width=mean.width * math.sqrt(1.0 + (coins @ (1.0 - coins)) * mean.width**2), tails=tails)


def heads_law(coins: Floats) -> Floats:
    """Return the probabilities of 0, 1, ..., n heads (Poisson-binomial), by convolving the halves recursively.

    >>> heads_law(np.array([0.5, 0.5, 1.0])).round(12)
    array([0.  , 0.25, 0.5 , 0.25])

    Reference: Hong (2013), On computing the distribution function for the Poisson binomial distribution.
    """
    laws = np.column_stack([1.0 - coins, coins])
    while len(laws) > 1:
        if len(laws) % 2:
            laws = np.vstack([laws, np.eye(1, laws.shape[1])])  # a distribution without heads
        laws = np.maximum(scipy.signal.fftconvolve(laws[::2], laws[1::2], axes=1), 0.0)
    return np.asarray(laws[0, : coins.size + 1])


@entry_point
def _mix(fewer: Floats, more: Floats, log_odds: Floats, below: Floats, above: Floats) -> None:
    """Write both tails of the mixture at each log-odds; an entry point."""
    n = fewer.size - 1  # of the binomial, whose probabilities follow from each other, starting with 1 at the mode
    for i in range(log_odds.size):
        odds = np.exp(min(log_odds[i], _LARGEST_LOG_ODDS))
        mode = int(min((n + 1.0) * (odds / (1.0 + odds)), n))
        low = high = total = 0.0
        for step in (1, -1):
            j, chance = mode, 1.0
            if step < 0:
                chance = mode / (n - mode + 1.0) / odds
                j -= 1
            while 0 <= j <= n and chance > _NO_CHANCE:
                low += chance * fewer[j]
                high += chance * more[j]
                total += chance
                chance *= (n - j) / (j + 1.0) * odds if step > 0 else j / (n - j + 1.0) / odds
                j += step
        below[i], above[i] = low / total, high / total


direct = functools.partial(DirectRule, write=write_posteriors, finish=normalized)
register(ThompsonSampling, probability=thompson_propensities, incremental=direct, weighted=weighted_tally)
register(BinarizedTS, probability=coin_propensities, from_histories=expected_coin_propensities)
