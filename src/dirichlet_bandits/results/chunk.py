"""A chunk: the outcome of some replications of one policy, in memory, between processes or on disk."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dirichlet_bandits.results.labels import VARIABLES
from dirichlet_bandits.results.layout import chunk_size
from dirichlet_bandits.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr


class Chunk(NamedTuple):
    """The outcome of some replications of one policy, one row per replication."""

    regret: Floats
    pulls: Ints
    reward: Floats

    @classmethod
    def blank(cls, replications: int, times: int, arms: int) -> "Chunk":
        """Return rows in which nothing has been simulated yet."""
        shapes = {"regret": (replications, times), "pulls": (replications, arms), "reward": (replications,)}
        return cls(**{name: VARIABLES[name].empty(shape) for name, shape in shapes.items()})


def chunks(data: "xr.Dataset") -> Iterator[tuple[int, int, Chunk]]:
    """Yield the row, the first replication and a view of the arrays of each chunk of a result."""
    regret, pulls, reward = (data[name].to_numpy() for name in Chunk._fields)
    size = chunk_size(data.sizes["replication"])
    for row in range(data.sizes["policy"]):
        for first in range(0, data.sizes["replication"], size):
            at = slice(first, first + size)
            yield row, first, Chunk(regret[row, at], pulls[row, at], reward[row, at])
