"""A bandit: several laws, each with a name."""

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.arms.laws import Law
from dirichlet_bandits.arms.objective import Mean, Objective
from dirichlet_bandits.arms.sampler import N_PARAMETERS, ArmTable, Kind
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats


@runtime_checkable
class RewardLaw(Protocol):
    """What an arm must be able to do: a frozen ``scipy.stats`` law does, and so does every law of ours."""

    def rvs(self, size: int, random_state: Any) -> Any:
        """A sample of this size."""

    def mean(self) -> Any:
        """Expectation."""


class Bandit:
    """K arms to choose from.

    >>> from dirichlet_bandits.arms.laws import Bernoulli, Gaussian
    >>> bandit = Bandit([Bernoulli(0.3), Gaussian(1.0, 2.0)], names=["coin", "bell"])
    >>> bandit.best, bandit.gaps
    ('bell', array([0.7, 0. ]))

    ``objective`` says what makes an arm good, the mean unless told otherwise: best arm, gaps and regret follow from it.
    """

    def __init__(
        self, arms: Iterable[RewardLaw], names: Sequence[str] | None = None, *, objective: Objective | None = None
    ) -> None:
        self.arms = tuple(arms)
        if len(self.arms) < 2:
            raise ArgumentError("arms", "at least two reward laws", list(self.arms))
        for k, arm in enumerate(self.arms):
            if not isinstance(arm, RewardLaw):
                raise ArgumentError(f"arms[{k}]", "a law with rvs(size, random_state) and mean()", arm)
        self.names = tuple(f"arm {k}" for k in range(len(self.arms))) if names is None else tuple(names)
        if len(self.names) != len(self.arms) or len(set(self.names)) != len(self.names):
            raise ArgumentError("names", f"{len(self.arms)} different names", list(self.names))
        self.objective: Objective = Mean() if objective is None else objective
        if isinstance(self.objective, type) or not isinstance(self.objective, Objective):
            raise ArgumentError("objective", "an object with name, label and value(law)", objective)
        self.means = self._valued_by(Mean())
        self.values = self._valued_by(self.objective)

    def _valued_by(self, objective: Objective) -> Floats:
        """The value of each arm; a law without a finite one is refused."""
        values = np.array([float(objective.value(arm)) for arm in self.arms])
        for k, arm in enumerate(self.arms):
            if not math.isfinite(values[k]):
                raise ArgumentError(f"arms[{k}]", f"a law with a finite {objective.name}", arm)
        return values

    @property
    def gaps(self) -> Floats:
        """Shortfall of each arm's value from the best one."""
        return self.values.max() - self.values

    @property
    def best(self) -> str:
        """Name of the arm with the largest value (the first of them)."""
        return self.names[int(self.values.argmax())]

    @property
    def guarantees(self) -> Assumption:
        """What holds of this world; a shortcut that assumes more is not taken."""
        return Assumption.ALL if isinstance(self.objective, Mean) else Assumption.ALL & ~Assumption.MEAN

    def support(self) -> tuple[float, float]:
        """Smallest interval that carries all rewards; infinite where a law does not tell."""
        ends = [_support(arm) for arm in self.arms]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @functools.cached_property
    def table(self) -> ArmTable:
        """The laws as plain arrays for the compiled sampler."""
        laws = [arm if isinstance(arm, Law) else None for arm in self.arms]
        data = [law.data if law else np.empty(0) for law in laws]
        sizes = np.array([values.size for values in data], dtype=np.int64)
        last = np.cumsum(sizes)
        return ArmTable(
            kinds=np.array([law.kind if law else Kind.FOREIGN for law in laws], dtype=np.int64),
            rows=np.array([law.row if law else np.zeros(N_PARAMETERS) for law in laws]),
            first=last - sizes,
            last=last,
            data=np.concatenate(data),
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "table"}  # made again where it is used

    def __len__(self) -> int:
        return len(self.arms)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {arm!r}" for name, arm in zip(self.names, self.arms, strict=True))
        return f"Bandit({inside})"


def _support(arm: RewardLaw) -> tuple[float, float]:
    if not hasattr(arm, "support"):
        return -math.inf, math.inf
    low, high = arm.support()
    return float(low), float(high)
