"""Options and arguments of ``dirichlet-bandits study``, and how their values are read."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import dirichlet_bandits as db
from dirichlet_bandits.csv_tables import COLUMNS, CSVTable, decoded
from dirichlet_bandits.declared import read_number
from dirichlet_bandits.errors import missing_extra

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.live import Study

Name = Annotated[str, typer.Argument(help="Name of the study.", show_default=False)]
_PLACES = "sqlite:///FILE or postgresql+psycopg://USER@HOST/DATABASE."
Url = Annotated[str, typer.Option("--storage", envvar="DIRICHLET_BANDITS_STORAGE", help=_PLACES)]
Archived = Annotated[bool, typer.Option("--archived", help="List the archived studies instead.")]
Token = Annotated[
    str | None, typer.Option(help="Your name for this call; repeating it with the same name changes nothing.")
]


Segment = Annotated[str | None, typer.Option(help="Segment of the study, if it has any.")]


def read_table(path: Path, study: "Study | None" = None) -> "pd.DataFrame | dict[str, list[Any]]":
    """Read a table of past trials from a file, and check those of a CSV file line by line."""
    from dirichlet_bandits.live.past_trials import read_file

    if path.suffix.lower() != ".parquet":
        table = CSVTable(decoded(path.read_bytes(), str(path))[0], str(path))
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
        raise db.errors.FormatError(f"{path} cannot be read as a Parquet file: {error}") from error


def read_history(path: Path | None) -> dict[str, list[float]] | None:
    """Read past rewards by arm from a file; None without a file."""
    from dirichlet_bandits.live.past_trials import rewards_by_arm

    if path is None:
        return None
    table = read_table(path)
    if not {"arm", "reward"} <= set(table):
        raise db.errors.ArgumentError("history", "a file with columns arm and reward", ", ".join(map(str, table)))
    past = rewards_by_arm(table)
    if not past:
        raise db.errors.ArgumentError("history", "a file with at least one reward", str(path))
    return past


def read_shares(given: list[str]) -> dict[str, float]:
    """Parse arms, each with its share, which is 1 if it is left out.

    >>> read_shares(["red"]), read_shares(["red=0.5", "blue=0.5"])
    ({'red': 1.0}, {'red': 0.5, 'blue': 0.5})
    """
    shares = {}
    for text in given:
        arm, _, share = text.rpartition("=")
        weight = read_number(share)
        if arm and isinstance(weight, float):
            shares[arm] = weight
        else:
            shares[text] = 1.0
    return shares
