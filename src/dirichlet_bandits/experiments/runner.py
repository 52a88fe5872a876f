"""Run the experiments of a paper, or resume them where an earlier run stopped, and let ``report`` read the results."""

import contextlib
import dataclasses
import platform
import shutil
import time
import tomllib
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.display.numbers import duration
from dirichlet_bandits.errors import ArgumentError, FormatError, one_of
from dirichlet_bandits.experiments.catalogue import PAPERS, shipped, shipped_text
from dirichlet_bandits.experiments.experiment import Experiment
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.report import OUTCOMES, Chapter, Making, Unread, write
from dirichlet_bandits.report.claims import Paper
from dirichlet_bandits.results import Result, load
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation.executors import Workers, cores
from dirichlet_bandits.validation import whole_number

QUICK = 200  # replications of a quick run; a paper may ask for fewer
_SECONDS: Final = "seconds"  # attribute of a stored result: its processor time


def _run(
    name: str, folder: Path, scale: tuple[int | None, int | None], say: Callable[[str], object], **options: Any
) -> Chapter:
    """Return the chapter of a shipped experiment; its store in the folder is resumed if an earlier call left it."""
    task, store, quick = shipped(name).at_scale(*scale), folder / f"{name}.zarr", scale[0] is not None
    started = time.process_time()
    if isinstance(task, Experiment):
        result = _resumed(task, store, say, **options)
        chapter = task.chapter(name, result, quick)
        seconds = dict(zip(result.policies, Store(store).seconds().tolist(), strict=True))
    elif isinstance(task, RandomArms):
        result = _stored(task, store, **options)
        chapter = task.chapter(name, result, quick)
        seconds = {"": float(result.data.attrs[_SECONDS])}
    else:
        values = task.run(progress=options["progress"])
        seconds = {"": time.process_time() - started}
        chapter = task.chapter(name, values, quick)
    return dataclasses.replace(chapter, seconds=seconds)


def _resumed(task: Experiment, store: Path, say: Callable[[str], object], **options: Any) -> Result:
    """Return the result; continue from where an earlier run of the same experiment stopped."""
    try:
        return _all_replications(task.run, store=str(store), **options)
    except ArgumentError as error:
        if error.name != "store":
            raise
        say(f"{store} is of another version or seed of this experiment, so it is replaced")
        shutil.rmtree(store)
        return _all_replications(task.run, store=str(store), **options)


def _stored(task: RandomArms, store: Path, **options: Any) -> Result:
    """Return the result of random problems, which is stored when all are done, or the stored one if it is the same."""
    with contextlib.suppress(FileNotFoundError, FormatError):
        found = load(store).data.drop_vars("mean")
        if found.attrs.get("identity") == task.identity and _SECONDS in found.attrs:
            return Result(found)
    started = time.process_time()
    result = _all_replications(task.run, **options)
    result.data.attrs[_SECONDS] = time.process_time() - started
    # On disk every result has means; with many problems they are NaN.
    Result(result.data.assign(mean=("arm", np.full(result.data.sizes["arm"], np.nan)))).save(store)
    return result


def _all_replications(run: Callable[..., Result], **options: Any) -> Result:
    """Return a result with all replications, or raise KeyboardInterrupt after Ctrl-C; the store keeps what is done."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="interrupted")
        result = run(**options)
    if result.undone:
        raise KeyboardInterrupt
    return result


class Reproduction(NamedTuple):
    """A written report: its page, and each experiment as a chapter, with the verdict on each of its claims."""

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
    """Run the experiments of a paper and write one report, like the command ``dirichlet-bandits paper``.

    An earlier, unfinished call with the same ``out`` is resumed. Ctrl-C raises KeyboardInterrupt and keeps finished
    work.

    Parameters
    ----------
    out
    which
        The paper: "dirichlet", Baudry, Saux and Maillard (2021); "readings", where that paper can be read in several
        ways; "sda", Baudry, Kaufmann and Maillard (2020); "cvar", Baudry, Gautron, Kaufmann and Maillard (2021); or
        "lbsda", Baudry, Russac and Cappé (2021), with problems of Besson et al. (2022).
    only
        Names of experiments (for "dirichlet", those in ``experiments.SHIPPED``); by default all.
    full
        Run as many replications as the paper, 5000 instead of 200, and the other readings with 1000. For "cvar", these
        are 1040 or 1000 instead of 40; for "lbsda", 2000, 1000 or 400 instead of 50.
    seed
        A seed to use instead of the experiments' own.
    workers, executor, progress
        As in :func:`dirichlet_bandits.simulate`; an executor's workers must see ``out``.
    say
        A function that is called with a line of text after each step, such as ``print``.

    Example::

        made = dirichlet_bandits.experiments.reproduce("robust", only=["robustness"])
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
        raise ArgumentError("out", "a folder, which may exist", str(out))
    tell = say or (lambda _: None)
    quick = None if full else min(QUICK, paper.quick)
    words = (" --full" if full else "") + ("" if seed is None else f" --seed {seed}")
    command = f"dirichlet-bandits paper{paper.option}"
    data = folder / "data" / ("full" if full else "quick")
    options: dict[str, Any] = {"workers": workers, "executor": executor, "progress": progress}
    Workers(executor, workers)
    if seed is not None:
        whole_number("seed", seed, at_least=0)
    data.mkdir(parents=True, exist_ok=True)
    chapters: list[Chapter] = []
    started = began = time.perf_counter()
    for name in chosen:
        chapter = _run(name, data, (quick, seed), tell, **options)
        wall = time.perf_counter() - began
        began += wall
        chapter = dataclasses.replace(chapter, wall=wall, command=f"{command} --only {name}{words}")
        chapters.append(chapter)
        counts = ", ".join(f"{chapter.count(outcome)} {outcome}" for outcome in OUTCOMES)
        tell(f"{chapter.title}: claims {counts}; {duration(wall)}")
    names = "" if only is None else "".join(f" --only {name}" for name in chosen)
    making = Making(
        quick_runs=quick,
        command=f"{command}{names}{words}",
        wall=time.perf_counter() - started,
        paper=paper,
        machine=machine(),
        unread=_unread(paper, [chapter.name for chapter in chapters]),
    )
    return Reproduction(write(chapters, folder, making), tuple(chapters))


def _chosen(paper: Paper, only: Sequence[str] | None, full: bool) -> list[str]:
    """Return the chosen experiments in the order of the report; other readings run if named, or at full scale."""
    if isinstance(only, str):
        raise ArgumentError("only", "a list of names", only)
    known = (*paper.names, *paper.others)
    for name in only or ():
        if name not in known:
            raise ArgumentError("only", one_of(known), name)
    if only is not None:
        return [name for name in known if name in only]
    return list(known if full else paper.names)


def _unread(paper: Paper, done: Sequence[str]) -> list[Unread]:
    """Return the experiments on readings that have no chapter although their original experiment has one."""
    files = [tomllib.loads(shipped_text(name)) for name in paper.others if name not in done]
    return [
        Unread(file["title"], about["about"].strip(), about["of"], frozenset(claim["says"] for claim in file["claims"]))
        for file in files
        if (about := file["paper"])["of"] in done
    ]


def machine() -> str:
    """Describe the processor, its usable cores and the operating system."""
    n = cores()
    return f"{_processor()}, {n} core{'s' if n > 1 else ''}, {platform.system()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
