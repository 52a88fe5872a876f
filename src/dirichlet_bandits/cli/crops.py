"""``dirichlet-bandits crops``: sample the crop model, and look at samples."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import rich  # its parts are imported when they are used
import typer

import dirichlet_bandits as db
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError

app = typer.Typer(
    help="The crop model: maize yields by planting date.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """One line instead of a traceback for what the user can put right."""
    try:
        yield
    except (DirichletBanditsError, OSError) as error:
        from rich.console import Console

        Console(stderr=True).print(f"Error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None


@app.command("sample")
def sample_command(
    seasons: Annotated[int, typer.Option(help="Seasons a date.")] = 1000,
    out: Annotated[Path, typer.Option(help="File to write; unfinished work waits in OUT.parts.")] = Path("yields.npz"),
    dates: Annotated[str, typer.Option(help="Planting dates: days of the year, 'all' or 'spring'.")] = "all",
    seed: Annotated[int, typer.Option(help="Equal seeds give equal samples.")] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Model processes at a time; as many as processors if not given.")
    ] = None,
    cultivar: Annotated[str | None, typer.Option(help="A code of the model's genotype file.")] = None,
    case: Annotated[Path | None, typer.Option(help="TOML file that changes soil, climate, fertiliser...")] = None,
) -> None:
    """Simulate seasons with the real crop model (extra 'dssat').

    Killed and started again, it goes on where it was; the file is the same to the byte.

    [bold]Examples[/bold]

    dirichlet-bandits crops sample --seasons 1000 --out yields.npz

    dirichlet-bandits crops sample --dates 57,72,87 --cultivar PC0001 --seed 3

    dirichlet-bandits crops sample --case case.toml --workers 2

    where case.toml may say: cultivar = "PC0003", density = 6.0, a table \\[soil] with runoff_curve = 80.0,
    tables \\[\\[fertiliser]] with day = 30 and nitrogen = 60.0.
    """
    with _plain_errors():
        told = db.crops.PUBLISHED if case is None else db.crops.case_from_toml(case)
        told = told if cultivar is None else replace(told, cultivar=cultivar)
        samples = db.crops.sample(seasons, dates=_days(dates), seed=seed, case=told, workers=workers, out=out)
        _print(samples, str(out))


@app.command("show")
def show_command(
    file: Annotated[Path | None, typer.Argument(help="A file of samples; the shipped ones if not given.")] = None,
    provenance: Annotated[bool, typer.Option("--provenance", help="Also print how they were made.")] = False,
) -> None:
    """Print mean, standard deviation, share of zero harvests and largest yield by planting date.

    [bold]Examples[/bold]

    dirichlet-bandits crops show

    dirichlet-bandits crops show yields.npz --provenance
    """
    with _plain_errors():
        samples = db.crops.load(file)
        _print(samples, "the shipped samples" if file is None else str(file))
        if provenance:
            rich.print_json(data=samples.provenance)


@app.command("case")
def case_command(
    file: Annotated[Path | None, typer.Argument(help="TOML file; the published case if not given.")] = None,
) -> None:
    """Check a case file, and print the whole case with its defaults.

    [bold]Examples[/bold]

    dirichlet-bandits crops case

    dirichlet-bandits crops case case.toml
    """
    from dataclasses import asdict

    with _plain_errors():
        rich.print_json(data=asdict(db.crops.PUBLISHED if file is None else db.crops.case_from_toml(file)))


def _days(text: str) -> tuple[int, ...]:
    named = {"all": db.crops.DATES, "spring": db.crops.SPRING}
    if text in named:
        return named[text]
    try:
        return tuple(int(day) for day in text.split(","))
    except ValueError:
        raise ArgumentError("dates", "'all', 'spring', or days of the year such as '57,72'", text) from None


def _print(samples: "db.crops.Samples", title: str) -> None:
    from rich.table import Table

    table = Table(title=f"Maize yields, kg/ha: {title}", title_justify="left")
    for heading in ("day", "date", "seasons", "mean", "s.e.", "sd", "zeros", "largest"):
        table.add_column(heading, justify="right")
    for day, label, row in zip(samples.days, samples.labels, samples.yields, strict=True):
        cells = (row.mean(), row.std() / row.size**0.5, row.std())
        table.add_row(
            str(day),
            label,
            str(row.size),
            *(f"{cell:.0f}" for cell in cells),
            f"{(row == 0).mean():.3f}",
            str(row.max()),
        )
    rich.get_console().print(table)
