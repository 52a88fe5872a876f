"""``dirichlet-bandits paper``: every experiment of the paper, and one report of them."""

import dataclasses
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from dirichlet_bandits import report
from dirichlet_bandits.cli import tables
from dirichlet_bandits.cli.failures import INTERRUPTED
from dirichlet_bandits.cli.running import run
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments import SHIPPED, Experiment, KinfStudy, QDSStudy, shipped
from dirichlet_bandits.report import Chapter
from dirichlet_bandits.report.facts import duration
from dirichlet_bandits.report.judging import OUTCOMES
from dirichlet_bandits.results import Result
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation.precompile import compile_ahead
from dirichlet_bandits.validation import whole_number

QUICK = 200  # replications of a quick run


def paper(
    full: Annotated[bool, typer.Option("--full", help="As many replications as the paper: 5000, not 200.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help=f"Only this experiment; may be repeated. {one_of(SHIPPED).capitalize()}.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    workers: Annotated[int | None, typer.Option(help="Threads; by default one a core. Never changes numbers.")] = None,
    dask: Annotated[
        str | None, typer.Option(help="Run on the Dask cluster at this address, tcp://host:8786; it must see OUT.")
    ] = None,
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
        if dask is not None:
            raise ArgumentError("--workers", "left out where a Dask cluster brings its own", workers)
    if seed is not None:
        whole_number("--seed", seed, at_least=0)
    data = out / "data" / ("full" if full else "quick")
    data.mkdir(parents=True, exist_ok=True)  # refused here, if at all, and not after minutes of work
    words = (" --full" if full else "") + ("" if seed is None else f" --seed {seed}")
    started = time.perf_counter()
    chapters = []
    if dask is None:
        _compile([name for name in chosen if not (data / f"{name}.zarr").exists()], workers, quiet)
    for name in chosen:
        began = time.perf_counter()
        chapter = _chapter(name, data, full, seed, quiet=quiet, workers=workers, dask=dask)
        wall = time.perf_counter() - began
        command = f"dirichlet-bandits paper --only {name}{words}"
        chapters.append(dataclasses.replace(chapter, wall=wall, command=command))
        counts = ", ".join(f"{chapter.count(outcome)} {outcome}" for outcome in OUTCOMES)
        typer.echo(f"{chapter.title}: claims {counts}; {duration(wall)}")
    names = "" if only is None else "".join(f" --only {name}" for name in chosen)
    making = report.Making(
        quick_runs=None if full else QUICK,
        command=f"dirichlet-bandits paper{names}{words}",
        wall=time.perf_counter() - started,
    )
    page = report.write(chapters, out, making)
    _show_times(chapters)
    typer.echo(f"report: {page}")


def _chosen(only: list[str] | None) -> list[str]:
    for name in only or ():
        if name not in SHIPPED:
            raise ArgumentError("--only", one_of(SHIPPED), name)
    return [name for name in SHIPPED if only is None or name in only]


def _compile(names: list[str], workers: int | None, quiet: bool) -> None:
    """Compile what new experiments need, if it was not compiled before."""
    tasks = [task for task in map(shipped, names) if isinstance(task, Experiment)]
    kinds = {type(policy): (task.bandit, policy) for task in tasks for policy in task.policies.values()}
    if kinds:
        typer.echo("The first run compiles each kind of policy once; later runs find it done.")
        started = time.perf_counter()
        compile_ahead(kinds.values(), workers=workers, progress=False if quiet else None)
        typer.echo(f"policies compiled: {len(kinds)}, after {duration(time.perf_counter() - started)}")


def _chapter(name: str, data: Path, full: bool, seed: int | None, *, quiet: bool, **options: Any) -> Chapter:
    task = shipped(name)
    if not isinstance(task, QDSStudy):
        task = dataclasses.replace(task, seed=task.seed if seed is None else seed)
    if isinstance(task, Experiment):
        task = dataclasses.replace(task, replications=task.replications if full else QUICK)
        store = data / f"{name}.zarr"
        result = _resumed(task, store, quiet=quiet, **options)
        seconds = dict(zip(result.policies, Store(store).seconds().tolist(), strict=True))
        return dataclasses.replace(report.regret_chapter(name, task, result, quick=not full), seconds=seconds)
    started = time.process_time()
    if isinstance(task, KinfStudy):
        task = dataclasses.replace(task, samples=task.samples if full else QUICK)
        chapter = report.kinf_chapter(name, task, task.run(progress=False if quiet else None), quick=not full)
    else:
        chapter = report.qds_chapter(name, task, task.run(), quick=not full)
    return dataclasses.replace(chapter, seconds={"": time.process_time() - started})


def _resumed(task: Experiment, store: Path, *, quiet: bool, **options: Any) -> Result:
    """The result, from where an earlier run of the same experiment left it."""
    try:
        result, undone = run(task, quiet=quiet, store=str(store), **options)
    except ArgumentError as error:
        if error.name != "store":
            raise
        typer.echo(f"{store} is of another version or seed of this experiment: made anew")
        shutil.rmtree(store)
        result, undone = run(task, quiet=quiet, store=str(store), **options)
    if undone:
        typer.echo("interrupted: the same command goes on where this one was", err=True)
        raise typer.Exit(INTERRUPTED)
    return result


def _show_times(chapters: list[Chapter]) -> None:
    rows = [
        (chapter.title if k == 0 else "", policy, duration(seconds))
        for chapter in chapters
        for k, (policy, seconds) in enumerate(chapter.seconds.items())
    ]
    total = sum(sum(chapter.seconds.values()) for chapter in chapters)
    rows.append(("all", "", duration(total)))
    tables.show(tables.table("Processor time by policy", ("experiment", "policy", "time"), rows))
