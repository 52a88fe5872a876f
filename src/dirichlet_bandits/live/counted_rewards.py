"""The rewards of a study that count: those reported, and neither voided nor held back."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.types import Floats


class Told(NamedTuple):
    """The rewards that count as lists, in the order in which they were reported."""

    arms: list[int]
    rewards: list[float]
    numbers: list[int]  # of the events that reported them
    trials: list[int]
    asked: list[int]  # the number of trials when each was reported

    def by_arm(self, n_arms: int) -> list[Floats]:
        """Return the rewards of each arm."""
        arms, rewards = np.array(self.arms, np.int64), np.array(self.rewards, np.float64)
        return [rewards[arms == arm] for arm in range(n_arms)]


class Counted:
    """The rewards that count, by trial, in the order in which they were reported."""

    def __init__(self, arm_of: Sequence[int]) -> None:
        self._arm_of = arm_of  # the journal's list, which grows
        self.reward_of: dict[int, float] = {}
        self._number_of: dict[int, int] = {}  # in the same order
        self._asked_before: dict[int, int] = {}  # likewise
        self._told: Told | None = Told([], [], [], [], [])  # None: to be listed again

    def add(self, number: int, trial: int, reward: float) -> None:
        """Add a reward, reported by the event of this number, after all others."""
        self.reward_of[trial] = reward
        self._number_of[trial] = number
        self._asked_before[trial] = asked_before = len(self._arm_of)
        if self._told is not None:
            arms, rewards, numbers, trials, asked = self._told
            arms.append(self._arm_of[trial])
            rewards.append(reward)
            numbers.append(number)
            trials.append(trial)
            asked.append(asked_before)

    def remove(self, trial: int) -> None:
        """Remove the reward of a trial."""
        del self.reward_of[trial], self._number_of[trial], self._asked_before[trial]
        self._told = None

    def replace(self, trial: int, reward: float) -> None:
        """Replace the reward of a trial, which keeps its place in the order."""
        self.reward_of[trial] = reward
        self._told = None

    def listed(self) -> Told:
        """Return all of them as lists."""
        # Listed on demand, not at each revision, so that opening a study with many revisions takes linear time.
        if self._told is None:
            self._told = Told(
                [self._arm_of[trial] for trial in self.reward_of],
                list(self.reward_of.values()),
                list(self._number_of.values()),
                list(self.reward_of),
                list(self._asked_before.values()),
            )
        return self._told
