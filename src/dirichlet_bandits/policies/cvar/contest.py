"""Plain steps of B-CVTS: an index for every arm that may have the largest one.

While some arms are close to each other, each of them is drawn at every step. An arm far below them is not. That its
index reaches a threshold has the same probability at every step until the arm is pulled, so the steps at which it
does are drawn in advance, each with the index given that it does (``challenger.py``). At all other steps the index is
below the threshold. Where one that was drawn is at least the threshold, that is all one has to know; else the index
is drawn given that it is below: again and again until it is. Thresholds are placed, and given up, by what has been
earned, never by what was drawn.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.run import Run
from dirichlet_bandits.engine.stretch import pull_into_place
from dirichlet_bandits.numerics.arrays import argmax_of
from dirichlet_bandits.policies.cvar.challenger import CEILING, Tilts, index_above, new_tilts, set_tilts
from dirichlet_bandits.policies.cvar.ordering import Samples, begin_index, finish_index, index_bounds
from dirichlet_bandits.policies.cvar.rule import BCVTSParams
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.types import Floats, Ints

_BELOW = 2.5  # a threshold is so many standard deviations below the best arm,
_CLOSE = 1.5  # so many above the arm itself, and is given up when the best arm has come so near to it
_SELDOM = 0.3  # ceiling of the probability that is worth while

_NEVER = 1 << 40  # more steps than anybody plays
_THRESHOLD, _INDEX, _PULLS = range(3)  # rows of the numbers


class Distant(NamedTuple):
    """Of arms far below: plain steps before the next index that reaches the threshold (-1: drawn at every step); a row
    each of thresholds, those indices, and the rewards for which all this holds; and tilts."""

    steps: Ints
    numbers: Floats
    tilts: Tilts


@jit
def new_distant(n_arms: int) -> Distant:
    """Nobody is far below."""
    return Distant(np.full(n_arms, -1), np.zeros((3, n_arms)), new_tilts(n_arms, 2))


@shared
def wind(
    policy: BCVTSParams, state: History, samples: Samples, distant: Distant, arm: int, rng: np.random.Generator
) -> None:
    """Draw the next step at which the arm's index reaches its threshold, and the index."""
    numbers, steps = distant.numbers, 0
    ceiling = distant.tilts.rows[arm, 0, CEILING]
    while True:
        steps += geometric(ceiling, rng)
        if steps >= _NEVER:
            break
        v = index_above(policy, state, samples, distant.tilts, arm, 0, numbers[_THRESHOLD, arm], rng)
        if not math.isnan(v):
            numbers[_INDEX, arm] = v
            break
    distant.steps[arm] = steps - 1


@shared
def watch_from(
    policy: BCVTSParams,
    state: History,
    samples: Samples,
    distant: Distant,
    arm: int,
    threshold: float,
    rng: np.random.Generator,
) -> None:
    """Let an arm come forward when its index reaches the threshold, if that is seldom."""
    numbers, distant.steps[arm] = distant.numbers, -1
    numbers[_THRESHOLD, arm], numbers[_PULLS, arm] = threshold, state.pulls[arm]
    set_tilts(policy, state, samples, distant.tilts, arm, numbers[_THRESHOLD, arm : arm + 1], 0)
    if distant.tilts.rows[arm, 0, CEILING] < _SELDOM:
        wind(policy, state, samples, distant, arm, rng)


@jit
def watch(
    policy: BCVTSParams,
    state: History,
    samples: Samples,
    distant: Distant,
    best: int,
    values: Floats,
    variances: Floats,
    rng: np.random.Generator,
) -> None:
    """Place thresholds for arms whose CVaR is far below that of the best arm."""
    deviation = math.sqrt(variances[best])
    for arm in range(values.size):
        q = distant.numbers[_THRESHOLD, arm]
        if distant.steps[arm] >= 0 and (arm == best or q > values[best] - _CLOSE * deviation):
            distant.steps[arm] = -1
        if distant.steps[arm] < 0 and arm != best:
            q = values[best] - _BELOW * deviation
            if q - values[arm] > _CLOSE * math.sqrt(variances[arm]):
                watch_from(policy, state, samples, distant, arm, q, rng)


@jit
def contest(policy: BCVTSParams, state: History, samples: Samples, distant: Distant, rng: np.random.Generator) -> int:
    """The arm with the largest index, ties at random."""
    steps, numbers, n_arms = distant.steps, distant.numbers, distant.steps.size
    best, least, most, ties = 0, -math.inf, -math.inf, 0  # the best index so far lies between least and most
    best_n, best_low, best_weights, best_excess, best_others = 0, 0, 0.0, 0.0, 0.0
    for arm in range(n_arms):
        if steps[arm] >= 0 and state.pulls[arm] != numbers[_PULLS, arm]:
            watch_from(policy, state, samples, distant, arm, numbers[_THRESHOLD, arm], rng)
        if steps[arm] == 0:
            best, least, ties = larger(best, least, ties, arm, numbers[_INDEX, arm], rng)
            most = least
    first = argmax_of(state.pulls)
    for turn in range(2 * n_arms):  # those that are close come first, and of them the one that is pulled most
        distance, arm = turn // n_arms, turn % n_arms
        if arm == 0 or arm == first:
            arm = first - arm
        limit = math.inf
        if distance == 0:
            if steps[arm] >= 0:
                continue
        else:
            limit = numbers[_THRESHOLD, arm]
            if steps[arm] <= 0 or least >= limit:
                continue
        while True:
            n, low, weights, excess = begin_index(policy, state, samples, arm, rng)
            x, origin = rewards(state, arm), state.lows[arm]
            others, lower, upper = index_bounds(x, origin, policy.upper, n, low, weights, excess, least, rng)
            if lower < limit <= upper:
                lower = upper = finish_index(x, origin, policy.upper, n, low, weights, excess, others, rng)
            if upper < limit:
                break
        if lower > most:
            best, least, most, ties = arm, lower, upper, 1
            best_n, best_low, best_weights, best_excess, best_others = n, low, weights, excess, others
        elif upper >= least:
            if lower < upper:
                lower = finish_index(x, origin, policy.upper, n, low, weights, excess, others, rng)
            if least < most:
                x, origin = rewards(state, best), state.lows[best]
                least = most = finish_index(
                    x, origin, policy.upper, best_n, best_low, best_weights, best_excess, best_others, rng
                )
            best, least, ties = larger(best, least, ties, arm, lower, rng)
            most = least
    for arm in range(n_arms):
        if steps[arm] > 0:
            steps[arm] -= 1
        elif steps[arm] == 0:
            wind(policy, state, samples, distant, arm, rng)
    return best


@shared
def plain_steps(
    policy: BCVTSParams,
    state: History,
    run: Run,
    samples: Samples,
    distant: Distant,
    limit: int,
    rng: np.random.Generator,
) -> None:
    """So many plain steps, if the horizon is as far away, and there is room for the rewards."""
    state, run, samples, distant, rng = (
        borrowed(state),
        borrowed(run),
        borrowed(samples),
        borrowed(distant),
        borrowed(rng),
    )
    for _ in range(limit):
        if not pull_into_place(state, run, contest(policy, state, samples, distant, rng)):
            break
