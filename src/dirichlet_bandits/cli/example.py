"""``dirichlet-bandits example``: write a commented experiment to start from."""

from pathlib import Path
from typing import Annotated

import typer

from dirichlet_bandits.cli.outputs import check_new_file
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.catalogue import SIMULATIONS, example_text, shipped_text


def example(
    path: Annotated[Path, typer.Argument(help="File to write; an existing file is not replaced.")] = Path(
        "experiment.toml"
    ),
    paper: Annotated[str | None, typer.Option(help=f"Copy an experiment of a paper: {one_of(SIMULATIONS)}.")] = None,
) -> None:
    """Write a commented experiment file, ready to run and to change.

    Examples:

    \b
      dirichlet-bandits example experiment.toml
      dirichlet-bandits simulate experiment.toml --out runs.zarr
      dirichlet-bandits example mixtures.toml --paper mixtures
      dirichlet-bandits simulate mixtures.toml --out mixtures.zarr \\
        --replications 200
    """
    if paper is not None and paper not in SIMULATIONS:
        raise ArgumentError("--paper", one_of(SIMULATIONS), paper)
    check_new_file("path", path)
    path.write_text(example_text() if paper is None else shipped_text(paper), encoding="utf-8")
    typer.echo(f"wrote {path}; run it with: dirichlet-bandits simulate {path} --out runs.zarr")
