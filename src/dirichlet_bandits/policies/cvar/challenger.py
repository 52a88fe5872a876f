"""A ceiling of the probability that an arm's index reaches a threshold q, and draws of the index given that it does.

An index rarely reaches a threshold far above the arm's rewards, so drawing indices until one does would waste nearly
all draws. Instead, we draw from a tilted distribution, under which the index reaches the threshold often, and keep each
draw with a probability that corrects the tilt. The normalizing constant of the tilted distribution is a ceiling of the
probability. For example, if the ceiling is 0.02 and the true probability is 0.01, half of the tilted draws are kept.

With m rewards, n ~ Binomial(m, level) and the values in ascending order, followed by the bound, the index is the mean
of the n + 1 smallest values, with exponentials E_i over their sum as weights. With a_i = x_i - q, the index reaches q
if S = E_1 a_1 + ... + E_{n+1} a_{n+1} >= 0.

1. The ceiling. For every lam >= 0 below 1/a_{n+1}

       P(S >= 0 | n) <= E(exp(lam S) | n) = prod_{i <= n+1} 1/(1 - lam a_i)        (Chernoff),

   and S cannot be positive unless a_{n+1} is. The ceiling is the sum over n of P(n) times this bound. The n outside of
   the ordered part of the rewards are rare, and count with a bound of 1.
2. The draw. Draw n in proportion to its term, and E_i at rates 1 - lam a_i: this is the distribution of n and the E_i
   with the density exp(lam S)/ceiling. Keep the draw with probability exp(-lam S) if S >= 0. A draw that is kept has
   the distribution of the index given that it reaches q, and a draw is kept with probability P(index >= q)/ceiling.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.numerics.draws import log_chance, odds_of
from dirichlet_bandits.policies.cvar.ordering import DEVIATIONS, IndexDrafts, gathered, place_rewards
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.types import Floats

_STEPS = 4  # of Newton's method at most: every lam gives a ceiling
_GAIN = 0.1  # in the logarithm of the ceiling: less is not worth another step
_CEILING_MOST = 0.3  # a clock that rings more often is not worth its while
_NEAR_POLE = 0.98  # the largest lam, in units of 1/max a_i

CHALLENGER = np.dtype(
    [
        ("steps", np.int64),  # steps before the clock rings; -1 without a clock
        ("pulls", np.int64),  # the rewards for which the rest holds
        ("threshold", np.float64),
        ("ceiling", np.float64),
        ("first", np.int64),  # n from here
        ("last", np.int64),  # to here count with their own bounds,
        ("rare", np.float64),  # all others, with this probability, with a bound of 1
        ("start", np.int64),  # the first n that can reach the threshold
        ("tilt", np.float64),  # lam
        ("total", np.float64),  # sum of the terms in units of the first one
    ]
)


@jit
def value_at(x: Floats, upper: float, i: int) -> float:
    """Return the i-th value, where the bound comes after the rewards."""
    return x[i] if i < x.size else upper


@jit
def set_numbers(policy: BCVTSParams, size: int, part: Any, challenger: Any) -> None:
    """Set the range of n that have their own bounds, and the probability of all others."""
    level, odds = policy.level, odds_of(policy.level)
    usual = int(level * size - DEVIATIONS * math.sqrt(level * (1.0 - level) * size)) - 2
    first = max(part.low, usual, 0) if level < 1.0 else size
    last = size if part.end == size else part.end - 1
    p, inside = math.exp(log_chance(size, level, first)), 0.0
    for n in range(first, last + 1):
        inside += p
        p *= (size - n) * odds / (n + 1.0)
    challenger.first, challenger.last, challenger.rare = first, last, max(1.0 - inside, 0.0)


@jit
def terms(
    x: Floats, upper: float, odds: float, first: int, last: int, q: float, lam: float
) -> tuple[float, float, float, float]:
    """Return the sum of the terms of the ceiling for first <= n <= last.

    The sum is in units of the first term. Also return the logarithm of the first term's product, and the slope and
    curvature of the logarithm of the sum.
    """
    product, height, slope, squares = 1.0, 0.0, 0.0, 0.0
    for i in range(first + 1):
        a = value_at(x, upper, i) - q
        left = 1.0 - lam * a
        product *= left
        if not 1e-100 < product < 1e100:
            height += math.log(product)
            product = 1.0
        share = a / left
        slope += share
        squares += share * share
    term = total = 1.0
    mean, spread = slope, squares + slope * slope
    for n in range(first + 1, last + 1):
        a = value_at(x, upper, n) - q
        left = 1.0 - lam * a
        term *= (x.size - n + 1.0) * odds / (n * left)
        share = a / left
        slope += share
        squares += share * share
        total += term
        mean += term * slope
        spread += term * (squares + slope * slope)
    mean /= total
    return total, -height - math.log(product), mean, spread / total - mean * mean


@shared
def set_clock(
    policy: BCVTSParams,
    state: History,
    samples: IndexDrafts,
    challengers: Any,
    arm: int,
    threshold: float,
    rng: np.random.Generator,
) -> None:
    """Give the arm a clock for the threshold, if its index reaches the threshold rarely.

    A few steps toward the best lam, starting from the previous lam, make the ceiling low.
    """
    challenger = challengers[arm]
    place_rewards(policy, state, samples, arm)
    x, upper, odds = rewards(state, arm), policy.upper, odds_of(policy.level)
    set_numbers(policy, x.size, samples.parts[arm], challenger)
    start, last = challenger.first, challenger.last
    while start <= last and value_at(x, upper, start) <= threshold:
        start += 1
    challenger.start, challenger.threshold, challenger.pulls = start, threshold, x.size
    log_p, lam, best = log_chance(x.size, policy.level, start), challenger.tilt, math.inf if start <= last else 0.0
    most = _NEAR_POLE / (value_at(x, upper, last) - threshold)
    for _ in range(_STEPS if start <= last else 0):
        lam = min(lam, most)
        total, log_first, slope, curvature = terms(x, upper, odds, start, last, threshold, lam)
        bound = math.exp(log_p + log_first) * total
        if bound < best:
            best, challenger.tilt, challenger.total = bound, lam, total
        step = -slope / curvature if curvature > 0.0 else 0.0
        if not abs(step * slope) > 2.0 * _GAIN or (lam == most and step > 0.0) or (lam == 0.0 and step < 0.0):
            break
        lam = max(lam + step, 0.2 * lam)
    challenger.ceiling = challenger.rare + best  # step 1
    challenger.steps = geometric(challenger.ceiling, rng) if challenger.ceiling < _CEILING_MOST else -1


@jit
def rare_number(policy: BCVTSParams, size: int, challenger: Any, u: float) -> int:
    """Return an n outside the range, by inversion from u, which is below the probability of all such n."""
    odds, n = odds_of(policy.level), challenger.first
    p = math.exp(log_chance(size, policy.level, n))
    while n > 0 and p > 0.0:
        p *= n / ((size - n + 1.0) * odds)
        n -= 1
        u -= p
        if u < 0.0:
            return n
    n = challenger.last
    p = math.exp(log_chance(size, policy.level, n))
    while n < size and u >= 0.0:
        p *= (size - n) * odds / (n + 1.0)
        n += 1
        u -= p
    return n


@jit
def tilted_number(policy: BCVTSParams, x: Floats, challenger: Any, u: float) -> int:
    """Return an n drawn in proportion to its term, by inversion from u, a share of their sum."""
    odds, n, term = odds_of(policy.level), challenger.start, 1.0
    u *= challenger.total
    while n < challenger.last:
        u -= term
        if u < 0.0:
            break
        n += 1
        a = value_at(x, policy.upper, n) - challenger.threshold
        term *= (x.size - n + 1.0) * odds / (n * (1.0 - challenger.tilt * a))
    return n


@shared
def index_above(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, arm: int, rng: np.random.Generator
) -> float:
    """Draw the arm's index given that it reaches the threshold; NaN if the draw is not kept."""
    challenger = challengers[arm]
    x, q, least, lam = rewards(state, arm), challenger.threshold, state.lows[arm], 0.0
    u = rng.random() * challenger.ceiling
    if u < challenger.rare:
        n = rare_number(policy, x.size, challenger, u)
        x = gathered(x, samples.parts[arm], n + 1)
    else:
        lam = challenger.tilt
        n = tilted_number(policy, x, challenger, (u - challenger.rare) / (challenger.ceiling - challenger.rare))
    weights = excess = 0.0
    for i in range(n + 1):
        value = value_at(x, policy.upper, i)
        weight = rng.standard_exponential() / (1.0 - lam * (value - q))
        weights += weight
        excess += weight * (value - least)
    v = least + excess / weights
    return v if v >= q and rng.random() < math.exp(-lam * weights * (v - q)) else math.nan  # step 2
