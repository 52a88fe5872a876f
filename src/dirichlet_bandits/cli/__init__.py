"""The command line: a thin layer with one file per command group."""

import io
import signal
import sys
from typing import Any

__all__ = ["app", "run"]


def run() -> None:
    """Run the whole program, starting with the imports.

    During the imports, Ctrl-C ends the process by the system's default: there is nothing to save yet, and an exception
    in the middle of imports would show a traceback of other people's modules.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a job in the background ignores it
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dirichlet_bandits.cli.failures import INTERRUPTED
    from dirichlet_bandits.cli.main import run as run_commands

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not have the letters of a stored name
    try:
        run_commands()
    except KeyboardInterrupt:  # before a command began
        sys.exit(INTERRUPTED)


def __getattr__(name: str) -> Any:
    if name == "app":
        from dirichlet_bandits.cli.main import app

        return app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
