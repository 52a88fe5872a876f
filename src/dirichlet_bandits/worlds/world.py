"""What a world provides: the rewards that its arms could give in one replication, and their values over time."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.arms.objective import Mean, Objective
from dirichlet_bandits.types import Floats, Words


class Rewards(NamedTuple):
    """All rewards that a world could give in one replication of T pulls.

    The j-th pull of an arm within a segment gives ``tape[arm, first + j]``, where ``first`` is the first pull of the
    segment; ``drift[t, arm]`` is added at time t unless it has no rows.
    """

    tape: Floats
    drift: Floats


class World(ABC):
    """Arms whose rewards may depend on the time of the pull.

    To add a kind of world, write a class with these methods and a reference implementation for the tests. The same
    seeds must give the same rewards whichever policy plays.
    """

    names: tuple[str, ...]
    objective: Objective = Mean()

    def __len__(self) -> int:
        return len(self.names)

    def n_streams(self) -> int:
        """Return the number of random streams that :meth:`rewards` needs; by default, one per arm."""
        return len(self)

    def starts(self, horizon: int) -> list[int]:
        """Return the first pull of each segment, counted from 0; the tape of an arm starts again there."""
        return [0]

    @abstractmethod
    def rewards(self, seeds: Words, horizon: int) -> Rewards:
        """Draw all rewards of a replication; each row of ``seeds`` is the seed of a stream."""

    @abstractmethod
    def values(self, horizon: int) -> Floats:
        """Return the value of each arm at each time, an array of ``horizon`` rows and K columns."""

    @abstractmethod
    def support(self, horizon: int) -> tuple[float, float]:
        """Return the smallest interval that is certain to contain all rewards."""

    @abstractmethod
    def identity(self) -> Any:
        """Return plain data that differ if the reward distributions differ; a store compares them and the values."""

    def gaps(self, horizon: int) -> Floats:
        """Return the difference between the best value and each arm's value at each time."""
        values = self.values(horizon)
        return np.ascontiguousarray(values.max(axis=1, keepdims=True) - values)
