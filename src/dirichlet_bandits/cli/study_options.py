"""Options and arguments of ``dirichlet-bandits study``, and how their values are read."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.csv_tables import COLUMNS, WORDS, Table, decoded
from dirichlet_bandits.errors import missing_extra

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live import Study

Name = Annotated[str, typer.Argument(help="Name of the study.", show_default=False)]
Url = Annotated[
    str,
    typer.Option(
        "--storage",
        envvar="DIRICHLET_BANDITS_STORAGE",
        help="sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE.",
    ),
]
Attribute = Annotated[list[str] | None, typer.Option(help="NAME=VALUE to store with the trial; repeatable.")]
Archived = Annotated[bool, typer.Option("--archived", help="List the archived studies instead.")]
Token = Annotated[
    str | None, typer.Option(help="Your name for this call; repeating it with the same name changes nothing.")
]


def read_reward(text: str) -> float:
    """Parse a number, or yes and no as 1 and 0.

    >>> read_reward("3120.5"), read_reward("Yes"), read_reward("no")
    (3120.5, 1.0, 0.0)
    """
    try:
        return WORDS[text.lower()] if text.lower() in WORDS else float(text)
    except ValueError:
        raise typer.BadParameter(f"must be a number, yes or no (got {text!r})") from None


Reward = Annotated[
    float, typer.Argument(parser=read_reward, metavar="REWARD", help="A number, yes or no.", show_default=False)
]
Bounds = Annotated[tuple[float, float] | None, typer.Option(metavar="LOWER UPPER", help="Bounds of all rewards.")]
Segment = Annotated[str | None, typer.Option(help="Segment of the study, if it has any.")]
Id = Annotated[int, typer.Argument(help="Id of the trial, as printed by 'ask'.", show_default=False)]


def read_table(path: Path, study: "Study | None" = None) -> "pd.DataFrame | dict[str, list[Any]]":
    """Read a table of past trials from a file, and check those of a CSV file line by line."""
    from dirichlet_bandits.live.past_trials import read_file

    if path.suffix.lower() != ".parquet":
        table = Table(decoded(path.read_bytes(), str(path))[0], str(path))
        at = table.columns(dict.fromkeys(COLUMNS), guess=False)
        if study is not None and len(at) < len(table.header):
            raise table.refused(f"the only columns must be {', '.join(COLUMNS)} (found {table.found()})")
        frame = read_file(table, at, study)
        for change in table.report:
            typer.echo(f"{path}: {change}", err=True)
        return frame
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError as error:
        raise missing_extra("Parquet files need", "live") from error
    except (ValueError, OSError) as error:  # pandas and pyarrow have many of their own, all of these kinds
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file cannot be read at all
        raise db.FormatError(f"{path} cannot be read as a Parquet file: {error}") from error


def read_history(path: Path | None) -> dict[str, list[float]] | None:
    """Read past rewards by arm from a file; None without a file."""
    from dirichlet_bandits.live.past_trials import rewards_by_arm

    if path is None:
        return None
    table = read_table(path)
    if not {"arm", "reward"} <= set(table):
        raise db.ArgumentError("history", "a file with columns arm and reward", ", ".join(map(str, table)))
    past = rewards_by_arm(table)
    if not past:
        raise db.ArgumentError("history", "a file with at least one reward", str(path))
    return past


def read_floor(given: list[str] | None) -> float | dict[str, float] | None:
    """Parse one number, or numbers by ARM=NUMBER.

    >>> read_floor(["0.1"]), read_floor(["a=0.1", "b=c=0.2"])
    (0.1, {'a': 0.1, 'b=c': 0.2})
    """
    if not given:
        return None
    try:
        if len(given) == 1 and "=" not in given[0]:
            return float(given[0])
        by_arm = [text.rpartition("=") for text in given]
        if all(sign for _, sign, _ in by_arm):
            return {arm: float(share) for arm, _, share in by_arm}
    except ValueError:
        pass
    raise db.ArgumentError("floor", "one number for every arm, or ARM=NUMBER for some arms", " ".join(given))


def read_shares(given: list[str]) -> dict[str, float]:
    """Parse arms, each with its share, which is 1 if it is left out.

    >>> read_shares(["red"]), read_shares(["red=0.5", "blue=0.5"])
    ({'red': 1.0}, {'red': 0.5, 'blue': 0.5})
    """
    shares = {}
    for text in given:
        arm, _, share = text.rpartition("=")
        weight = number_or_text(share)
        if arm and isinstance(weight, float):
            shares[arm] = weight
        else:
            shares[text] = 1.0
    return shares


def read_attributes(given: list[str] | None) -> dict[str, str | int | float | bool | None] | None:
    """Parse values by name from NAME=VALUE."""
    found: dict[str, str | int | float | bool | None] = {}
    for text in given or []:
        key, sign, value = text.partition("=")
        if not sign:
            raise db.ArgumentError("attribute", "written NAME=VALUE", text)
        found[key] = as_given(value)
    return found or None


def number_or_text(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def as_given(text: str) -> str | int | float:
    """Return a number if Python writes it the same way, else the text, so that no digit is lost.

    >>> [as_given(text) for text in ("7", "-7.5", "007", "7.50", "9007199254740993", "nan")]
    [7, -7.5, '007', '7.50', 9007199254740993, 'nan']
    """
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if str(number) == text and (kind is int or math.isfinite(number)):
            return number
    return text
