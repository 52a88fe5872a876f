"""The command line: thin, one file a command group."""

from dirichlet_bandits.cli.main import app

__all__ = ["app"]
