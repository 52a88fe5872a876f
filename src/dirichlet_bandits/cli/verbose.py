"""``--verbose``: print the records of the package's logger on stderr."""

import logging
from typing import Any

import typer

from dirichlet_bandits.cli.failures import OneLineErrors

_OPTION = "--verbose"


class VerboseAnywhere(OneLineErrors):
    """The root group, which accepts ``--verbose`` anywhere, before or after a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ours, others = args[:end], args[end:]
        asked = [_OPTION] if _OPTION in ours else []
        return super().parse_args(ctx, [*asked, *(word for word in ours if word != _OPTION), *others])


class _Stderr(logging.Handler):
    """Writes to the current stderr, because progress bars replace it while they are shown."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(self.format(record), err=True)


def log_to_stderr() -> None:
    """Print every record of the package, with the time."""
    from dirichlet_bandits.display.logs import LOGGER

    if not any(isinstance(handler, _Stderr) for handler in LOGGER.handlers):
        handler = _Stderr()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
        LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
