"""Counts and means of the arms: the state, or part of the state, of every policy."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.numerics.jit import jit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Tally(NamedTuple):
    """What most policies remember of each arm.

    The sums are compensated and the means held between the extremes, so that arms with the same rewards in
    another order, or with equal rewards only, tie exactly as they would on paper.
    """

    pulls: Ints
    means: Floats
    sums: Floats
    carry: Floats
    lows: Floats
    tops: Floats


@jit
def new_tally(n_arms: int) -> Tally:
    """No pulls yet."""
    return Tally(
        np.zeros(n_arms, np.int64),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.zeros(n_arms),
        np.full(n_arms, np.inf),
        np.full(n_arms, -np.inf),
    )


@jit
def count(tally: Any, arm: int, reward: float) -> None:
    """One more reward, by Neumaier's compensated sum; for a Tally or any state with its fields."""
    old = tally.sums[arm]
    new = old + reward
    tally.carry[arm] += (old - new) + reward if abs(old) >= abs(reward) else (reward - new) + old
    tally.sums[arm] = new
    tally.pulls[arm] += 1
    tally.lows[arm] = min(tally.lows[arm], reward)
    tally.tops[arm] = max(tally.tops[arm], reward)
    mean = (new + tally.carry[arm]) / tally.pulls[arm]
    tally.means[arm] = min(max(mean, tally.lows[arm]), tally.tops[arm])


@jit
def shuffle(arms: Ints, rng: np.random.Generator) -> None:
    """Put in random order, in place."""
    for i in range(arms.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        arms[i], arms[j] = arms[j], arms[i]


@jit
def unpulled(pulls: Ints, rng: np.random.Generator) -> Ints:
    """Arms that have never been pulled, in random order."""
    arms = np.flatnonzero(pulls == 0)
    shuffle(arms, rng)
    return arms
