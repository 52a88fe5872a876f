"""Past rewards in a CSV file: the options that commands share, and how the file is read."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dirichlet_bandits as db

if TYPE_CHECKING:
    from dirichlet_bandits.environments import Bandit

Forgiving = Annotated[
    bool, typer.Option("--forgiving", help="Leave out blanks, and merge spellings of an arm; report every change.")
]
Wide = Annotated[bool, typer.Option("--wide", help="The file has one column of rewards per arm.")]


def read_past_rewards(file: Path, **options: Any) -> "Bandit":
    """Read past rewards, and print on stderr what was changed or left out."""
    with warnings.catch_warnings(record=True) as reports:
        warnings.simplefilter("always")
        past = db.read_rewards(file, **options)
    for report in reports:
        typer.echo(str(report.message), err=True)
    return past
