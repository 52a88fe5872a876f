"""Print tables for people, on a terminal or in a pipe, or as JSON or CSV for programs."""

import csv
import io
import json
import math
import os
import textwrap
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import dirichlet_bandits as db
from dirichlet_bandits.display.numbers import cell
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.files import plain_text

if TYPE_CHECKING:
    import dirichlet_bandits as db
    from dirichlet_bandits.environments import Bandit

Form = Literal["text", "json", "csv"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")]


@dataclass(frozen=True)
class Table:
    """Rows of numbers and texts. ``columns`` are names for programs, with headers for people; only ``prose`` wraps."""

    title: str
    columns: Mapping[str, str]
    rows: Sequence[Sequence[Any]]
    prose: Collection[str] = ()
    lines: bool = False

    def records(self) -> list[dict[str, Any]]:
        """Return one dict per row, with values that JSON supports."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]


def form_of(as_json: bool, as_csv: bool) -> Form:
    """Return the format that the options ``--json`` and ``--csv`` select."""
    if as_json and as_csv:
        raise ArgumentError("--csv", "omitted with --json", True)
    return "json" if as_json else "csv" if as_csv else "text"


def show(table: Table, form: Form = "text", around: dict[str, Any] | None = None, rows: str = "rows") -> None:
    """Print a table; JSON is a list of rows, or the dict ``around`` with the list under the key ``rows``."""
    if form == "json":
        records = table.records()
        show_json(records if around is None else {**around, rows: records})
    elif form == "csv":
        typer.echo(_csv(table), nl=False)
    else:
        typer.echo(_text(table))


def note(text: str, *, err: bool = False) -> None:
    """Print a sentence below a table, no wider than the table may be."""
    from rich.console import Console

    typer.echo(textwrap.fill(text, Console().width, break_long_words=False, break_on_hyphens=False), err=err)


def show_json(value: Any) -> None:
    """Print JSON."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def _csv(table: Table) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.columns)
    for record in table.records():
        writer.writerow(plain_text(x) if isinstance(x, str) else "" if x is None else x for x in record.values())
    return file.getvalue()


def _plain(value: Any) -> Any:
    """Return a value for JSON: NumPy numbers become Python's, and NaN becomes None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _text(table: Table) -> str:
    """Return the table as text that fits the terminal, or 80 columns; if that is too narrow, one cell per line."""
    from rich.console import Console

    console = Console()
    cells = [[cell(value) for value in row] for row in table.rows]
    widths = _widths(table, cells, console.width)
    if widths is None:
        return _blocks(table, cells)
    with console.capture() as captured:
        console.print(_rich_table(table, cells, widths))
    return "\n".join([table.title, *(line.rstrip() for line in captured.get().rstrip().splitlines())])


_GAP = 2


def _widths(table: Table, cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return the width of each column if only prose is wrapped, between words; None if there is not enough room."""
    from rich.cells import cell_len

    least, wanted = [], []
    for column, *texts in zip(table.columns, table.columns.values(), *cells, strict=True):
        lines = [line for text in texts for line in text.splitlines()]
        words = [word for line in lines for word in line.split()] if column in table.prose else lines
        least.append(max(map(cell_len, words), default=0))
        wanted.append(max(map(cell_len, lines), default=0))
    spare, wishes = room - sum(least) - _GAP * (len(least) - 1), sum(wanted) - sum(least)
    if spare < 0:
        return None
    share = min(1.0, spare / wishes) if wishes else 0.0
    return [narrow + int(share * (wide - narrow)) for narrow, wide in zip(least, wanted, strict=True)]


def _rich_table(table: Table, cells: Iterable[Sequence[str]], widths: Sequence[int]) -> Any:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(
        box=box.SIMPLE_HEAD, show_lines=table.lines, pad_edge=False, padding=(0, _GAP - 1, 0, 0), show_edge=False
    )
    for k, ((column, header), width) in enumerate(zip(table.columns.items(), widths, strict=True)):
        numbers = all(isinstance(row[k], int | float | None) or row[k][-1:] in ("", "%") for row in table.rows)
        side: Literal["right", "left"] = "right" if numbers and k else "left"
        made.add_column(header, justify=side, no_wrap=column not in table.prose, width=width)
    for row in cells:
        made.add_row(*map(Text, row))  # as Text: a name in brackets is not markup
    return made


def _blocks(table: Table, cells: Iterable[Sequence[str]]) -> str:
    """Return one block of lines per row: its first cell, and below it the others with their headers."""
    _, *headers = table.columns.values()
    wide = max(map(len, headers))
    lines = [table.title]
    for row in cells:
        lines += ["", *row[0].splitlines()]
        lines += [f"  {header:<{wide}}  {cell}" for header, cell in zip(headers, row[1:], strict=True) if cell]
    return "\n".join(lines)


def summary_table(title: str, result: "db.Result") -> Table:
    """Make the summary table of a result: regret at the horizon."""
    mean = f"mean {result.regret_label}" if len(result.regret_label) < 10 else "mean"
    numbers = {"mean": mean, "stderr": "std error", "std": "std", "q05": "5%", "q95": "95%"}
    columns = {"policy": "policy", **numbers, "replications": "runs"}
    rows = [
        (str(policy), *(float(row[key]) for key in numbers), int(row["replications"]))
        for policy, row in result.summary().iterrows()
    ]
    return Table(title, columns, rows)


# Past rewards in a CSV file: the options that commands share, and how the file is read


Forgiving = Annotated[
    bool, typer.Option("--forgiving", help="Leave out blanks, and merge spellings of an arm; report every change.")
]
Wide = Annotated[bool, typer.Option("--wide", help="The file has one column of rewards per arm.")]


def read_past_rewards(file: Path, **options: Any) -> "Bandit":
    """Read past rewards, and print on stderr what was changed or left out."""
    with warnings.catch_warnings(record=True) as reports:
        warnings.simplefilter("always")
        past = db.read_rewards(file, **options)
    for report in reports:
        typer.echo(str(report.message), err=True)
    return past


# Check where a command will write, before the work begins


Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bars.")]
Workers = Annotated[
    int | None, typer.Option(help="Number of threads; default: one per core. Does not affect the numbers.")
]
Dask = Annotated[
    str | None, typer.Option(help="Run on the Dask cluster at this address, tcp://host:8786; it must see the output.")
]

PICTURES = (".png", ".pdf", ".svg")


def check_result(option: str, path: Path) -> None:
    """Check that a zarr folder can be written: a new one, or an older result."""
    _check_folder(option, path)
    if path.exists():
        db.load(path)


def check_picture(option: str, path: Path) -> None:
    """Check that a plot file has a supported format."""
    if path.suffix.lower() not in PICTURES:
        raise ArgumentError(option, f"a file that ends in {', '.join(PICTURES)}", str(path))
    _check_folder(option, path)


def check_new_file(name: str, path: Path) -> None:
    """Check that a file does not exist yet."""
    if path.exists():
        raise ArgumentError(name, "a file that does not exist yet", str(path))
    _check_folder(name, path)


def _check_folder(option: str, path: Path) -> None:
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(option, "in a folder that exists and can be written", str(path))


# Where a command runs simulations: on threads, or on the given Dask cluster


@contextmanager
def cluster(dask: str | None, workers: int | None) -> Iterator[Executor | None]:
    """Return the executor for the options ``--dask`` and ``--workers``; None means threads."""
    if dask is None:
        yield None
        return
    if workers is not None:
        raise ArgumentError("--workers", "omitted with a Dask cluster, which has its own workers", workers)
    from dirichlet_bandits.simulation import dask_executor

    try:
        with dask_executor(dask) as executor:
            yield executor
    except ArgumentError as error:
        if error.name != "address":
            raise
        raise ArgumentError("--dask", *error.args[1:]) from error
