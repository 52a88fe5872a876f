"""Check where a command will write, before the work begins."""

import os
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.errors import ArgumentError

Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bars.")]
Workers = Annotated[
    int | None, typer.Option(help="Number of threads; default: one per core. Does not affect the numbers.")
]
Dask = Annotated[
    str | None, typer.Option(help="Run on the Dask cluster at this address, tcp://host:8786; it must see the output.")
]

PICTURES = (".png", ".pdf", ".svg")


def check_result(option: str, path: Path) -> None:
    """Check that a zarr folder can be written: a new one, or an older result."""
    _check_folder(option, path)
    if path.exists():
        db.load(path)


def check_picture(option: str, path: Path) -> None:
    """Check that a plot file has a supported format."""
    if path.suffix.lower() not in PICTURES:
        raise ArgumentError(option, f"a file that ends in {', '.join(PICTURES)}", str(path))
    _check_folder(option, path)


def check_new_file(name: str, path: Path) -> None:
    """Check that a file does not exist yet."""
    if path.exists():
        raise ArgumentError(name, "a file that does not exist yet", str(path))
    _check_folder(name, path)


def _check_folder(option: str, path: Path) -> None:
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(option, "in a folder that exists and can be written", str(path))


# Where a command runs simulations: on threads, or on the given Dask cluster


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
