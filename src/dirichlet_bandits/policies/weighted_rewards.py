"""Rewards of arms, where past rewards have a smaller weight than the others: see ``live/settings.py``.

A family registers one of these as ``weighted=``: a function of a policy, the past rewards of each arm and their weight.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.types import Floats


class WeightedRewards:
    """The rewards of each arm with their weights: one weight for past rewards, and 1 for observed ones.

    It is registered by policies that need all rewards, and decides in place of their state.
    """

    def __init__(self, past: Sequence[Floats], weight: float) -> None:
        self._x = [x.tolist() for x in past]
        self._w = [[weight] * x.size for x in past]

    def learn(self, arms: Sequence[int], rewards: Sequence[float]) -> None:
        """Store rewards that were observed."""
        for arm, reward in zip(arms, rewards, strict=True):
            self._x[arm].append(reward)
            self._w[arm].append(1.0)

    def sample(self, arm: int) -> tuple[Floats, Floats]:
        """Return the rewards of an arm and their weights."""
        return np.array(self._x[arm]), np.array(self._w[arm])

    def propensities(self) -> Floats:
        """Return the probability that each arm is in the next round."""
        raise NotImplementedError

    def select(self, rng: np.random.Generator) -> list[int]:
        """Return the arms of the next round."""
        raise NotImplementedError


def weighted_tally(policy: Any, past: Sequence[Floats], weight: float) -> Tally:
    """Return counts and means of weighted past rewards: the first state of policies that use nothing else."""
    n = len(past)
    counts: Any = np.zeros(n)  # not whole, unlike those of other tallies
    state = Tally(counts, np.zeros(n), np.zeros(n), np.zeros(n), np.full(n, math.inf), np.full(n, -math.inf))
    for arm, x in enumerate(past):
        if x.size:
            state.pulls[arm], state.sums[arm] = weight * x.size, weight * math.fsum(x)
            state.lows[arm], state.highs[arm] = x.min(), x.max()
            state.means[arm] = min(max(state.sums[arm] / state.pulls[arm], x.min()), x.max())
    return state
