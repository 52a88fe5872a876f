"""How errors reach the user of the command line: one line on stderr and exit code 2, no traceback."""

from typing import Any

import typer
from typer.core import TyperGroup

from dirichlet_bandits.errors import DirichletBanditsError

FAILED = 2
INTERRUPTED = 130  # what shells report for Ctrl-C


class OneLineErrors(TyperGroup):
    """Root group: what this library raises on purpose, or what the file system refuses, becomes one line."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (DirichletBanditsError, OSError) as error:
            typer.echo("error: " + " ".join(str(error).split()), err=True)
            raise typer.Exit(FAILED) from error
