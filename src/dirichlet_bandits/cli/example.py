"""``dirichlet-bandits example``: a commented experiment to start from."""

from pathlib import Path
from typing import Annotated

import typer

from dirichlet_bandits.cli.outputs import check_new_file
from dirichlet_bandits.experiments import example_text


def example(
    path: Annotated[Path, typer.Argument(help="File to write; one that exists is left alone.")] = Path(
        "experiment.toml"
    ),
) -> None:
    """Write a commented experiment file, ready to run and to change.

    Example:

    \b
      dirichlet-bandits example experiment.toml
      dirichlet-bandits simulate experiment.toml --out runs.zarr
    """
    check_new_file("path", path)
    path.write_text(example_text(), encoding="utf-8")
    typer.echo(f"wrote {path}; run it with: dirichlet-bandits simulate {path} --out runs.zarr")
