"""A bandit: several laws, each with a name."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.arms.frames import laws_of_frame
from dirichlet_bandits.arms.laws import Empirical, Law
from dirichlet_bandits.arms.objective import Mean, Objective
from dirichlet_bandits.arms.sampler import N_PARAMETERS, ArmTable, Kind
from dirichlet_bandits.display import html_tables
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    import pandas as pd


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
    >>> Bandit({"coin": Bernoulli(0.3), "bell": Gaussian(1.0, 2.0)}).names
    ('coin', 'bell')

    Past rewards can stand for a distribution: give a dict of lists, or a pandas frame with the columns ``arm`` and
    ``reward`` or with one column per arm.

    >>> Bandit({"May": [4.1, 3.9], "June": [5.0, 2.5]})
    Bandit(May: Empirical(values=[4.1, 3.9]), June: Empirical(values=[5.0, 2.5]))

    ``objective`` says what makes an arm good, the mean unless told otherwise: best arm, gaps and regret follow from it.
    """

    def __init__(
        self,
        arms: "Iterable[RewardLaw] | Mapping[str, RewardLaw | Sequence[float]] | pd.DataFrame",
        names: Sequence[str] | None = None,
        *,
        objective: Objective | None = None,
    ) -> None:
        if hasattr(arms, "columns"):
            frame: Any = arms
            long = {"arm", "reward"} <= set(frame.columns)
            arms = (
                laws_of_frame(frame, "arm", "reward")
                if long
                else {str(column): frame[column].dropna().to_numpy() for column in frame.columns}
            )
        if isinstance(arms, Mapping):
            if names is not None:
                raise ArgumentError("names", "left out where the arms are named by a dict or a frame", names)
            names, arms = list(arms), [_law(f"arms[{name!r}]", law) for name, law in arms.items()]
        elif not isinstance(arms, Iterable):
            raise ArgumentError("arms", "reward laws, in a list or in a dict by name", arms)
        self.arms = tuple(arms)
        if len(self.arms) < 2:
            raise ArgumentError("arms", "at least two reward laws", list(self.arms))
        if isinstance(names, str):
            raise ArgumentError("names", f"{len(self.arms)} different names", names)
        self.names = tuple(f"arm {k}" for k in range(len(self.arms))) if names is None else tuple(names)
        if len(self.names) != len(self.arms) or len(set(self.names)) != len(self.names):
            raise ArgumentError("names", f"{len(self.arms)} different names", list(self.names))
        for k, name in enumerate(self.names):
            if not isinstance(name, str):
                raise ArgumentError(f"names[{k}]", "a text", name)
        self._called = [f"arms[{k}]" if names is None else f"arms[{name!r}]" for k, name in enumerate(self.names)]
        for called, arm in zip(self._called, self.arms, strict=True):
            if not isinstance(arm, RewardLaw):
                raise ArgumentError(called, "a law with rvs(size, random_state) and mean()", arm)
        self.objective: Objective = Mean() if objective is None else objective
        if isinstance(self.objective, type) or not isinstance(self.objective, Objective):
            raise ArgumentError("objective", "an object with name, label and value(law)", objective)
        self.means = self._valued_by(Mean())
        self.values = self._valued_by(self.objective)

    def _valued_by(self, objective: Objective) -> Floats:
        """The value of each arm; a law without a finite one is refused."""
        values = np.array([float(objective.value(arm)) for arm in self.arms])
        for called, arm, value in zip(self._called, self.arms, values, strict=True):
            if not math.isfinite(value):
                raise ArgumentError(called, f"a law with a finite {objective.name}", arm)
        return values

    @classmethod
    def from_dataframe(
        cls, frame: "pd.DataFrame", *, arm: str = "arm", reward: str = "reward", objective: Objective | None = None
    ) -> "Bandit":
        """A bandit whose arms draw, with replacement, from the past rewards of each option.

        A row of the frame has an option, in the column ``arm``, and one of its rewards, in the column ``reward``. The
        arms are in the order in which the options first come; each needs two rewards.

        >>> import pandas as pd
        >>> past = pd.DataFrame({"date": ["May", "May", "June", "June"], "yield": [4.1, 3.9, 5.0, 2.5]})
        >>> Bandit.from_dataframe(past, arm="date", reward="yield")
        Bandit(May: Empirical(values=[4.1, 3.9]), June: Empirical(values=[5.0, 2.5]))
        """
        return cls(laws_of_frame(frame, arm, reward), objective=objective)

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

    def _repr_html_(self) -> str:
        """A row an arm; the line is its mean, with a standard deviation to both sides."""
        stds = [float(arm.std()) if hasattr(arm, "std") else math.nan for arm in self.arms]
        sides = [0.0 if math.isnan(std) or math.isinf(std) else std for std in stds]
        bounds = float((self.means - sides).min()), float((self.means + sides).max())
        judged = [] if isinstance(self.objective, Mean) else [self.objective.name]
        rows = [
            (
                name,
                _described(law),
                float(mean),
                std,
                *([float(value)] if judged else []),
                float(gap),
                html_tables.interval_bar(mean - side, mean, mean + side, bounds),
            )
            for name, law, mean, std, side, value, gap in zip(
                self.names, self.arms, self.means, stds, sides, self.values, self.gaps, strict=True
            )
        ]
        headers = ["arm", "law", "mean", "std", *judged, "gap", "mean ± std"]
        best = int(self.values.argmax())
        return html_tables.table(f"{len(self)} arms; the best is bold", headers, rows, marked=best)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {arm!r}" for name, arm in zip(self.names, self.arms, strict=True))
        return f"Bandit({inside})"


def _law(called: str, given: Any) -> Any:
    """Return the distribution that draws from a list of past rewards; anything else as it is."""
    if not isinstance(given, list | tuple | np.ndarray):
        return given
    if len(given) < 2:
        raise ArgumentError(called, "at least two rewards", given)
    try:
        return Empirical(given)
    except ArgumentError as error:
        raise ArgumentError(called, *error.args[1:]) from error


def _described(arm: Any) -> str:
    """A law in words; the repr of a frozen law of SciPy is an address in memory."""
    if hasattr(arm, "dist") and hasattr(arm, "kwds"):
        given = [*map(repr, arm.args), *(f"{key}={value!r}" for key, value in arm.kwds.items())]
        return f"{arm.dist.name}({', '.join(given)})"
    return repr(arm)


def _support(arm: RewardLaw) -> tuple[float, float]:
    if not hasattr(arm, "support"):
        return -math.inf, math.inf
    low, high = arm.support()
    return float(low), float(high)
