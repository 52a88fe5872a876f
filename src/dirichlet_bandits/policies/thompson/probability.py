"""Propensities of Thompson Sampling: the distributions of the posterior draws, and which is the largest.

Posteriors are transformed to a scale on which their densities are log-concave and their distribution functions are
smooth over the whole line: log-odds for Beta, the logarithm for Gamma and inverse Gamma.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.compiler import Direct, entry_point
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.numerics.argmax import RandomVariable
from dirichlet_bandits.numerics.bells import (
    LOG_GAMMA,
    LOG_INVERSE_GAMMA,
    LOGIT_BETA,
    NORMAL,
    log_concave_argmax,
)
from dirichlet_bandits.numerics.divergences import Family
from dirichlet_bandits.policies.index import normalized, random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.thompson.rule import (
    BinarizedTS,
    ThompsonParams,
    ThompsonSampling,
    coin_posterior,
    posterior,
)
from dirichlet_bandits.types import Floats

# Plain Python: too small to be worth compiling in every process that calls it.
_coin_posterior: Any = coin_posterior.py_func  # type: ignore[attr-defined]

_LARGEST_LOG_ODDS: Final = 700.0  # exp does not overflow
_NO_CHANCE: Final = 1e-300


def thompson_propensities(policy: ThompsonSampling, state: Tally) -> Floats:
    """Return the probability that each posterior draw of a mean is the largest."""
    chances = np.empty(state.pulls.size)
    _of_posteriors(policy.params, state, chances)
    return normalized(chances)


class DirectPosteriors:
    """The same as :func:`thompson_propensities`, for one policy and growing states."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._params = policy.params
        self._write = Direct(lambda: _of_posteriors)
        self._chances = np.empty(n_arms)

    def propensities(self, state: Tally) -> Floats:
        """Return the probability that each posterior draw is the largest."""
        self._write(self._params, state, self._chances)
        return normalized(self._chances)

    def without_compiling(self, state: Tally) -> Floats | None:
        """Return the same, or None if this would compile something."""
        return self.propensities(state) if self._write.is_compiled else None


def coin_propensities(policy: BinarizedTS, state: Tally) -> Floats:
    """Return the propensities given the coins that were tossed."""
    return normalized(_of_coins(state))


@entry_point
def _of_posteriors(policy: ThompsonParams, state: Tally, chances: Floats) -> None:
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
