"""``dirichlet-bandits demo``: two comparisons worth looking at, with pictures."""

import dataclasses
from pathlib import Path
from typing import Annotated, NamedTuple

import pandas as pd
import typer

from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.running import run
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.experiments import shipped


class Chapter(NamedTuple):
    """One shipped experiment, what to notice in it, and the pairs of policies that make the point."""

    name: str
    point: str
    pairs: tuple[tuple[str, str], ...]


CHAPTERS = (
    Chapter(
        "gaussians",
        "UCB1 was told too small a variance: most of its runs are fine, a few never recover (see std). "
        "R-UCB-LT and RDS were told none; R-UCB-LT pays for it in every run, RDS little.",
        (("RDS", "UCB1"), ("RDS", "R-UCB-LT")),
    ),
    Chapter(
        "mixtures",
        "KL-UCB, IMED and TS take the rewards for Gaussian and sometimes never recover; RDS and QDS assume no shape.",
        (("RDS", "KL-UCB"), ("RDS", "IMED"), ("RDS", "TS"), ("QDS", "RDS")),
    ),
)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the pictures and the table.")] = Path("report"),
    replications: Annotated[int | None, typer.Option(help="Fewer is faster, more is smoother.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; by default one a core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Compare policies on two problems; leave pictures and a CSV file.

    \b
    Example:
      dirichlet-bandits demo --out report --replications 50
    """
    if out.exists() and not out.is_dir():
        raise ArgumentError("--out", "a folder, new or not", str(out))
    out.mkdir(parents=True, exist_ok=True)
    typer.echo("The first run compiles each policy once; later runs start at once.")
    summaries: list[pd.DataFrame] = []
    for chapter in CHAPTERS:
        experiment = shipped(chapter.name)
        if replications is not None:
            experiment = dataclasses.replace(experiment, replications=replications)
        result, undone = run(experiment, workers=workers, quiet=quiet)
        if undone:
            typer.echo("interrupted", err=True)
            raise typer.Exit(INTERRUPTED)
        for suffix in ("png", "pdf"):
            experiment.picture(result, out / f"{chapter.name}.{suffix}")
        summary = result.summary()
        title = f"{experiment.title}: regret after {experiment.horizon} pulls"
        tables.show(tables.summary_table(title, summary))
        typer.echo(chapter.point)
        if experiment.replications > 1:
            for first, second in chapter.pairs:
                typer.echo(f"  {result.compare(first, second)}")
        typer.echo("")
        summaries.append(summary.reset_index().assign(experiment=chapter.name).set_index("experiment"))
    pd.concat(summaries).to_csv(out / "summary.csv")
    typer.echo(f"left in {out}: {', '.join(sorted(path.name for path in out.iterdir()))}")
