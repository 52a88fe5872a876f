"""How errors reach the user of the command line: one line on stderr and exit code 2, no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError

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


@contextmanager
def options_named(*arguments: str) -> Iterator[None]:
    """Let an argument that is refused be called like the option that gave it: ``--seed`` for ``seed``."""
    try:
        yield
    except ArgumentError as error:
        name, expected, got = error.args
        if name not in arguments:
            raise
        raise ArgumentError(f"--{name}", expected, got) from error
