"""Show errors on the command line: one line on stderr and exit code 2, no traceback."""

import logging
import os
import re
import select
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError

FAILED = 2
INTERRUPTED = 130  # what shells report for Ctrl-C

_USAGE: Any = typer.BadParameter.__mro__[2]  # ClickException, of Click or of the copy of it that newer Typers carry
_IN_PYTHON = re.compile(r"\((bounds|sigma|ordered|level)\)|\bsay (wide)\b| \(load_if_exists=True[^)]*\)")


class OneLineErrors(TyperGroup):
    """A group of commands that prints errors of this library, the file system or the parser as one line.

    If a reader such as ``head`` closes the pipe, that is not an error.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        call = partial(super().main, args, prog_name, complete_var, False, windows_expand_args, **extra)
        if not standalone_mode:
            return call()
        try:
            code = call()
        except _USAGE as error:
            code = _show_usage(error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            if not _output_is_closed():
                say_error(str(error))
                raise typer.Exit(FAILED) from error
            raise typer.Exit from error
        except (DirichletBanditsError, OSError, MemoryError) as error:
            say_error(in_options(str(error) or "there is not enough memory"))
            raise typer.Exit(FAILED) from error


def group(help: str, cls: type[OneLineErrors] = OneLineErrors) -> typer.Typer:
    """Return a new group of commands."""
    return typer.Typer(cls=cls, help=help, no_args_is_help=True, rich_markup_mode=None)


class NamedOptions(TyperCommand):
    """A command whose errors name the option, such as ``--seed``, instead of the argument ``seed``."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ArgumentError as error:
            name, expected, got = error.args
            stem = name.partition("[")[0]
            for parameter in self.params:
                option = max(parameter.opts, key=len)
                if option.startswith("--") and stem in (parameter.name, *_plurals(option.removeprefix("--"))):
                    raise ArgumentError(option, expected, got) from error
            raise


def _plurals(word: str) -> tuple[str, ...]:
    """Return a word and its plurals, because a repeated option is a list argument."""
    return word, f"{word}s", f"{word.removesuffix('y')}ies"


def name_options(app: typer.Typer) -> None:
    """Make all commands of an app and its groups :class:`NamedOptions`."""
    for command in app.registered_commands:
        if not issubclass(command.cls or TyperCommand, NamedOptions):
            command.cls = NamedOptions
    for group in app.registered_groups:
        if group.typer_instance is not None:
            name_options(group.typer_instance)


def in_options(text: str) -> str:
    """Rewrite advice in terms of command-line options.

    >>> in_options("needs an upper bound of the rewards (bounds)")
    'needs an upper bound of the rewards (--bounds)'
    >>> in_options("there is a study 'page' (load_if_exists=True opens it)")
    "there is a study 'page'"
    """

    def option(found: re.Match[str]) -> str:
        if found[2]:
            return f"say --{found[2]}"
        if not found[1]:
            return ""  # advice that no option can follow
        return f"(--{found[1]})"

    return _IN_PYTHON.sub(option, text)


def say_error(text: str) -> None:
    """Print a message as one line on stderr."""
    typer.echo("error: " + " ".join(text.split()), err=True)


def _show_usage(error: Any) -> int:
    """Print what the parser did not understand, or the help of a command without arguments."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return FAILED
    text = error.format_message().strip().rstrip(".")
    context = getattr(error, "ctx", None)
    hint = f" (help: {context.command_path} --help)" if context is not None else ""
    say_error(text[:1].lower() + text[1:] + hint)
    return FAILED


def _output_is_closed() -> bool:
    """Whether standard output is closed; if so, nothing is written to it at exit either."""
    try:
        place = sys.stdout.fileno()
        events = select.poll()
        events.register(place, select.POLLOUT)
        closed = any(event & (select.POLLERR | select.POLLHUP) for _, event in events.poll(0))
    except (AttributeError, OSError, ValueError):  # no poll on this system, or no file
        return False
    if closed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), place)
    return closed


# ``--verbose``: print the records of the package's logger on stderr


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
    from dirichlet_bandits.display import LOGGER

    if not any(isinstance(handler, _Stderr) for handler in LOGGER.handlers):
        handler = _Stderr()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S"))
        LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
