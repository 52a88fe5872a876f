"""``reproduce``: write one report of all experiments of a paper, which ``experiments.runner`` runs or resumes."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from dirichlet_bandits.display.durations import duration
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.experiments import Experiment, KinfStudy, QDSStudy
from dirichlet_bandits.experiments.catalogue import PAPERS, Paper
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.experiments.runner import run_experiments
from dirichlet_bandits.report.chapters import Chapter, kinf_chapter, qds_chapter, random_chapter, regret_chapter
from dirichlet_bandits.report.judging import OUTCOMES
from dirichlet_bandits.report.writing import Making, write

QUICK = 200  # replications of a quick run; a paper may ask for fewer
_CHAPTERS: dict[type, Callable[..., Chapter]] = {
    Experiment: regret_chapter,
    RandomArms: random_chapter,
    KinfStudy: kinf_chapter,
    QDSStudy: qds_chapter,
}


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
        raise ArgumentError("out", "a folder, which may exist", str(out))
    tell = say or (lambda _: None)
    quick = None if full else min(QUICK, paper.quick)
    words = (" --full" if full else "") + ("" if seed is None else f" --seed {seed}")
    command = f"dirichlet-bandits paper{paper.option}"
    data = folder / "data" / ("full" if full else "quick")
    options: dict[str, Any] = {"workers": workers, "executor": executor, "progress": progress}
    runs = run_experiments(chosen, data, replications=quick, seed=seed, say=tell, **options)
    chapters: list[Chapter] = []
    started = began = time.perf_counter()
    for run in runs:
        make = _CHAPTERS[type(run.task)]
        chapter = make(run.name, run.task, run.result, quick=not full)
        wall = time.perf_counter() - began
        began += wall
        alone = f"{command} --only {run.name}{words}"
        chapters.append(dataclasses.replace(chapter, seconds=run.seconds, wall=wall, command=alone))
        counts = ", ".join(f"{chapter.count(outcome)} {outcome}" for outcome in OUTCOMES)
        tell(f"{chapter.title}: claims {counts}; {duration(wall)}")
    names = "" if only is None else "".join(f" --only {name}" for name in chosen)
    making = Making(
        quick_runs=quick,
        command=f"{command}{names}{words}",
        wall=time.perf_counter() - started,
        paper=paper,
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
