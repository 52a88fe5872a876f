"""``dirichlet-bandits paper``: every experiment of the paper, and one report of them."""

import dataclasses
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from dirichlet_bandits import report
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.running import run
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments import SHIPPED, Experiment, KinfStudy, shipped
from dirichlet_bandits.numerics.checks import whole_number
from dirichlet_bandits.report import Chapter
from dirichlet_bandits.report.facts import duration
from dirichlet_bandits.report.judging import OUTCOMES

QUICK = 200  # replications of a quick run


def paper(
    full: Annotated[bool, typer.Option("--full", help="As many replications as the paper: 5000, not 200.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help=f"Only this experiment; may be repeated. {one_of(SHIPPED).capitalize()}.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    workers: Annotated[int | None, typer.Option(help="Threads; by default one a core. Never changes numbers.")] = None,
    dask: Annotated[str | None, typer.Option(help="Run on the Dask cluster at this address: tcp://host:8786.")] = None,
    seed: Annotated[int | None, typer.Option(help="In place of the experiments' own.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Run the paper's experiments again and write one report: OUT/index.html.

    Quick without --full: a few minutes on two cores. Killed or interrupted, the same command goes on where it was.

    Examples:

    \b
      dirichlet-bandits paper
      dirichlet-bandits paper --only robustness --only kinf --out robust
      dirichlet-bandits paper --full --out full-report
    """
    chosen = _chosen(only)
    if out.exists() and not out.is_dir():
        raise ArgumentError("--out", "a folder, new or not", str(out))
    if workers is not None:
        whole_number("--workers", workers, at_least=1)
    if seed is not None:
        whole_number("--seed", seed, at_least=0)
    out.mkdir(parents=True, exist_ok=True)
    typer.echo("The first run compiles each policy once; later runs start at once.")
    options = _options(full=full, seed=seed)
    started = time.perf_counter()
    chapters = []
    for name in chosen:
        began = time.perf_counter()
        chapter = _chapter(name, full=full, seed=seed, workers=workers, quiet=quiet)
        seconds = {"all policies": time.perf_counter() - began}
        chapters.append(report.timed(chapter, seconds, f"dirichlet-bandits paper --only {name}{options}"))
        typer.echo(f"{chapter.title}: {_counts(chapter)}, {duration(sum(seconds.values()))}")
    names = "" if only is None else "".join(f" --only {name}" for name in chosen)
    making = report.Making(
        quick_runs=None if full else QUICK,
        command=f"dirichlet-bandits paper{names}{options}",
        seconds=time.perf_counter() - started,
    )
    page = report.write(chapters, out, making)
    _show_times(chapters)
    typer.echo(f"report: {page}")


def _chosen(only: list[str] | None) -> list[str]:
    for name in only or ():
        if name not in SHIPPED:
            raise ArgumentError("--only", one_of(SHIPPED), name)
    return [name for name in SHIPPED if only is None or name in only]


def _options(*, full: bool, seed: int | None) -> str:
    return (" --full" if full else "") + ("" if seed is None else f" --seed {seed}")


def _chapter(name: str, *, full: bool, seed: int | None, workers: int | None, quiet: bool) -> Chapter:
    task = shipped(name)
    if isinstance(task, Experiment):
        task = dataclasses.replace(
            task,
            replications=task.replications if full else QUICK,
            seed=task.seed if seed is None else seed,
        )
        result, undone = run(task, workers=workers, quiet=quiet)
        if undone:
            typer.echo("interrupted: the same command goes on where this one was", err=True)
            raise typer.Exit(INTERRUPTED)
        return report.regret_chapter(name, task, result, quick=not full)
    if isinstance(task, KinfStudy):
        task = dataclasses.replace(
            task, samples=task.samples if full else QUICK, seed=task.seed if seed is None else seed
        )
        values = task.run(progress=False if quiet else None)
        return report.kinf_chapter(name, task, values, quick=not full)
    return report.qds_chapter(name, task, task.run(), quick=not full)


def _counts(chapter: Chapter) -> str:
    return "claims " + ", ".join(f"{chapter.count(outcome)} {outcome}" for outcome in OUTCOMES)


def _show_times(chapters: list[Chapter]) -> None:
    rows = [
        (chapter.title if first else "", policy, duration(seconds))
        for chapter in chapters
        for first, (policy, seconds) in _marked_first(chapter.seconds)
    ]
    tables.show(tables.table("Time by policy", ("experiment", "policy", "time"), rows))


def _marked_first(seconds: Mapping[str, float]) -> list[tuple[bool, tuple[str, float]]]:
    return [(i == 0, item) for i, item in enumerate(seconds.items())]
