"""Run the experiments of a paper, or resume them where an earlier run stopped; ``report`` reads the results."""

import contextlib
import dataclasses
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.display.durations import duration
from dirichlet_bandits.engine.verbs import param_types
from dirichlet_bandits.errors import ArgumentError, FormatError
from dirichlet_bandits.experiments.catalogue import shipped
from dirichlet_bandits.experiments.experiment import Experiment
from dirichlet_bandits.experiments.kinf_study import KinfStudy
from dirichlet_bandits.experiments.qds_study import QDSStudy
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.results import Result, load
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation.compile_ahead import Simulation, in_processes
from dirichlet_bandits.simulation.executors import Workers
from dirichlet_bandits.validation import whole_number

if TYPE_CHECKING:
    import xarray as xr

    from dirichlet_bandits.experiments.studies import Study

_SECONDS: Final = "seconds"  # attribute of a stored result: its processor time


class Run(NamedTuple):
    """A shipped experiment at the scale of its run, with its result and its processor seconds by policy."""

    name: str
    task: "Experiment | Study"
    result: "Result | xr.Dataset"
    seconds: dict[str, float]


def run_experiments(
    names: Sequence[str],
    folder: Path,
    *,
    replications: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
    say: Callable[[str], object] = lambda _: None,
) -> Iterator[Run]:
    """Run shipped experiments one after the other, each into a store of its own in a folder.

    A store left by an earlier call is resumed. ``replications`` and ``seed`` replace those of the experiments;
    ``say`` is called with a line of text for each step; the rest is as in :func:`dirichlet_bandits.simulate`. Ctrl-C
    raises KeyboardInterrupt, and finished work stays in the stores. Wrong arguments are refused before anything runs.
    """
    Workers(executor, workers)
    if seed is not None:
        whole_number("seed", seed, at_least=0)
    folder.mkdir(parents=True, exist_ok=True)
    options = {"workers": workers, "executor": executor, "progress": progress}

    def run_all() -> Iterator[Run]:
        if executor is None:
            _compile([name for name in names if not (folder / f"{name}.zarr").exists()], workers, progress, say)
        for name in names:
            yield _run(name, folder / f"{name}.zarr", replications, seed, say, **options)

    return run_all()


def _compile(names: list[str], workers: int | None, progress: bool | None, say: Callable[[str], object]) -> None:
    """Compile what new experiments need, unless it is already compiled, because starting processes takes a while."""
    every = [task.experiment() if isinstance(task, RandomArms) else task for task in map(shipped, names)]
    tasks = [task for task in every if isinstance(task, Experiment)]
    kinds = {
        (param_types(policy.params), plain): Simulation(task.bandit, policy, plain=plain)
        for task in tasks
        for plain in (task.bandit.still and not task.feedback,)
        for policy in task.policies.values()
    }
    missing = [simulation for simulation in kinds.values() if not simulation.is_compiled()]
    if missing:
        say("The first run compiles each kind of policy; later runs reuse the compiled code.")
        started = time.perf_counter()
        in_processes([simulation.job for simulation in missing], workers=workers, progress=progress)
        say(f"policies compiled: {len(missing)}, after {duration(time.perf_counter() - started)}")


def _run(
    name: str, store: Path, replications: int | None, seed: int | None, say: Callable[[str], object], **options: Any
) -> Run:
    task = shipped(name)
    if not isinstance(task, QDSStudy):
        task = dataclasses.replace(task, seed=task.seed if seed is None else seed)
    if isinstance(task, Experiment):
        task = dataclasses.replace(task, replications=replications or task.replications)
        result = _resumed(task, store, say, **options)
        return Run(name, task, result, dict(zip(result.policies, Store(store).seconds().tolist(), strict=True)))
    if isinstance(task, RandomArms):
        task = dataclasses.replace(task, problems=replications or task.problems)
        result = _stored(task, store, **options)
        return Run(name, task, result, {"": float(result.data.attrs[_SECONDS])})
    started = time.process_time()
    if isinstance(task, KinfStudy):
        task = dataclasses.replace(task, samples=replications or task.samples)
        values = task.run(progress=options["progress"])
    else:
        values = task.run()
    return Run(name, task, values, {"": time.process_time() - started})


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
