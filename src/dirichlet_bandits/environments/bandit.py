"""A bandit: several named arms, each with a reward distribution; an environment in which nothing changes."""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dirichlet_bandits.display import tables
from dirichlet_bandits.environments.environment import Environment, RewardLaw, digest, law_identity, pickled
from dirichlet_bandits.environments.laws import Empirical, Law
from dirichlet_bandits.environments.objective import Mean, Objective
from dirichlet_bandits.environments.sampler import N_PARAMETERS, ArmTable, Kind
from dirichlet_bandits.errors import ArgumentError, RewardError
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Floats, Words

if TYPE_CHECKING:
    import pandas as pd


_FIRST_BLOCK = 1024
_KNOWN = {"arms", "names", "objective", "means", "values", "_called"}  # attributes whose identity the arms determine


class Bandit(Environment):
    """A set of arms to choose from, each with a reward distribution and a name.

    >>> from dirichlet_bandits.environments.laws import Bernoulli, Gaussian
    >>> bandit = Bandit([Bernoulli(0.3), Gaussian(1.0, 2.0)], names=["coin", "bell"])
    >>> bandit.best, bandit.gaps
    ('bell', array([0.7, 0. ]))
    >>> Bandit({"coin": Bernoulli(0.3), "bell": Gaussian(1.0, 2.0)}).names
    ('coin', 'bell')

    Past rewards can serve as a distribution: pass a dict of lists, or a pandas frame with the columns ``arm`` and
    ``reward`` or with one column per arm.

    >>> Bandit({"May": [4.1, 3.9], "June": [5.0, 2.5]})
    Bandit(May: Empirical(values=[4.1, 3.9]), June: Empirical(values=[5.0, 2.5]))

    ``objective`` decides what makes an arm good, by default the mean; best arm, gaps and regret follow from it.
    """

    indexed_by = "pulls"
    still = True

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

    @classmethod
    def of(cls, arms: Any, names: Sequence[str] | None = None, *, objective: Objective | None = None) -> "Bandit":
        """Return a bandit of these arms, or the bandit itself, if it is one already."""
        return arms if isinstance(arms, cls) else cls(arms, names, objective=objective)

    def _valued_by(self, objective: Objective) -> Floats:
        """Return the value of each arm; refuse a distribution without a finite one."""
        values = np.array([float(objective.value(arm)) for arm in self.arms])
        for called, arm, value in zip(self._called, self.arms, values, strict=True):
            if not math.isfinite(value):
                raise ArgumentError(called, f"a law with a finite {objective.name}", arm)
        return values

    @classmethod
    def from_dataframe(
        cls, frame: "pd.DataFrame", *, arm: str = "arm", reward: str = "reward", objective: Objective | None = None
    ) -> "Bandit":
        """Return a bandit whose arms draw, with replacement, from the past rewards of each option.

        Each row of the frame has an option, in the column ``arm``, and one of its rewards, in the column ``reward``.
        The arms are in the order in which the options first appear; each needs at least two rewards.

        >>> import pandas as pd
        >>> past = pd.DataFrame({"date": ["May", "May", "June", "June"], "yield": [4.1, 3.9, 5.0, 2.5]})
        >>> Bandit.from_dataframe(past, arm="date", reward="yield")
        Bandit(May: Empirical(values=[4.1, 3.9]), June: Empirical(values=[5.0, 2.5]))
        """
        return cls(laws_of_frame(frame, arm, reward), objective=objective)

    @property
    def gaps(self) -> Floats:
        """Difference between the best value and each arm's value."""
        return self.values.max() - self.values

    @property
    def best(self) -> str:
        """Name of the arm with the largest value (the first one, if several tie)."""
        return self.names[int(self.values.argmax())]

    def values_over(self, horizon: int) -> Floats:
        return np.tile(self.values, (horizon, 1))

    def average_means(self, horizon: int) -> Floats:
        return self.means

    def rewards(self, seeds: Words, horizon: int) -> Floats:
        """Return this many rewards of each arm, one row per arm: exactly those that the compiled loop would draw."""
        tape, foreign = np.empty((len(self), horizon)), ForeignRewards(self, seeds)
        for arm, law in enumerate(self.arms):
            if isinstance(law, Law):
                tape[arm] = law.rvs(horizon, generator(seeds[arm]))
        while foreign.laws and min(drawn.size for drawn in foreign.drawn.values()) < horizon:
            foreign.more()
        for arm, drawn in foreign.drawn.items():
            tape[arm] = drawn[:horizon]
        return tape

    def laws(self, horizon: int | None = None) -> dict[str, Any]:
        return {f"arm {name!r}": law for name, law in zip(self.names, self.arms, strict=True)}

    def descriptions(self) -> dict[str, str]:
        return dict(zip(self.names, map(repr, self.arms), strict=True))

    def identity(self, horizon: int) -> dict[str, Any]:
        """Return arms and objective; for a subclass or further attributes, also the class and a digest of these."""
        parts: dict[str, Any] = {
            "arms": {name: law_identity(law) for name, law in zip(self.names, self.arms, strict=True)},
            "objective": [self.objective.name, digest(self.values.tobytes())],
        }
        kind, attributes = type(self), sorted(vars(self).items())
        more = {
            key: value
            for key, value in attributes
            if key not in _KNOWN and not isinstance(getattr(kind, key, None), functools.cached_property)
        }
        if kind is not Bandit or more:
            state = digest(pickled("bandit", self, lambda: more))
            parts["bandit"] = [f"{kind.__module__}.{kind.__qualname__}", state]
        return parts

    def support(self, horizon: int | None = None) -> tuple[float, float]:
        """Return the smallest interval that contains all rewards; infinite where a distribution has no ``support``."""
        ends = [_support(arm) for arm in self.arms]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @functools.cached_property
    def table(self) -> ArmTable:
        """The distributions as plain arrays for the compiled sampler."""
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
        return {name: value for name, value in vars(self).items() if name != "table"}  # rebuilt where it is used

    def __len__(self) -> int:
        return len(self.arms)

    def _repr_html_(self) -> str:
        """Return a table with one row per arm and a bar that shows the mean plus and minus one standard deviation."""
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
                tables.interval_bar(mean - side, mean, mean + side, bounds),
            )
            for name, law, mean, std, side, value, gap in zip(
                self.names, self.arms, self.means, stds, sides, self.values, self.gaps, strict=True
            )
        ]
        headers = ["arm", "law", "mean", "std", *judged, "gap", "mean ± std"]
        best = int(self.values.argmax())
        return tables.table(f"{len(self)} arms; the best is bold", headers, rows, marked=best)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {arm!r}" for name, arm in zip(self.names, self.arms, strict=True))
        return f"Bandit({inside})"


def _law(called: str, given: Any) -> Any:
    """Return the distribution that draws from a list of past rewards; return anything else unchanged."""
    if not isinstance(given, list | tuple | np.ndarray):
        return given
    if len(given) < 2:
        raise ArgumentError(called, "at least two rewards", given)
    try:
        return Empirical(given)
    except ArgumentError as error:
        raise ArgumentError(called, *error.args[1:]) from error


def _described(arm: Any) -> str:
    """Describe a distribution; the repr of a frozen SciPy distribution is an address in memory."""
    if hasattr(arm, "dist") and hasattr(arm, "kwds"):
        given = [*map(repr, arm.args), *(f"{key}={value!r}" for key, value in arm.kwds.items())]
        return f"{arm.dist.name}({', '.join(given)})"
    return repr(arm)


def _support(arm: RewardLaw) -> tuple[float, float]:
    if not hasattr(arm, "support"):
        return -math.inf, math.inf
    low, high = arm.support()
    return float(low), float(high)


def laws_of_frame(frame: "pd.DataFrame", arm: str, reward: str) -> dict[str, Empirical]:
    """Return one distribution per value of the column ``arm``, from its rows in the column ``reward``."""
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise ArgumentError("frame", "a pandas DataFrame", frame)
    for argument, column in (("arm", arm), ("reward", reward)):
        if list(columns).count(column) != 1:
            raise ArgumentError(argument, f"a column of the frame, one of {list(columns)}", column)
    if arm == reward:
        raise ArgumentError("reward", "another column than that of the arms", reward)
    options, rewards = frame[arm], frame[reward]
    if options.isna().any():
        raise ArgumentError("frame", f"one that names an arm in every row of column {arm!r}", "missing values")
    laws: dict[str, Empirical] = {}
    for option in options.unique():
        name, values = str(option), rewards[options == option]
        if name in laws:
            raise ArgumentError("frame", f"one whose arms in column {arm!r} are written differently", name)
        if len(values) < 2:
            raise ArgumentError("frame", f"one with at least two rewards of each arm, also of {name!r}", len(values))
        try:
            laws[name] = Empirical(values.to_numpy())
        except ArgumentError as error:
            raise ArgumentError(f"rewards of {name!r}", *error.args[1:]) from error
    if len(laws) < 2:
        raise ArgumentError("frame", f"one with at least two arms in column {arm!r}", list(laws))
    return laws


class ForeignRewards:
    """Rewards of one replication from foreign distributions.

    Block sizes depend only on the number of the block, so the j-th reward is the same for every policy, even
    where a vectorized sampler mixes the order of its random numbers.
    """

    def __init__(self, bandit: Bandit, seeds: Words) -> None:
        self.names = bandit.names
        self.table = bandit.table
        self.laws: dict[int, tuple[RewardLaw, np.random.Generator]] = {
            arm: (law, generator(seeds[arm]))
            for arm, (law, kind) in enumerate(zip(bandit.arms, self.table.kinds, strict=True))
            if kind == Kind.FOREIGN
        }
        self.drawn: dict[int, Floats] = {arm: np.empty(0) for arm in self.laws}

    def more(self) -> ArmTable:
        """Return the table of arms with twice as many rewards of each foreign distribution as before."""
        for arm, (law, rng) in self.laws.items():
            size = max(self.drawn[arm].size, _FIRST_BLOCK)
            block = _checked(self.names[arm], law.rvs(size=size, random_state=rng), size)
            self.drawn[arm] = np.concatenate([self.drawn[arm], block])
        table = self.table
        data = [self.drawn.get(arm, table.data[table.first[arm] : table.last[arm]]) for arm in range(len(self.names))]
        sizes = np.array([values.size for values in data], dtype=np.int64)
        last = np.cumsum(sizes)
        return table._replace(first=last - sizes, last=last, data=np.concatenate(data))


def _checked(name: str, drawn: Any, size: int) -> Floats:
    """Return what a user's distribution has drawn as an array; raise unless it is ``size`` finite numbers."""
    values = np.ascontiguousarray(drawn, dtype=np.float64)
    if values.shape != (size,):
        raise RewardError(f"arm {name!r}: rvs(size={size}) must give {size} numbers (got shape {values.shape})")
    if not np.isfinite(values).all():
        raise RewardError(f"arm {name!r}: rvs must give finite numbers (got {values[~np.isfinite(values)][0]})")
    return values
