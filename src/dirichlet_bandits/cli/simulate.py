"""``dirichlet-bandits simulate``: run an experiment that a TOML file describes."""

import dataclasses
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import dirichlet_bandits as db
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.tables import check_new_file
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments.catalogue import PAPERS, SIMULATIONS, example_text, shipped_text


def simulate(
    experiment: Annotated[Path, typer.Argument(help="Experiment in TOML; 'dirichlet-bandits example' writes one.")],
    out: Annotated[Path | None, typer.Option(help="zarr folder for the result; replaces an older result.")] = None,
    store: Annotated[
        str | None, typer.Option(help="zarr folder or URL that keeps finished work; run again to continue.")
    ] = None,
    replications: Annotated[int | None, typer.Option(help="Replace the value in the file.")] = None,
    horizon: Annotated[int | None, typer.Option(help="Replace the value in the file.")] = None,
    seed: Annotated[int | None, typer.Option(help="Replace the value in the file.")] = None,
    workers: tables.Workers = None,
    dask: tables.Dask = None,
    plot: Annotated[Path | None, typer.Option(help="File for a plot of the regret: .png, .pdf or .svg.")] = None,
    as_json: tables.AsJson = False,
    as_csv: tables.AsCsv = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress bars and no table.")] = False,
) -> None:
    """Run an experiment, print its summary and save the result (--out or --store). Ctrl-C saves what is finished.

    Examples:

    \b
      dirichlet-bandits simulate experiment.toml --out runs.zarr
      dirichlet-bandits simulate experiment.toml --out runs.zarr \\
        --replications 20 --plot regret.png
      dirichlet-bandits simulate experiment.toml --store runs.zarr \\
        --dask tcp://host:8786
      dirichlet-bandits simulate experiment.toml --out runs.zarr --csv > out.csv

    Read the result in Python:  dirichlet_bandits.load("runs.zarr")
    """
    form = tables.form_of(as_json, as_csv)
    task = db.experiments.read(experiment)
    task = dataclasses.replace(
        task,
        replications=task.replications if replications is None else replications,
        horizon=task.horizon if horizon is None else horizon,
        seed=task.seed if seed is None else seed,
    )
    place = store or out
    if place is None:
        raise ArgumentError("--out", "given, or --store", None)
    if out is not None:
        tables.check_result("--out", out)
    if plot is not None:
        tables.check_picture("--plot", plot)

    with tables.cluster(dask, workers) as executor, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")  # said below
        result = task.run(workers=workers, progress=False if quiet else None, store=store, executor=executor)
    undone, total = result.undone, task.replications * len(task.policies)
    if undone == total:
        typer.echo("interrupted before the first replication was finished: nothing saved", err=True)
        raise typer.Exit(INTERRUPTED)
    if out is not None:
        result.save(out)
    if plot is not None:
        task.picture(result, plot)
    table = tables.summary_table(f"{task.title}: {result.regret_label} after {task.horizon} pulls", result)
    if not quiet or form != "text":
        tables.show(table, form)
    if not quiet:
        aside = form != "text"  # other text would spoil JSON and CSV
        for claim in task.claims:
            verdict = db.report.judge_regret(claim, result)
            tables.note(f"{verdict.outcome}: {verdict.says} {db.report.sentence(verdict)}", err=aside)
        typer.echo("saved: " + ", ".join(str(where) for where in (store, out, plot) if where), err=aside)
    if undone:
        done = f"{total - undone} of {total} replications were finished and are saved in {place}"
        typer.echo(f"interrupted: {done}" + ("; run again to continue" if store else ""), err=True)
        raise typer.Exit(INTERRUPTED)


# ``dirichlet-bandits example``: write a commented experiment to start from


def example(
    path: Annotated[Path, typer.Argument(help="File to write; an existing file is not replaced.")] = Path(
        "experiment.toml"
    ),
    paper: Annotated[str | None, typer.Option(help=f"Copy an experiment of a paper: {one_of(SIMULATIONS)}.")] = None,
) -> None:
    """Write a commented experiment file, ready to run and to change.

    Examples:

    \b
      dirichlet-bandits example experiment.toml
      dirichlet-bandits simulate experiment.toml --out runs.zarr
      dirichlet-bandits example mixtures.toml --paper mixtures
      dirichlet-bandits simulate mixtures.toml --out mixtures.zarr \\
        --replications 200
    """
    if paper is not None and paper not in SIMULATIONS:
        raise ArgumentError("--paper", one_of(SIMULATIONS), paper)
    check_new_file("path", path)
    path.write_text(example_text() if paper is None else shipped_text(paper), encoding="utf-8")
    typer.echo(f"wrote {path}; run it with: dirichlet-bandits simulate {path} --out runs.zarr")


# ``dirichlet-bandits paper``: run every experiment of a paper, and write one report


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
