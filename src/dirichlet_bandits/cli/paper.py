"""``dirichlet-bandits paper``: run every experiment of a paper, and write one report."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.errors import one_of
from dirichlet_bandits.experiments.catalogue import PAPERS


def paper(
    full: Annotated[
        bool,
        typer.Option("--full", help="Run as many replications as the paper, 5000 instead of 200, and other readings."),
    ] = False,
    which: Annotated[
        str,
        typer.Option(
            help="The paper: 'dirichlet' (NeurIPS 2021); 'readings', its other readings; 'sda', on sub-sampling duels "
            "(NeurIPS 2020); 'cvar', on risk: arms judged by their bad rewards (ICML 2021); or 'lbsda', on arms that "
            "change (ICML 2021)."
        ),
    ] = "dirichlet",
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only this experiment; repeatable. "
            + "; ".join(f"of {which} {one_of(paper.names)}" for which, paper in PAPERS.items()).capitalize()
            + "."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    workers: tables.Workers = None,
    dask: tables.Dask = None,
    seed: Annotated[int | None, typer.Option(help="Seed to use instead of the experiments' own.")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: tables.Quiet = False,
) -> None:
    """Reproduce the paper's experiments and write one report, OUT/index.html.

    Without --full, this takes a few minutes on two cores. If it is killed or interrupted, run the same command again to
    continue.

    Examples:

    \b
      dirichlet-bandits paper
      dirichlet-bandits paper --only robustness --only kinf --out robust
      dirichlet-bandits paper --full --out full-report
      dirichlet-bandits paper --which readings --out readings
      dirichlet-bandits paper --which sda --out subsampling
      dirichlet-bandits paper --which cvar --out risk
      dirichlet-bandits paper --which lbsda --out changing
    """
    form = tables.form_of(as_json, as_csv)
    say = partial(typer.echo, err=form != "text")  # other text would spoil JSON and CSV
    try:
        with tables.cluster(dask, workers) as executor:
            made = db.experiments.reproduce(
                out,
                which=which,
                only=only,
                full=full,
                seed=seed,
                workers=workers,
                executor=executor,
                progress=False if quiet else None,
                say=say,
            )
    except KeyboardInterrupt:
        typer.echo("interrupted: run the same command again to continue", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _show_times(made.chapters, form)
    say(f"report: {made.page}")


def _show_times(chapters: Sequence["db.report.Chapter"], form: tables.Form) -> None:
    """Show how long each policy took."""
    columns = {"experiment": "experiment", "policy": "policy"}
    if form != "text":
        seconds = [(chapter.title, *pair) for chapter in chapters for pair in chapter.seconds.items()]
        tables.show(tables.Table("", {**columns, "seconds": "seconds"}, seconds), form)
        return
    from dirichlet_bandits.display.numbers import duration

    rows = [
        (chapter.title if k == 0 else "", policy, duration(seconds))
        for chapter in chapters
        for k, (policy, seconds) in enumerate(chapter.seconds.items())
    ]
    total = sum(sum(chapter.seconds.values()) for chapter in chapters)
    rows.append(("all", "", duration(total)))
    tables.show(tables.Table("Processor time by policy", {**columns, "time": "time"}, rows))
