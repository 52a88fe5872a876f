"""The commands of operations: one per operation that changes a study, and per reading in ``PRINTED``."""

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.declared_commands import DeclaredCommand, example, with_fields
from dirichlet_bandits.cli.failures import OneLineErrors
from dirichlet_bandits.cli.study_options import Name, Token, Url
from dirichlet_bandits.display.numbers import in_percent, number

_MODULES: Final = ("asking", "operations", "readings")


def say_trials(asked: Any, answer: Any) -> str:
    """Return one line per trial: id, arm and propensity."""
    return "\n".join(f"{trial.id}\t{trial.arm}\t{trial.propensity:.6g}" for trial in answer)


def say_late(asked: Any, answer: list[int]) -> str:
    """Return how many trials are late, and which."""
    return f"{len(answer)} late" + (f": {', '.join(map(str, answer))}" if answer else "")


def floor_words(floor: float | Mapping[str, float] | None) -> str:
    """Describe the floor of a study in words.

    >>> floor_words(0.1), floor_words({"red": 0.2}), floor_words(0.0)
    ('0.1 for every arm', '0.2 for red', 'none')
    """
    if isinstance(floor, Mapping):
        return ", ".join(f"{share:g} for {arm}" for arm, share in floor.items() if share) or "none"
    return f"{floor:g} for every arm" if floor else "none"


def say_difference(asked: Any, found: Any) -> str:
    """Return the difference of two arms with its interval, and what it is based on."""
    value = number(found.value) or "not known yet"
    return (
        f"{asked.a} - {asked.b}: {value}, from {number(found.low)} to {number(found.high)}\n"
        f"  {sure(asked.confidence)}, even if the arms change\n"
        f"  {found.rounds:,} decisions in which both arms were possible; {found.missing:,} rewards missing"
    )


def sure(confidence: float) -> str:
    """Return what an interval means."""
    return f"{in_percent(confidence)} sure at all times at once"


PRINTED: Final[dict[str, str | Callable[[Any, Any], str]]] = {
    "ask": say_trials,
    "settle": say_late,
    "set-floor": lambda asked, answer: f"floor: {floor_words(asked.floor)}",
    "winner": "{1}",
    "declare-winner": "{1}",
    "estimate-difference": say_difference,
}
"""What a command prints, given the operation and its answer; others print what they say is ``done``."""


@cache
def sentences() -> dict[str, str]:
    """Return the first sentence about each operation, by its command; the files are read, not imported."""
    found = {}
    folder = Path(str(db.__file__)).parent / "live"
    for node in (node for one in _MODULES for node in ast.parse((folder / f"{one}.py").read_text("utf-8")).body):
        made = node.decorator_list[0] if isinstance(node, ast.ClassDef) and node.decorator_list else None
        if isinstance(node, ast.ClassDef) and isinstance(made, ast.Call) and ast.unparse(made.func) == "operation":
            named = [ast.literal_eval(one.value) for one in made.keywords if one.arg == "name"]
            name = (named[0] if named else re.sub(r"(?<!^)(?=[A-Z])", "_", node.name).lower()).replace("_", "-")
            if name in PRINTED or ast.unparse(made.args[0]) != "READ":
                found[name] = first_sentence(ast.get_docstring(node) or "")
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring."""
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


class StudyCommands(OneLineErrors):
    """The group of commands that are written by hand, and of those of operations."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({*super().list_commands(ctx), *sentences()})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is None and cmd_name in sentences():
            return OperationCommand(cmd_name, help=sentences()[cmd_name])
        return found


class OperationCommand(DeclaredCommand):
    """A command that carries out an operation and prints what came of it."""

    def complete(self) -> Any:
        import dirichlet_bandits.live.study  # noqa: F401  # declares all of them
        from dirichlet_bandits.live.operation import OPERATIONS

        name = str(self.name)
        kind = OPERATIONS[name.replace("-", "_")]
        written = example(kind, ["dirichlet-bandits", "study", name, "maize"], ["--storage", "sqlite:///maize.db"])
        missing = {"token": kind.has_token, "as_json": kind.returns is not None and kind.key is None}

        def do(name: Name, storage: Url, token: Token = None, as_json: tables.AsJson = False, **fields: Any) -> None:
            asked = kind(**fields)
            answer = db.load_study(name, storage)._transport.do(asked, token)
            if as_json:
                tables.show_json(kind.answer_as_json(answer))
            else:
                said = PRINTED.get(str(self.name), asked.done)
                typer.echo(said.format(asked, answer) if isinstance(said, str) else said(asked, answer))

        leave_out = [option for option, there in missing.items() if not there]
        return with_fields(name, do, kind, f"{self.help}\n\n{written}", leave_out)
