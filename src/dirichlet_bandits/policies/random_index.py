"""Propensities of policies whose index is drawn at random: the laws of the indices, and who is the largest.

Posteriors are taken on a scale on which their distribution functions are smooth over the whole line and keep
their digits in both tails: log-odds for Beta, the logarithm for Gamma and inverse Gamma.
"""

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from scipy import signal, special

from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.numerics.condense import condense
from dirichlet_bandits.numerics.contour import TOTAL, build, evaluate, make
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.jit import entry, fingerprint, jit
from dirichlet_bandits.numerics.largest import Tails, Variable, chances_of_largest, constant
from dirichlet_bandits.numerics.saddle import saddle
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR, PROPENSITY_DEFECT
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.npts import NPTS
from dirichlet_bandits.policies.propensity import propensity_of
from dirichlet_bandits.policies.tally import Tally
from dirichlet_bandits.policies.thompson import BinarizedTS, ThompsonSampling, coin_posterior, posterior

_LARGEST_LOG_ODDS: Final = 700.0  # exp does not overflow
_NO_CHANCE: Final = 1e-300
_UNDERFLOW: Final = -746.0  # the logarithm of what is 0 in double precision
_FEW: Final = 16  # with fewer distinct values the index's law is a spline with knots that matter


def shares(indices: Sequence[Variable]) -> Floats:
    """Probability that each index is the largest. A sum that is not 1 within 1e-9 is left as it is, with a warning."""
    chances = chances_of_largest(indices)
    total = float(chances.sum())
    if not abs(total - 1.0) <= PROPENSITY_DEFECT:
        warnings.warn(f"propensities sum to 1 {total - 1.0:+.1e}: their error is of this size", stacklevel=2)
        return chances
    return chances / total


@propensity_of(ThompsonSampling)
def thompson_propensities(policy: ThompsonSampling, state: Tally) -> Floats:
    """Posteriors of the means."""
    law = {"bernoulli": _beta, "gaussian": _normal, "exponential": _inverse_gamma, "poisson": _gamma}[policy.family]
    origin = state.means[0] if policy.family == "gaussian" else 0.0  # a location: far from 0 digits would be lost
    pairs = zip(state.pulls, state.means - origin, strict=True)
    return shares([law(*posterior(policy.params, int(n), float(mean))) for n, mean in pairs])


@propensity_of(BinarizedTS)
def coin_propensities(policy: BinarizedTS, state: Tally) -> Floats:
    """Posteriors after the coins that were tossed."""
    pairs = zip(state.pulls, state.sums, strict=True)
    return shares([_beta(*coin_posterior(int(n), float(heads))) for n, heads in pairs])


@propensity_of(BinarizedTS, from_histories=True)
def expected_coin_propensities(policy: BinarizedTS, histories: Sequence[Floats]) -> Floats:
    """Averaged over the coins: the heads of an arm are a sum of independent coins, its index a mixture of Betas."""
    return shares([_mixture((x - policy.lower) / (policy.upper - policy.lower)) for x in histories])


@propensity_of(NPTS)
def resampling_propensities(policy: NPTS, state: History) -> Floats:
    """The index exceeds v with the crossing probability of the rewards and the bound at v."""
    every, upper = moved_rewards(state, policy.upper)
    return shares([resampled_index(*condensed(x, np.empty(0)), upper) for x in every])


def moved_rewards(state: History, upper: float) -> tuple[list[Floats], float]:
    """The rewards of all arms and the bound, less the very first reward: far from 0 digits would be lost."""
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = every[0][0]
    return [x - origin for x in every], float(upper - origin)


def _normal(mean: float, deviation: float) -> Variable:
    def tails(v: Floats) -> tuple[Floats, Floats]:
        z = (v - mean) / deviation
        return special.ndtr(z), special.ndtr(-z)

    return Variable(mean, deviation, tails)


def _beta(a: float, b: float) -> Variable:
    """The log-odds of a Beta variable: mean and variance are sums of digamma and trigamma values."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        # The smaller of x and 1 - x keeps its digits; the law of 1 - x is Beta with its shapes exchanged.
        low = v <= 0.0
        first, second = np.where(low, a, b), np.where(low, b, a)
        x = special.expit(-np.abs(v))
        near, far = special.betainc(first, second, x), special.betaincc(first, second, x)
        return np.where(low, near, far), np.where(low, far, near)

    width = math.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    return Variable(float(special.digamma(a) - special.digamma(b)), width, tails)


def _gamma(shape: float, rate: float) -> Variable:
    """log(G/rate), G ~ Gamma(shape)."""

    def tails(v: Floats) -> tuple[Floats, Floats]:
        with np.errstate(over="ignore"):
            g = rate * np.exp(v)
        low = g < shape  # the smaller tail keeps its digits; the other follows from it
        below = np.where(low, special.gammainc(shape, np.where(low, g, 0.0)), 0.0)
        above = np.where(low, 1.0 - below, special.gammaincc(shape, np.where(low, np.inf, g)))
        return np.where(low, below, 1.0 - above), above

    return Variable(float(special.digamma(shape)) - math.log(rate), math.sqrt(special.polygamma(1, shape)), tails)


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

    mean = _beta(*coin_posterior(coins.size, float(coins.sum())))
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
        laws = np.maximum(signal.fftconvolve(laws[::2], laws[1::2], axes=1), 0.0)
    return np.asarray(laws[0, : coins.size + 1])


def resampled_index(points: Floats, weights: Floats, upper: float) -> Variable:
    """The index of NPTS for a sample, condensed if it is large."""
    knots = np.unique(points)
    points, weights = np.append(points, upper), np.append(weights, 1.0)
    if knots[0] == upper:
        return constant(upper)
    total = weights.sum()
    centre = float(weights @ points / total)
    width = math.sqrt(weights @ (points - centre) ** 2 / total / (total + 1.0))
    if knots.size > _FEW:
        knots = knots[:1]  # smooth elsewhere: at a value the law has as many derivatives as there are others
    tails: Tails = functools.partial(_crossing_tails, points, weights, centre)
    # Logarithms of n factors near 1, each about 1/sqrt(n) from it, are summed and cancel.
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return Variable(centre, width, tails, np.append(knots, upper), rounding)


def _crossing_tails(points: Floats, weights: Floats, centre: float, v: Floats) -> tuple[Floats, Floats]:
    log_above, log_below = np.empty(v.shape), np.empty(v.shape)
    _fill(points, weights, centre, np.ascontiguousarray(v), log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@jit
def log_ceiling(offsets: Floats, weights: Floats) -> float:
    """Chernoff's bound: log P(sum_i a_i G_i >= 0) <= -sum_i w_i log(1 - s a_i) for every s in [0, 1/max a]."""
    top = offsets.max()
    if top <= 0.0:
        return -np.inf if top < 0.0 else 0.0
    e, _ = saddle(offsets, weights, top)
    return -(weights @ np.log1p(-offsets / (top * (1.0 + e))))


def _build(stamp: str) -> tuple[Callable[..., None], Callable[..., None], Callable[..., tuple[Floats, Floats]]]:
    @entry
    def fill(points: Floats, weights: Floats, centre: float, v: Floats, log_below: Floats, log_above: Floats) -> None:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        contours = make(1)
        n, held = points.size - 1, 0.0
        for row in range(v.shape[0]):
            # Of the event or of its complement, whichever is the rarer; one contour serves a row, and maybe the next.
            first, last, bound = v[row, 0], v[row, -1], points[n]
            sign = 1.0 if 0.5 * (first + last) > centre else -1.0
            if log_ceiling(sign * (points - (first if sign > 0.0 else last)), weights) < _UNDERFLOW:
                log_above[row], log_below[row] = (-np.inf, 0.0) if sign > 0.0 else (0.0, -np.inf)
                continue
            at_first = evaluate(contours, 0, sign * first, sign * bound)[1]
            at_last = evaluate(contours, 0, sign * last, sign * bound)[1]
            if sign != held or not max(at_first, at_last) <= CONTOUR_ERROR:
                build(contours, 0, sign * points[:n], weights[:n], sign * bound, sign * 0.5 * (first + last))
                contours.scalars[0, TOTAL] = np.round(contours.scalars[0, TOTAL])  # a whole power is the cheapest
                held = sign
            for j in range(v.shape[1]):
                log_p, error = evaluate(contours, 0, sign * v[row, j], sign * bound)
                if not error <= CONTOUR_ERROR:
                    log_p = log_crossing(sign * (points - v[row, j]), weights)
                rest = np.log(-np.expm1(min(log_p, 0.0)))
                log_above[row, j] = log_p if sign > 0.0 else rest
                log_below[row, j] = rest if sign > 0.0 else log_p

    @entry
    def mix(fewer: Floats, more: Floats, log_odds: Floats, below: Floats, above: Floats) -> None:
        stamp  # noqa: B018
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

    @entry
    def condensed(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
        stamp  # noqa: B018
        return condense(values, weights)

    return fill, mix, condensed


_fill, _mix, condensed = _build(fingerprint())
