"""What an environment provides: the rewards that its arms could give in one replication, and their values over time."""

import hashlib
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np

from dirichlet_bandits.environments.laws import Law
from dirichlet_bandits.environments.objective import Mean, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Words
from dirichlet_bandits.validation import Phrase

_PROBES = 16  # rewards that distinguish one foreign distribution from another


@runtime_checkable
class RewardLaw(Protocol):
    """The interface of a reward distribution; frozen ``scipy.stats`` distributions and all of ours provide it."""

    def rvs(self, size: int, random_state: Any) -> Any:
        """Draw a sample of this size."""

    def mean(self) -> Any:
        """Return the expectation."""


class Environment(ABC):
    """Arms whose rewards may depend on the time of the pull: the base class of all environments.

    A class of your own has ``names``, ``values_over``, ``rewards`` and ``support``. The same seeds must give the same
    rewards whichever policy plays; :func:`dirichlet_bandits.testing.check_environment` compares what the arms pay with
    what the environment says about them.
    """

    names: tuple[str, ...]
    objective: Objective = Mean()
    indexed_by: Literal["time", "pulls"] = "time"
    """How rewards are read: those of an arm at each time, or, only if nothing changes inside a segment, its first,
    second, ... reward in the segment."""
    in_files: ClassVar[str] = ""
    """The name of the table that gives its arguments in the file of an experiment, if there is one."""
    still: ClassVar[bool] = False
    """Whether nothing ever changes."""

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def checked(cls, given: Any, name: str = "bandit") -> Self:
        """Return an argument that must be an environment of this kind; raise if it is not."""
        if not isinstance(given, cls):
            raise ArgumentError(
                name,
                f"a {cls.__name__}" if cls.still else "a Bandit, or another environment, such as a Piecewise",
                given,
            )
        return given

    @abstractmethod
    def values_over(self, horizon: int) -> Floats:
        """Return the value of each arm at each time, an array of ``horizon`` rows and K columns."""

    @abstractmethod
    def rewards(self, seeds: Words, horizon: int) -> Floats:
        """Draw all rewards of a replication, an array of K rows and ``horizon`` columns.

        Each row of ``seeds`` is the seed of a stream. Column t has the rewards that the arms would give at time t, or,
        if rewards are ``indexed_by`` pulls, column ``first + j`` has the rewards after j pulls of each arm in the
        segment that begins at time ``first``.
        """

    @abstractmethod
    def support(self, horizon: int) -> tuple[float, float]:
        """Return the smallest interval that is certain to contain all rewards."""

    def starts(self, horizon: int) -> list[int]:
        """Return the first pull of each segment, counted from 0; plots mark all but the first."""
        return [0]

    def n_streams(self) -> int:
        """Return the number of random streams that :meth:`rewards` needs; by default, one per arm."""
        return len(self)

    def drift(self, horizon: int) -> Floats:
        """Return what is added to the reward of each arm at each time; by default nothing, an array without rows."""
        return np.empty((0, len(self)))

    def gaps_over(self, horizon: int) -> Floats:
        """Return the difference between the best value and each arm's value at each time."""
        values = self.values_over(horizon)
        return np.ascontiguousarray(values.max(axis=1, keepdims=True) - values)

    def average_means(self, horizon: int) -> Floats:
        """Return the mean of each arm, averaged over time."""
        return self.values_over(horizon).mean(axis=0)

    def laws(self, horizon: int) -> Mapping[str, Any]:
        """Return the distributions of all rewards, by the names that messages use; none if they are not known."""
        return {}

    def descriptions(self) -> dict[str, str]:
        """Return a description of each arm by its name."""
        return dict.fromkeys(self.names, repr(self))

    def until(self, horizon: int) -> "Environment":
        """Return the environment of the first pulls, which may be simpler."""
        return self

    def identity(self, horizon: int) -> dict[str, Any]:
        """Return plain data, by the names that an error shows, that differ if rewards or values differ."""
        kind, values = type(self), digest(self.values_over(horizon).tobytes())
        return {
            "bandit": [f"{kind.__module__}.{kind.__qualname__}", list(self.names), self.state_identity(horizon)],
            "objective": self.objective.name,
            "values over time": values,
        }

    def state_identity(self, horizon: int) -> Any:
        """Return plain data that differ if the rewards differ; by default, a digest of all attributes."""
        return digest(pickled("bandit", self, lambda: vars(self)))


def checked_values(environment: Environment, horizon: int) -> Floats:
    """Return the values of all arms over time; raise if they do not fit the rewards that the class describes."""
    values, shape = np.asarray(environment.values_over(horizon), np.float64), (horizon, len(environment))
    name = f"{type(environment).__name__}.values_over({horizon})"
    if values.shape != shape or not np.isfinite(values).all():
        got = Phrase(f"shape {values.shape}") if values.shape != shape else Phrase("numbers that are not finite")
        raise ArgumentError(name, f"an array of finite numbers of shape {shape}", got)
    starts = environment.starts(horizon)
    if starts[:1] != [0] or sorted(set(starts)) != list(starts) or starts[-1] >= horizon:
        expected = f"increasing times from 0 to {horizon - 1}, the first of them 0"
        raise ArgumentError(f"{type(environment).__name__}.starts({horizon})", expected, starts)
    if environment.indexed_by == "pulls" and not environment.drift(horizon).size:
        moves = np.flatnonzero((np.diff(values, axis=0) != 0.0).any(axis=1)) + 1
        inside = np.setdiff1d(moves, starts)
        if inside.size:
            expected = "constant inside each segment, because rewards are indexed by pulls; index them by time instead"
            raise ArgumentError(name, expected, Phrase(f"another value at time {inside[0]}"))
    return values


def checked_rewards(environment: Environment, seeds: Words, horizon: int) -> Floats:
    """Draw the rewards of a replication; raise unless there is a finite number for each arm and time."""
    drawn, shape = np.ascontiguousarray(environment.rewards(seeds, horizon), np.float64), (len(environment), horizon)
    if drawn.shape != shape or not np.isfinite(drawn).all():
        got = Phrase(f"shape {drawn.shape}") if drawn.shape != shape else Phrase("numbers that are not finite")
        expected = f"an array of finite numbers of shape {shape}, a row per arm"
        raise ArgumentError(f"{type(environment).__name__}.rewards(seeds, {horizon})", expected, got)
    return drawn


def law_identity(law: Any) -> list[str]:
    """Return a distribution as text and a digest of its numbers; draws from a fixed seed identify a foreign one."""
    if isinstance(law, Law):
        return [repr(law), digest(law.row.tobytes(), law.data.tobytes())]
    rewards = np.asarray(law.rvs(size=_PROBES, random_state=np.random.default_rng(0)), np.float64)
    return [type(law).__qualname__, digest(np.float64(law.mean()).tobytes(), rewards.tobytes())]


def pickled(name: str, value: object, state: Callable[[], object]) -> bytes:
    """Return the state of an object as bytes, because the repr of most classes contains an address in memory."""
    try:
        return pickle.dumps(state())
    except Exception as error:
        raise ArgumentError(name, f"picklable, so that a store can recognize it ({error})", value) from error


def digest(*parts: bytes) -> str:
    """Return a short hash."""
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()
