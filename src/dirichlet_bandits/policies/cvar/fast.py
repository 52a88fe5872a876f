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

B-CVTS without the draws that cannot matter.

At every step, the plain loop draws an index for every arm, from about level times as many exponentials as the arm has
rewards. The shortcut saves most of these draws in two ways:

* the index of an arm is drawn only as far as the comparison requires, mostly from a few variables (``ordering.py``);
* at most steps, an arm far below the best one is not drawn at all.

For example, if an arm's index reaches a threshold below the best arm with probability at most 0.01, the arm is examined
once in a hundred steps on average. Why the second has the distribution of the plain loop:

1. Let q be a threshold of the arm. At every step, a coin shows heads with probability U, a ceiling of P(index >= q). If
   it does, a draw from the tilted distribution is kept with probability P(index >= q)/U, and then has the distribution
   of the index given that it reaches q. So the index reaches q with its own probability, and if it
   does, it is known.
2. If it does not reach q and another index is at least q, the arm is not pulled. Otherwise, the arm's index is drawn
   repeatedly until it is below q.
3. Until the arm is pulled, U stays the same, and the coins are independent of each other and of everything else. So
   drawing the number of the first head tosses these coins in advance.
4. A threshold is set and dropped based on the rewards so far, and never on the coins ahead. If it is dropped, these are
   tossed again, which has the same distribution because nothing has depended on them.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.repeated_pulls import pull_into_place, with_places
from dirichlet_bandits.engine.run import Run, ended
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of, mean_of, sum_of
from dirichlet_bandits.numerics.draws import log_chance, odds_of
from dirichlet_bandits.numerics.resampling import squares_about
from dirichlet_bandits.policies.cvar.ordering import (
    DEVIATIONS,
    IndexDrafts,
    draft_index,
    finish_index,
    gathered,
    new_samples,
    place_rewards,
)
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.policies.index import larger
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


_BELOW = 1.5  # a threshold is so many standard deviations below the best arm,
_ABOVE = 0.7  # so many above the arm itself, and is given up when the best arm has come so near to it
_PAUSE, _SHARE = 24, 64  # steps between two surveys: so many, or this share of all pulls


@jit
def estimate(policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int) -> tuple[float, float]:
    """Return the CVaR of the arm's rewards, and the approximate variance of the index."""
    place_rewards(policy, state, samples, arm)
    x, part, level = rewards(state, arm), samples.parts[arm], policy.level
    rank = min(max(int(level * x.size), part.low), part.end - 1)
    share = level * x.size
    mean = rank * (x[rank] - mean_of(x[:rank])) / share if rank > 0 else 0.0
    spread = squares_about(x[:rank], x[rank]) / (level * share)
    least = (policy.upper - state.lows[arm]) / x.size  # the index of equal rewards varies too, with the bound's weight
    return x[rank] - mean, max(spread - mean * mean, least * least) / x.size


@shared
def survey(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, rng: np.random.Generator
) -> None:
    """Set thresholds for arms far below the best one, and drop those that the best arm has come near."""
    state, samples, challengers, rng = borrowed(state), borrowed(samples), borrowed(challengers), borrowed(rng)
    values, variances = np.empty(challengers.size), np.empty(challengers.size)
    for arm in range(challengers.size):
        values[arm], variances[arm] = estimate(policy, state, samples, arm)
    best = argmax_of(values)
    deviation = math.sqrt(variances[best])
    for arm in range(challengers.size):
        challenger = challengers[arm]
        if arm == best or challenger.threshold > values[best] - _ABOVE * deviation:  # step 4
            challenger.steps = -1
        threshold = values[best] - _BELOW * deviation
        if challenger.steps < 0 and arm != best and threshold - values[arm] > _ABOVE * math.sqrt(variances[arm]):
            set_clock(policy, state, samples, challengers, arm, threshold, rng)


@jit_inline
def tick(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, arm: int, rng: np.random.Generator
) -> None:
    """Advance the arm's clock by one step; if it rings, draw the index given that it reaches the threshold."""
    challenger, draft = challengers[arm], samples.drafts[arm]
    if challenger.pulls != state.pulls[arm]:
        set_clock(policy, state, samples, challengers, arm, challenger.threshold, rng)
    elif challenger.steps == 0:
        challenger.steps = geometric(challenger.ceiling, rng)  # step 3
    if challenger.steps < 0:
        return
    challenger.steps -= 1
    draft.lower = draft.upper = -math.inf  # below the threshold
    if challenger.steps == 0:
        v = index_above(policy, state, samples, challengers, arm, rng)  # step 1
        if not math.isnan(v):
            draft.lower = draft.upper = v


@shared
def draft_below(
    policy: BCVTSParams, state: History, samples: IndexDrafts, arm: int, limit: float, rng: np.random.Generator
) -> None:
    """Draw bounds for the arm's index given that it is below the limit."""
    draft = samples.drafts[arm]
    while True:
        draft_index(policy, state, samples, arm, rng)
        if draft.lower < limit <= draft.upper:
            finish_index(policy, state, samples, arm, rng)
        if draft.upper < limit:
            return


@jit_inline
def contest(
    policy: BCVTSParams, state: History, samples: IndexDrafts, challengers: Any, rng: np.random.Generator
) -> int:
    """Return the arm with the largest index, with ties at random."""
    drafts, floor = samples.drafts, -math.inf  # the largest index is at least the floor
    for arm in range(challengers.size):
        if challengers[arm].steps >= 0:
            tick(policy, state, samples, challengers, arm, rng)
        if challengers[arm].steps < 0:
            draft_index(policy, state, samples, arm, rng)
        floor = max(floor, drafts[arm].lower)
    for arm in range(challengers.size):
        if drafts[arm].upper == -math.inf and challengers[arm].threshold > floor:  # step 2
            draft_below(policy, state, samples, arm, challengers[arm].threshold, rng)
            floor = max(floor, drafts[arm].lower)
    contenders = 0
    for arm in range(challengers.size):
        contenders += drafts[arm].upper >= floor
    best, largest, ties = 0, -math.inf, 0
    for arm in range(challengers.size):
        if drafts[arm].upper >= floor:
            contenders -= 1
            v = drafts[arm].lower
            if contenders > 0 or v <= largest:  # else it is the largest, whatever the rest of its draw
                v = finish_index(policy, state, samples, arm, rng)
            floor = max(floor, v)
            best, largest, ties = larger(best, largest, ties, arm, v, rng)
    return best


@shared
def contests(
    policy: BCVTSParams,
    state: History,
    run: Run,
    samples: IndexDrafts,
    challengers: Any,
    limit: int,
    rng: np.random.Generator,
) -> None:
    """Play up to ``limit`` steps, while the horizon is not reached and there is room for rewards."""
    state, run, samples, rng = borrowed(state), borrowed(run), borrowed(samples), borrowed(rng)
    challengers = borrowed(challengers)
    for _ in range(limit):
        if not pull_into_place(state, run, contest(policy, state, samples, challengers, rng)):
            break


@shortcut(BCVTSParams)
def play_bcvts(policy: BCVTSParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    n_arms = state.pulls.size
    samples, challengers = new_samples(n_arms), np.zeros(n_arms, CHALLENGER)
    for arm in range(n_arms):
        challengers[arm].steps = -1
    while not ended(run.progress):
        state = with_places(state, -1)
        survey(policy, state, samples, challengers, rng)
        limit = max(_PAUSE, int(sum_of(state.pulls)) // _SHARE)
        contests(policy, state, run, samples, challengers, limit, rng)
