"""The command line: thin, one file a command group."""

from dirichlet_bandits.cli.main import app, run

__all__ = ["app", "run"]
