"""Names and descriptions of the arrays of a result, in memory and on disk."""

import functools
import importlib.metadata
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "dirichlet-bandits result 2"


class Variable(NamedTuple):
    """An array with a row for each policy and replication; ``blank`` marks what has not been simulated yet."""

    dims: tuple[str, ...]
    blank: float | int
    long_name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the array."""
        return np.dtype(type(self.blank))

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes of the array in xarray and zarr."""
        return {"long_name": self.long_name}

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return an array in which nothing has been simulated yet."""
        return np.full(shape, self.blank, self.dtype)


VARIABLES = {
    "regret": Variable(("policy", "replication", "time"), np.nan, "pseudo-regret"),
    "pulls": Variable(("policy", "replication", "arm"), 0, "pulls at the horizon"),
    "reward": Variable(("policy", "replication"), np.nan, "realized cumulative reward"),
}


class Labels(NamedTuple):
    """Everything about a simulation except its outcome, in plain arrays: xarray is imported only when needed."""

    policies: list[str]
    arms: list[str]
    means: Floats
    times: Ints
    replications: int
    attrs: dict[str, Any]
    values: Floats | None = None  # of the arms at each recorded time, where they change
    lower_bound: Callable[[], float | None] | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each dimension."""
        return {
            "policy": len(self.policies),
            "replication": self.replications,
            "time": self.times.size,
            "arm": len(self.arms),
        }

    def dataset(self, **arrays: NDArray[Any]) -> "xr.Dataset":
        """Return the labels as an xarray Dataset, with the arrays of an outcome if there is one."""
        xr = whole_module("xarray")

        about = {name: (VARIABLES[name].dims, array, VARIABLES[name].attrs) for name, array in arrays.items()}
        return xr.Dataset(
            {**about, **self._about_arms()},
            coords={
                "policy": np.array(self.policies, dtype=object),  # text of any length, as zarr stores it
                "replication": np.arange(self.replications),
                "time": ("time", self.times, {"long_name": "number of pulls"}),
                "arm": np.array(self.arms, dtype=object),
            },
            attrs=self.attrs | self._bound(),
        )

    def _bound(self) -> dict[str, float]:
        """Return the constant of the lower bound, if it is known; it is computed here, not by every simulation."""
        found = None if self.lower_bound is None else self.lower_bound()
        return {} if found is None else {"lower_bound": found}

    def _about_arms(self) -> dict[str, Any]:
        """Return the means of the arms, and their values over time if these change."""
        found: dict[str, Any] = {"mean": (("arm",), self.means, {"long_name": "true mean of the arm"})}
        if self.values is not None:
            found["value"] = (("time", "arm"), self.values, {"long_name": "value of the arm at the time"})
        return found


class Game(NamedTuple):
    """The objective of the arms, and how their values change; ``lower_bound`` computes that of :class:`Result`."""

    objective: str = "mean"
    regret_label: str = "regret"
    lower_bound: Callable[[], float | None] | None = None
    values: Floats | None = None
    breakpoints: Sequence[int] = ()
    oracle_reward: float | None = None


PLAIN_GAME: Final = Game()


def labels(
    *,
    policies: Mapping[str, str],
    arms: Mapping[str, str],
    means: Floats,
    times: Ints,
    replications: int,
    seed: np.random.SeedSequence,
    game: Game = PLAIN_GAME,
) -> Labels:
    """Make the labels; policies and arms map names to descriptions."""
    attrs: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(),
        "policies": json.dumps(dict(policies)),
        "arms": json.dumps(dict(arms)),
        "objective": game.objective,
        "regret_label": game.regret_label,
        "seed": json.dumps({"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}),
    }
    if game.oracle_reward is not None:
        attrs["oracle_reward"] = game.oracle_reward
    if game.breakpoints:
        attrs["breakpoints"] = json.dumps([first + 1 for first in game.breakpoints])
    return Labels(list(policies), list(arms), means, times, replications, attrs, game.values, game.lower_bound)


@functools.cache
def _version() -> str:
    return importlib.metadata.version("dirichlet-bandits")


def stored_seed(attrs: Mapping[str, Any]) -> np.random.SeedSequence:
    """Return the root of all random streams of a simulation from its labels."""
    found = json.loads(attrs["seed"])
    return np.random.SeedSequence(found["entropy"], spawn_key=tuple(found["spawn_key"]))
