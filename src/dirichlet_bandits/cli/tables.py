"""Tables for the terminal."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import dirichlet_bandits as db

if TYPE_CHECKING:
    from rich.table import Table


def show(table: "Table") -> None:
    """Print a table to standard output, as wide as the terminal (80 columns in a file)."""
    from rich.console import Console

    Console().print(table)


def table(
    title: str, headers: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: bool = False, lines: bool = False
) -> "Table":
    """A table of texts; with ``numbers`` all columns but the first are set to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, show_lines=lines, pad_edge=False)
    for i, header in enumerate(headers):
        made.add_column(header, justify="right" if numbers and i else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))  # as Text: a name in brackets is not markup
    return made


def summary_table(title: str, result: "db.Result") -> "Table":
    """The summary of a result: regret at the horizon."""
    rows = [
        (
            str(policy),
            *(f"{row[key]:.4g}" for key in ("mean", "stderr", "std", "q05", "q95")),
            str(int(row["replications"])),
        )
        for policy, row in result.summary().iterrows()
    ]
    headers = ("policy", f"mean {result.regret_label}", "std error", "std", "5 %", "95 %", "runs")
    return table(title, headers, rows, numbers=True)
