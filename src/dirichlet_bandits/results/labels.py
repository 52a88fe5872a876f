"""What the arrays of a result are called: one description for results in memory and on disk."""

import functools
import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from dirichlet_bandits.types import Floats, Ints

FORMAT = "dirichlet-bandits result 2"


class Variable(NamedTuple):
    """An array with a row for each policy and replication; ``blank`` stands where nothing was simulated yet."""

    dims: tuple[str, ...]
    blank: float | int
    long_name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the array."""
        return np.dtype(type(self.blank))

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """An array in which nothing was simulated yet."""
        return np.full(shape, self.blank, self.dtype)


VARIABLES = {
    "regret": Variable(("policy", "replication", "time"), np.nan, "pseudo-regret"),
    "pulls": Variable(("policy", "replication", "arm"), 0, "pulls at the horizon"),
    "reward": Variable(("policy", "replication"), np.nan, "realised cumulative reward"),
}


def labels(
    *,
    policies: Mapping[str, str],
    arms: Mapping[str, str],
    means: Floats,
    times: Ints,
    replications: int,
    seed: np.random.SeedSequence,
    objective: str = "mean",
    regret_label: str = "regret",
    lower_bound: float | None = None,
) -> xr.Dataset:
    """Everything about a simulation but its outcome; ``lower_bound`` is that of :class:`Result`, if known."""
    data = xr.Dataset(
        {"mean": (("arm",), means, {"long_name": "true mean of the arm"})},
        coords={
            "policy": np.array(list(policies), dtype=object),  # text of any length, as zarr stores it
            "replication": np.arange(replications),
            "time": ("time", times, {"long_name": "number of pulls"}),
            "arm": np.array(list(arms), dtype=object),
        },
        attrs={
            "format": FORMAT,
            "version": _version(),
            "policies": json.dumps(dict(policies)),
            "arms": json.dumps(dict(arms)),
            "objective": objective,
            "regret_label": regret_label,
            "seed": json.dumps({"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}),
        },
    )
    if lower_bound is not None:
        data.attrs["lower_bound"] = lower_bound
    return data


@functools.cache
def _version() -> str:
    return importlib.metadata.version("dirichlet-bandits")


def stored_seed(attrs: Mapping[str, Any]) -> np.random.SeedSequence:
    """The root of all streams of a simulation, from its labels."""
    found = json.loads(attrs["seed"])
    return np.random.SeedSequence(found["entropy"], spawn_key=tuple(found["spawn_key"]))
