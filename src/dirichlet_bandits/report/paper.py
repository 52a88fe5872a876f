"""``reproduce``: every experiment of a paper, run or resumed, and one report of them."""

import contextlib
import dataclasses
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.experiments import Experiment, KinfStudy, QDSStudy, shipped
from dirichlet_bandits.experiments.catalogue import PAPERS, Paper
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.report.chapters import Chapter, kinf_chapter, qds_chapter, random_chapter, regret_chapter
from dirichlet_bandits.report.facts import duration
from dirichlet_bandits.report.judging import OUTCOMES
from dirichlet_bandits.report.writing import Making, write
from dirichlet_bandits.results import Result, load
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation.compile_ahead import compile_ahead, is_compiled
from dirichlet_bandits.simulation.executors import Workers
from dirichlet_bandits.validation import whole_number

_SECONDS = "seconds"  # attribute of a result that is kept: its processor time
QUICK = 200  # replications of a quick run; a paper may ask for fewer


class Reproduction(NamedTuple):
    """A report that was written: its page, and each experiment as a chapter, with the verdict on each of its claims."""

    page: Path
    chapters: tuple[Chapter, ...]


def reproduce(
    out: str | PathLike[str] = "report",
    *,
    which: str = "dirichlet",
    only: Sequence[str] | None = None,
    full: bool = False,
    seed: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    say: Callable[[str], object] | None = None,
) -> Reproduction:
    """Run the experiments of a paper and write one report of them; the command ``dirichlet-bandits paper`` does this.

    What an earlier call left in ``out`` is taken up where it was. Ctrl-C raises KeyboardInterrupt and keeps what is
    done.

    Parameters
    ----------
    out
        Folder for the report: ``index.html``, ``results.md``, figures, tables, and the results themselves.
    which
        The paper: "dirichlet", Baudry, Saux and Maillard (2021); "readings", where that paper can be read in several
        ways; "sda", Baudry, Kaufmann and Maillard (2020); or "cvar", Baudry, Gautron, Kaufmann and Maillard (2021).
    only
        Names of experiments, for "dirichlet" of ``experiments.SHIPPED``; by default all.
    full
        As many replications as the paper, 5000, in place of 200, and its other readings too, with 1000; for "cvar" 1040
        or 1000 in place of 40.
    seed
        In place of the experiments' own.
    workers, executor, progress
        As in :func:`dirichlet_bandits.simulate`; an executor's workers must see ``out``.
    say
        Called with a line of text for each step that is done; ``print`` for one.

    Example::

        made = dirichlet_bandits.report.reproduce("robust", only=["robustness"])
        [(verdict.says, verdict.outcome) for chapter in made.chapters for verdict in chapter.verdicts]

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies in
    stochastic bandits, NeurIPS.
    """
    if which not in PAPERS:
        raise ArgumentError("which", one_of(PAPERS), which)
    paper = PAPERS[which]
    chosen = _chosen(paper, only, full)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError("out", "a folder, new or not", str(out))
    Workers(executor, workers)  # refused here, if at all, and not after minutes of work
    if seed is not None:
        whole_number("seed", seed, at_least=0)
    data = folder / "data" / ("full" if full else "quick")
    data.mkdir(parents=True, exist_ok=True)
    tell = say or (lambda _: None)
    quick = None if full else min(QUICK, paper.quick)
    words = (" --full" if full else "") + ("" if seed is None else f" --seed {seed}")
    started = time.perf_counter()
    if executor is None:
        _compile([name for name in chosen if not (data / f"{name}.zarr").exists()], workers, progress, tell)
    chapters = []
    for name in chosen:
        began = time.perf_counter()
        chapter = _chapter(name, data, quick, seed, tell, workers=workers, executor=executor, progress=progress)
        wall = time.perf_counter() - began
        chapters.append(
            dataclasses.replace(
                chapter, wall=wall, command=f"dirichlet-bandits paper{paper.option} --only {name}{words}"
            )
        )
        counts = ", ".join(f"{chapter.count(outcome)} {outcome}" for outcome in OUTCOMES)
        tell(f"{chapter.title}: claims {counts}; {duration(wall)}")
    names = "" if only is None else "".join(f" --only {name}" for name in chosen)
    making = Making(
        quick_runs=quick,
        command=f"dirichlet-bandits paper{paper.option}{names}{words}",
        wall=time.perf_counter() - started,
        paper=paper,
    )
    return Reproduction(write(chapters, folder, making), tuple(chapters))


def _chosen(paper: Paper, only: Sequence[str] | None, full: bool) -> list[str]:
    """The experiments asked for, in the order of the report; other readings are run if named, or at full scale."""
    if isinstance(only, str):
        raise ArgumentError("only", "a list of names", only)
    known = (*paper.names, *paper.others)
    for name in only or ():
        if name not in known:
            raise ArgumentError("only", one_of(known), name)
    if only is not None:
        return [name for name in known if name in only]
    return list(known if full else paper.names)


def _compile(names: list[str], workers: int | None, progress: bool | None, tell: Callable[[str], object]) -> None:
    """Compile what new experiments need, if it was not compiled before: in processes of their own, which take a
    while to start."""
    every = [task.experiment() if isinstance(task, RandomArms) else task for task in map(shipped, names)]
    tasks = [task for task in every if isinstance(task, Experiment)]
    kinds = {type(policy.params): (task.bandit, policy) for task in tasks for policy in task.policies.values()}
    missing = [pair for pair in kinds.values() if not is_compiled(*pair)]
    if missing:
        tell("The first run compiles each kind of policy once; later runs find it done.")
        started = time.perf_counter()
        compile_ahead(missing, workers=workers, progress=progress)
        tell(f"policies compiled: {len(missing)}, after {duration(time.perf_counter() - started)}")


def _chapter(
    name: str, data: Path, quick: int | None, seed: int | None, tell: Callable[[str], object], **options: Any
) -> Chapter:
    """Run one experiment and judge its claims; ``options`` are those of ``simulate``."""
    task, is_quick = shipped(name), quick is not None
    if not isinstance(task, QDSStudy):
        task = dataclasses.replace(task, seed=task.seed if seed is None else seed)
    if isinstance(task, Experiment):
        task = dataclasses.replace(task, replications=quick or task.replications)
        store = data / f"{name}.zarr"
        result = _resumed(task, store, tell, **options)
        seconds = dict(zip(result.policies, Store(store).seconds().tolist(), strict=True))
        return dataclasses.replace(regret_chapter(name, task, result, quick=is_quick), seconds=seconds)
    if isinstance(task, RandomArms):
        task = dataclasses.replace(task, problems=quick or task.problems)
        result = _kept(task, data / f"{name}.zarr", **options)
        chapter = random_chapter(name, task, result, quick=is_quick)
        return dataclasses.replace(chapter, seconds={"": float(result.data.attrs[_SECONDS])})
    started = time.process_time()
    if isinstance(task, KinfStudy):
        task = dataclasses.replace(task, samples=quick or task.samples)
        chapter = kinf_chapter(name, task, task.run(progress=options["progress"]), quick=is_quick)
    else:
        chapter = qds_chapter(name, task, task.run(), quick=is_quick)
    return dataclasses.replace(chapter, seconds={"": time.process_time() - started})


def _resumed(task: Experiment, store: Path, tell: Callable[[str], object], **options: Any) -> Result:
    """The result, from where an earlier run of the same experiment left it."""
    try:
        return _uninterrupted(task.run, store=str(store), **options)
    except ArgumentError as error:
        if error.name != "store":
            raise
        tell(f"{store} is of another version or seed of this experiment: made anew")
        shutil.rmtree(store)
        return _uninterrupted(task.run, store=str(store), **options)


def _kept(task: RandomArms, place: Path, **options: Any) -> Result:
    """The result of random problems, which is kept when all of them are done; from an earlier run if it is the same."""
    with contextlib.suppress(FileNotFoundError, FormatError):
        found = load(place).data.drop_vars("mean")
        if found.attrs.get("identity") == task.identity and _SECONDS in found.attrs:
            return Result(found)
    started = time.process_time()
    result = _uninterrupted(task.run, **options)
    result.data.attrs[_SECONDS] = time.process_time() - started
    # On disk every result has means; those of the arms of many problems are left open.
    Result(result.data.assign(mean=("arm", np.full(result.data.sizes["arm"], np.nan)))).save(place)
    return result


def _uninterrupted(run: Callable[..., Result], **options: Any) -> Result:
    """The result of all replications; Ctrl-C goes on to whoever called, with what is done in the store."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")
        result = run(**options)
    if result.undone:
        raise KeyboardInterrupt
    return result
