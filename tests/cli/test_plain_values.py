"""Plain values come to a command as Typer would convert them."""

from typing import Annotated

import pytest
import typer
import typer.core
from typer.testing import CliRunner

import dirichlet_bandits.cli.main  # noqa: F401 - changes how values are converted
from dirichlet_bandits.cli.plain_values import PlainValue

app = typer.Typer()


@app.command()
def show(
    text: str,
    whole: int,
    number: float,
    few: Annotated[int, typer.Option(min=1, max=3)] = 1,
    words: Annotated[list[str] | None, typer.Option()] = None,
    length: Annotated[int, typer.Option(parser=len)] = 4,
    missing: Annotated[float | None, typer.Option()] = None,
) -> None:
    typer.echo(repr((text, whole, number, few, words, length, missing)))


@pytest.fixture
def by_typer(monkeypatch):
    """What Typer itself says to these arguments."""
    parameters = getattr(typer.core, "_TyperParameter", None)
    if parameters is None:
        pytest.skip("this Typer converts values as it always did")
    ours = parameters.get_runtime_param
    assert isinstance(ours(None), PlainValue)

    def run(arguments):
        with monkeypatch.context() as patch:
            patch.setattr(parameters, "get_runtime_param", lambda parameter: ours(parameter)._by_typer(parameter))
            return CliRunner().invoke(app, arguments)

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ["a", "1", "2"],
        ["", "007", "1e-3"],
        ["1", " 12 ", "nan"],
        ["a", "1_000", "1_0.5"],
        ["a", "1.0", "inf"],
        ["a", "1.5", "2"],
        ["a", "x", "2"],
        ["a", "", "2"],
        ["a", "1", "two"],
        ["a", "1", "0x10"],
        ["a", "9" * 30, "2"],
        ["a", "\u0661", "\u0662"],
        ["a", "1", "2", "--few", "3", "--words", "b", "--words", "c"],
        ["a", "1", "2", "--few", "4"],
        ["a", "1", "2", "--length", "abc", "--missing", "0.5"],
        ["a", "1"],
    ],
)
def test_values_and_refusals_are_those_of_typer(by_typer, arguments):
    expected, found = by_typer(arguments), CliRunner().invoke(app, arguments)
    assert (found.exit_code, found.output) == (expected.exit_code, expected.output)
