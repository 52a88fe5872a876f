"""``dirichlet-bandits crops``: sample the crop model, and look at samples."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import group
from dirichlet_bandits.errors import ArgumentError

app = group("Work with the crop model: maize yields by planting date.")


@app.command("sample")
def sample_command(
    seasons: Annotated[int, typer.Option(help="Number of seasons per date.")] = 1000,
    out: Annotated[Path, typer.Option(help="File to write; unfinished work is kept in OUT.parts.")] = Path(
        "yields.npz"
    ),
    dates: Annotated[str, typer.Option(help="Planting dates: days of the year, 'all' or 'spring'.")] = "all",
    seed: Annotated[int, typer.Option(help="The same seed gives the same samples.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Number of model processes; default: one per processor.")] = None,
    cultivar: Annotated[str | None, typer.Option(help="A code from the model's genotype file.")] = None,
    case: Annotated[Path | None, typer.Option(help="TOML file that changes soil, climate, fertilizer...")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """Simulate seasons with the real crop model (extra 'dssat').

    If it is killed, run the same command again to continue; the file will be the same to the byte.

    \b
    Examples:
      dirichlet-bandits crops sample --seasons 1000 --out yields.npz
      dirichlet-bandits crops sample --dates 57,72,87 --cultivar PC0001 --seed 3
      dirichlet-bandits crops sample --case case.toml --workers 2

    where case.toml may say: cultivar = "PC0003", density = 6.0, a table [soil] with runoff_curve = 80.0,
    tables [[fertilizer]] with day = 30 and nitrogen = 60.0.
    """
    form = tables.form_of(as_json, as_csv)
    chosen = db.crops.PUBLISHED if case is None else db.crops.case_from_toml(case)
    chosen = chosen if cultivar is None else replace(chosen, cultivar=cultivar)
    samples = db.crops.sample(seasons, dates=_days(dates), seed=seed, case=chosen, workers=workers, out=out)
    tables.show(_table(samples, str(out)), form)


@app.command("show")
def show_command(
    file: Annotated[Path | None, typer.Argument(help="File of samples; default: those shipped.")] = None,
    provenance: Annotated[bool, typer.Option("--provenance", help="Also print how the samples were made.")] = False,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
) -> None:
    """Print mean, standard deviation, share of zero harvests and largest yield by planting date.

    \b
    Examples:
      dirichlet-bandits crops show
      dirichlet-bandits crops show yields.npz --provenance
    """
    form = tables.form_of(as_json, as_csv)
    if provenance and form == "csv":
        raise ArgumentError("--provenance", "omitted with --csv; use --json", provenance)
    samples = db.crops.load(file)
    table = _table(samples, "the shipped samples" if file is None else str(file))
    around = {"provenance": samples.provenance} if provenance else None
    tables.show(table, form, around, "dates")
    if provenance and form == "text":
        tables.show_json(samples.provenance)


@app.command("case")
def case_command(
    file: Annotated[Path | None, typer.Argument(help="TOML file; default: the published case.")] = None,
) -> None:
    """Check a case file, and print the complete case with its defaults.

    \b
    Examples:
      dirichlet-bandits crops case
      dirichlet-bandits crops case case.toml
    """
    tables.show_json(asdict(db.crops.PUBLISHED if file is None else db.crops.case_from_toml(file)))


def _days(text: str) -> tuple[int, ...]:
    """Return the planting dates from the text of an option."""
    named = {"all": db.crops.DATES, "spring": db.crops.SPRING}
    if text in named:
        return named[text]
    try:
        return tuple(int(day) for day in text.split(","))
    except ValueError:
        raise ArgumentError("dates", "'all', 'spring', or days of the year such as '57,72'", text) from None


def _table(samples: "db.crops.Samples", title: str) -> tables.Table:
    """Print one row per planting date."""
    keys = {"day": "day", "date": "date", "seasons": "seasons", "mean": "mean", "stderr": "s.e.", "std": "sd"}
    keys |= {"zeros": "zeros", "largest": "largest"}
    rows = [
        (
            int(day),
            label,
            row.size,
            round(float(row.mean()), 1),
            round(float(row.std()) / row.size**0.5, 1),
            round(float(row.std()), 1),
            float((row == 0).mean()),
            int(row.max()),
        )
        for day, label, row in zip(samples.days, samples.labels, samples.yields, strict=True)
    ]
    return tables.Table(f"Maize yields, kg/ha: {title}", keys, rows)
