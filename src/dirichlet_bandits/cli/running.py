"""Where a command runs simulations: on threads, or on the given Dask cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from dirichlet_bandits.errors import ArgumentError


@contextmanager
def cluster(dask: str | None, workers: int | None) -> Iterator[Executor | None]:
    """Return the executor for the options ``--dask`` and ``--workers``; None means threads."""
    if dask is None:
        yield None
        return
    if workers is not None:
        raise ArgumentError("--workers", "omitted with a Dask cluster, which has its own workers", workers)
    from dirichlet_bandits.simulation import dask_executor

    try:
        with dask_executor(dask) as executor:
            yield executor
    except ArgumentError as error:
        if error.name != "address":
            raise
        raise ArgumentError("--dask", *error.args[1:]) from error
