"""Counts and means of the arms: the state, or part of the state, of every policy."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.types import Floats, Ints


class Tally(NamedTuple):
    """What most policies remember about each arm.

    The sums are compensated and the means kept between the extremes, so that arms with the same rewards in
    another order, or with equal rewards only, tie exactly as they would on paper.
    """

    pulls: Ints
    means: Floats
    sums: Floats
    carry: Floats
    lows: Floats
    highs: Floats


@jit
def new_tally(n_arms: int) -> Tally:
    """Return a tally without pulls."""
    return Tally(
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.full(n_arms, np.inf),
        np.full(n_arms, -np.inf),
    )


@jit
def one_more(
    total: float, carry: float, low: float, high: float, n: int, reward: float
) -> tuple[float, float, float, float, float]:
    """Return the sum, carry, extremes and mean after the n-th reward, by Neumaier's compensated sum."""
    new = total + reward
    carry += (total - new) + reward if abs(total) >= abs(reward) else (reward - new) + total
    low, high = min(low, reward), max(high, reward)
    return new, carry, low, high, min(max((new + carry) / n, low), high)


@jit_inline
def count(tally: Any, arm: int, reward: float) -> None:
    """Count one more reward, in a Tally or any state with its fields."""
    sums, carry, lows, highs = tally.sums, tally.carry, tally.lows, tally.highs
    tally.pulls[arm] += 1
    sums[arm], carry[arm], lows[arm], highs[arm], tally.means[arm] = one_more(
        sums[arm], carry[arm], lows[arm], highs[arm], tally.pulls[arm], reward
    )


@jit
def count_while(tally: Any, arm: int, rewards: Floats, low: float, high: float) -> tuple[int, float]:
    """Count rewards while the mean before each lies in [low, high]; return how many were counted, and their sum.

    This is the same as calling :func:`count` repeatedly, but with everything in registers.
    """
    total, carry, least, most = tally.sums[arm], tally.carry[arm], tally.lows[arm], tally.highs[arm]
    n, mean, before = tally.pulls[arm], tally.means[arm], tally.pulls[arm]
    paid = 0.0
    for reward in rewards:
        if not low <= mean <= high:
            break
        n += 1
        total, carry, least, most, mean = one_more(total, carry, least, most, n, reward)
        paid += reward
    tally.sums[arm], tally.carry[arm], tally.lows[arm], tally.highs[arm] = total, carry, least, most
    tally.pulls[arm], tally.means[arm] = n, mean
    return n - before, paid


@jit
def shuffle(arms: Ints, rng: np.random.Generator) -> None:
    """Shuffle the arms in place."""
    for i in range(arms.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        arms[i], arms[j] = arms[j], arms[i]


@shared
def untried(tries: Ints, received: Ints, fewest: int) -> Ints:
    """Return the arms to pull before the policy decides: those with the fewest tries, or none.

    The policy decides when every arm was tried, and at least ``fewest`` arms have received a reward.
    """
    arms, n, known, least = np.empty(len(tries), np.int64), 0, 0, tries[0]
    for arm in range(len(tries)):
        least = min(least, tries[arm])
        known += received[arm] > 0
    if least == 0 or known < fewest:
        for arm in range(len(tries)):
            if tries[arm] == least:
                arms[n] = arm
                n += 1
    return arms[:n]


untried_arms = cast(Callable[[Sequence[int], Sequence[int], int], Ints], cast(Any, untried).py_func)
"""The same for lists, not compiled."""


@shared
def unpulled(pulls: Ints, rng: np.random.Generator) -> Ints:
    """Return the arms that have never been pulled, in random order; where rewards come at once."""
    arms = untried(pulls, pulls, 0)
    shuffle(arms, rng)
    return arms
