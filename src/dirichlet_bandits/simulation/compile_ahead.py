"""Compile policies in parallel before they are needed.

Numba compiles one function at a time in a process, but several processes share its cache. The processes are plain
Python interpreters that receive jobs one by one. Unlike those of ``multiprocessing``, they never run the user's script.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from queue import SimpleQueue
from typing import Any

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.compiler import NotCached, only_cached
from dirichlet_bandits.display.logs import LOGGER
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.engine.verbs import param_types
from dirichlet_bandits.errors import LostWorkerError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.simulation.collect import Collector
from dirichlet_bandits.simulation.executors import cores
from dirichlet_bandits.simulation.plan import Plan, make_plan
from dirichlet_bandits.simulation.units import units_of
from dirichlet_bandits.worlds import World
from dirichlet_bandits.worlds.feedback import AT_ONCE

_BAR = "compiling"
_MOST = 4  # processes: each takes about a gigabyte
_loaded: set[tuple[tuple[type, ...], bool, bool]] = set()  # types of parameters, whether fast, whether in a world
_CHILD = f"from {__name__} import do_jobs; do_jobs()"


def compile_ahead(
    pairs: Collection[tuple[Bandit | World, Policy]], *, workers: int | None, progress: bool | None
) -> None:
    """Compile the simulation of each policy, several at a time, for this and later processes to load."""
    in_processes([partial(compile_simulation, *pair) for pair in pairs], workers=workers, progress=progress)


def compile_missing(plan: Plan, *, workers: int | None, progress: bool | None) -> None:
    """Compile the policies of a plan that are not in the cache, in several processes if there are several.

    A single policy is compiled when it is first used, and so is a policy that another process could not import.
    """
    processes = min(workers or cores(), cores())
    in_world = plan.world is not None
    every = {param_types(policy.params): policy for policy in plan.policies.values() if isinstance(policy, Policy)}
    policies = {kind: policy for kind, policy in every.items() if (kind, plan.fast, in_world) not in _loaded}
    if processes < 2 or len(policies) < 2 or getattr(sys, "frozen", False) or not sys.executable:
        return
    jobs = {}
    for kind, policy in policies.items():
        importable = all(part.__module__ != "__main__" for part in kind)
        if importable and not is_compiled(plan.bandit, policy, plan.fast, in_world):
            job = partial(compile_simulation, plan.bandit, policy, plan.fast, in_world)
            if _is_picklable(job):
                jobs[type(policy).__name__] = job
    if len(jobs) > 1:
        LOGGER.info("compiling %s, once", ", ".join(jobs))
        in_processes(list(jobs.values()), workers=processes, progress=progress)


def is_compiled(bandit: Bandit | World, policy: Policy, fast: bool = True, in_world: bool = False) -> bool:
    """Whether the simulation of a policy of this type is in the cache; if so, it is loaded into this process."""
    try:
        with only_cached():
            compile_simulation(bandit, policy, fast, in_world)
    except NotCached:
        return False
    _loaded.add((param_types(policy.params), fast, in_world))
    return True


def compile_simulation(bandit: Bandit | World, policy: Policy, fast: bool = True, in_world: bool = False) -> None:
    """Run the shortest possible simulation with a policy of this type, so that it is compiled or loaded."""
    settings: Any = {"horizon": len(bandit), "replications": 1, "seed": 0, "record": 1, "fast": fast}
    plan = make_plan(bandit, policy, answers={**AT_ONCE, "delay": int(in_world)}, **settings)
    Collector(plan, None)
    units_of(plan, None, 1)[0].run()


def in_processes(
    jobs: Collection[Callable[[], object]], *, workers: int | None, progress: bool | None, what: str = "policies"
) -> None:
    """Do all jobs, several at a time in separate processes; Ctrl-C ends them at once."""
    number = min(workers or cores(), _MOST, len(jobs))
    children = [_Child() for _ in range(number)]
    idle: SimpleQueue[_Child] = SimpleQueue()
    for child in children:
        idle.put(child)

    def do(job: Callable[[], object]) -> None:
        child = idle.get()
        child.do(job)
        idle.put(child)

    with bars({_BAR: len(jobs)}, progress, what) as shown, ThreadPoolExecutor(number) as pool:
        futures = [pool.submit(do, job) for job in jobs]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                shown.show(_BAR, done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children:
                child.stop()


class _Child:
    """A Python process that does jobs one after the other, and reports their errors."""

    def __init__(self) -> None:
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        alone: Any = {"process_group": 0} if os.name == "posix" else {}  # Ctrl-C on the terminal is for the parent
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            **alone,
        )

    def do(self, job: Callable[[], object]) -> None:
        """Send a job, and wait until it is done; an error there is raised here."""
        channels: Any = self._process
        try:
            pickle.dump(job, channels.stdin)
            channels.stdin.flush()
            error = pickle.load(channels.stdout)
        except (OSError, EOFError) as lost:
            raise LostWorkerError(f"a compiling process ended unexpectedly (status {self._process.wait()})") from lost
        if error is not None:
            raise error

    def stop(self) -> None:
        """End the process at any time: a file in the cache is either complete or absent."""
        self._process.kill()
        self._process.communicate()


def do_jobs() -> None:
    """Do the jobs that arrive on standard input until it ends: the main function of a child process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a job prints must not mix with the answers
    with bars({}, False, ""):  # the terminal belongs to the parent's bar
        while True:
            try:
                job = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_error_of(job), answers)
            answers.flush()


def _error_of(job: Callable[[], object]) -> Exception | None:
    try:
        job()
    except Exception as error:
        return error if _is_picklable(error) else RuntimeError(repr(error))
    return None


def _is_picklable(value: object) -> bool:
    try:
        pickle.dumps(value)
    except Exception:
        return False
    return True
