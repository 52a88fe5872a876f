"""A chunk: what some replications of one policy came to, in memory, on the way between processes, or on disk."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from dirichlet_bandits.results.labels import VARIABLES
from dirichlet_bandits.results.layout import chunk_size
from dirichlet_bandits.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr


class Chunk(NamedTuple):
    """The outcome of some replications of one policy, a row each."""

    regret: Floats
    pulls: Ints
    reward: Floats

    @classmethod
    def blank(cls, replications: int, times: int, arms: int) -> "Chunk":
        """Rows in which nothing was simulated yet."""
        shapes = {"regret": (replications, times), "pulls": (replications, arms), "reward": (replications,)}
        return cls(**{name: VARIABLES[name].empty(shape) for name, shape in shapes.items()})


def chunks(data: "xr.Dataset") -> Iterator[tuple[int, int, Chunk]]:
    """Row, first replication and a window on the arrays of every chunk of a result."""
    regret, pulls, reward = (data[name].to_numpy() for name in Chunk._fields)
    size = chunk_size(data.sizes["replication"])
    for row in range(data.sizes["policy"]):
        for first in range(0, data.sizes["replication"], size):
            at = slice(first, first + size)
            yield row, first, Chunk(regret[row, at], pulls[row, at], reward[row, at])
