"""Which arm Thompson Sampling pulls: the laws of the posterior draws, and who is the largest.

Posteriors are taken on a scale on which their distribution functions are smooth over the whole line and keep
their digits in both tails: log-odds for Beta, the logarithm for Gamma and inverse Gamma.
"""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.compiler import entry_point
from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.numerics.argmax import Variable, constant, gaussian
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.thompson.rule import BinarizedTS, ThompsonSampling, coin_posterior, posterior
from dirichlet_bandits.types import Floats

# As Python: too small to be worth compiling in every process that asks.
_posterior: Any = posterior.py_func  # type: ignore[attr-defined]
_coin_posterior: Any = coin_posterior.py_func  # type: ignore[attr-defined]

_LARGEST_LOG_ODDS: Final = 700.0  # exp does not overflow
_NO_CHANCE: Final = 1e-300


def thompson_propensities(policy: ThompsonSampling, state: Tally) -> Floats:
    """Posteriors of the means."""
    law = {"bernoulli": _beta, "gaussian": gaussian, "exponential": _inverse_gamma, "poisson": _gamma}[policy.family]
    origin = state.means[0] if policy.family == "gaussian" else 0.0  # a location: far from 0 digits would be lost
    pairs = zip(state.pulls, state.means - origin, strict=True)
    return random_index_propensities([law(*_posterior(policy.params, float(n), float(mean))) for n, mean in pairs])


def coin_propensities(policy: BinarizedTS, state: Tally) -> Floats:
    """Posteriors after the coins that were tossed."""
    pairs = zip(state.pulls, state.sums, strict=True)
    return random_index_propensities([_beta(*_coin_posterior(int(n), float(heads))) for n, heads in pairs])


def expected_coin_propensities(policy: BinarizedTS, histories: Sequence[Floats]) -> Floats:
    """Averaged over the coins: the heads of an arm are a sum of independent coins, its index a mixture of Betas."""
    return random_index_propensities([_mixture((x - policy.lower) / (policy.upper - policy.lower)) for x in histories])


def _beta(a: float, b: float) -> Variable:
    """The log-odds of a Beta variable: mean and variance are sums of digamma and trigamma values."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        # The smaller of x and 1 - x keeps its digits; the law of 1 - x is Beta with its shapes exchanged.
        low = v <= 0.0
        first, second = np.where(low, a, b), np.where(low, b, a)
        x = scipy.special.expit(-np.abs(v))
        near, far = scipy.special.betainc(first, second, x), scipy.special.betaincc(first, second, x)
        return np.where(low, near, far), np.where(low, far, near)

    width = math.sqrt(scipy.special.polygamma(1, a) + scipy.special.polygamma(1, b))
    return Variable(float(scipy.special.digamma(a) - scipy.special.digamma(b)), width, tails)


def _gamma(shape: float, rate: float) -> Variable:
    """log(G/rate), G ~ Gamma(shape)."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        with np.errstate(over="ignore"):
            g = rate * np.exp(v)
        low = g < shape  # the smaller tail keeps its digits; the other follows from it
        below = np.where(low, scipy.special.gammainc(shape, np.where(low, g, 0.0)), 0.0)
        above = np.where(low, 1.0 - below, scipy.special.gammaincc(shape, np.where(low, np.inf, g)))
        return np.where(low, below, 1.0 - above), above

    return Variable(
        float(scipy.special.digamma(shape)) - math.log(rate), math.sqrt(scipy.special.polygamma(1, shape)), tails
    )


def _inverse_gamma(total: float, shape: float) -> Variable:
    """log(total/G), G ~ Gamma(shape); a total of 0 gives the index 0 whatever is drawn."""
    if total == 0.0:
        return constant(-math.inf)
    mirrored = _gamma(shape, total)

    def tails(v: Floats) -> tuple[Floats, Floats]:
        below, above = mirrored.tails(-v)
        return above, below

    return Variable(-mirrored.centre, mirrored.width, tails)


def _mixture(coins: Floats) -> Variable:
    """Beta posteriors mixed over the number H of heads of coins with these probabilities.

    A Beta(1 + h, 1 + n - h) variable is at most x when a binomial B(n + 1, x) one exceeds h, so the mixture is
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
    """Probabilities of 0, 1, ..., n heads (Poisson-binomial): laws of halves convolved, halves of halves first.

    >>> heads_law(np.array([0.5, 0.5, 1.0])).round(12)
    array([0.  , 0.25, 0.5 , 0.25])

    Reference: Hong (2013), On computing the distribution function for the Poisson binomial distribution.
    """
    laws = np.column_stack([1.0 - coins, coins])
    while len(laws) > 1:
        if len(laws) % 2:
            laws = np.vstack([laws, np.eye(1, laws.shape[1])])  # a law without heads
        laws = np.maximum(scipy.signal.fftconvolve(laws[::2], laws[1::2], axes=1), 0.0)
    return np.asarray(laws[0, : coins.size + 1])


@entry_point
def _mix(fewer: Floats, more: Floats, log_odds: Floats, below: Floats, above: Floats) -> None:
    """Both tails of the mixture at each log-odds; an entry point."""
    n = fewer.size - 1  # of the binomial law, whose probabilities follow from each other, the mode being 1
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
