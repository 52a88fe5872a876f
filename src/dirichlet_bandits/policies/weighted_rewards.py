"""Rewards of arms, where past rewards have a smaller weight than the others: see ``live/warm_start.py``."""

from collections.abc import Sequence

import numpy as np

from dirichlet_bandits.types import Floats


class WeightedRewards:
    """The rewards of each arm with their weights: one weight for past rewards, and 1 for observed ones."""

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
