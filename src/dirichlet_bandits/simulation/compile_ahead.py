"""Compile policies in parallel before they are needed.

Numba compiles one function at a time in a process, but several processes share its cache. The processes are plain
Python interpreters that receive jobs one by one. Unlike those of ``multiprocessing``, they never run the user's script,
and find each module of the standard library there, even if the user has a file of the same name.
"""

import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from queue import SimpleQueue
from typing import IO, Any, NamedTuple

from dirichlet_bandits.compiler import NotCached, only_cached
from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.engine.verbs import param_types
from dirichlet_bandits.environments.environment import Environment
from dirichlet_bandits.environments.feedback import AT_ONCE
from dirichlet_bandits.errors import LostWorkerError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.simulation.executors import cores
from dirichlet_bandits.simulation.plan import Plan, make_plan
from dirichlet_bandits.simulation.units import units_of

_BAR = "compiling"
_MOST = 4  # processes: each takes about a gigabyte
_loaded: set[tuple[tuple[type, ...], bool, bool]] = set()  # types of parameters, whether fast, whether plain
_CHILD = f"""
import os, site, sys
answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # what anything prints must not mix with the answers
sys.path += sys.argv[1:]  # so far, it has only the standard library
site.main()
from {__name__} import do_jobs
do_jobs(answers)
"""
Job = tuple[str, Callable[[], object]]
"""What is compiled, for messages, and the function that compiles it."""


class Simulation(NamedTuple):
    """What is compiled: the simulation of a policy, plain or by its shortcut, or of a script (``plain=False``)."""

    bandit: Environment
    policy: Policy
    fast: bool = True
    plain: bool = True

    @property
    def job(self) -> Job:
        """The job that compiles it."""
        return repr(self.policy), self.run

    def run(self) -> None:
        """Run the shortest possible simulation with a policy of this type, so that it is compiled or loaded."""
        settings: Any = {"horizon": len(self.bandit), "replications": 1, "seed": 0, "record": 1, "fast": self.fast}
        feedback = AT_ONCE if self.plain else {**AT_ONCE, "delay": 1}
        units_of(make_plan(self.bandit, self.policy, feedback=feedback, **settings), None, 1)[0].run()

    def is_compiled(self) -> bool:
        """Whether the simulation of a policy of this type is in the cache; if so, it is loaded into this process."""
        try:
            with only_cached():
                self.run()
        except NotCached:
            return False
        _loaded.add((param_types(self.policy.params), self.fast, self.plain))
        return True


def compile_missing(plan: Plan, *, workers: int | None, progress: bool | None) -> None:
    """Compile the policies of a plan that are not in the cache, in several processes if there are several.

    A single policy is compiled when it is first used, and so is one that another process could not import, or whose
    bandit it could not import.
    """
    processes = min(workers or cores(), cores())
    every = {param_types(policy.params): policy for policy in plan.policies.values() if isinstance(policy, Policy)}
    policies = [policy for kind, policy in every.items() if (kind, plan.fast, plan.plain) not in _loaded]
    if processes < 2 or len(policies) < 2 or getattr(sys, "frozen", False) or not sys.executable:
        return
    simulations = [Simulation(plan.bandit, policy, plan.fast, plan.plain) for policy in policies]
    missing = [game for game in simulations if _can_be_sent(game) and not game.is_compiled()]
    if len(missing) > 1:
        LOGGER.info("compiling %s, once", ", ".join(repr(game.policy) for game in missing))
        in_processes([game.job for game in missing], workers=processes, progress=progress)


def in_processes(jobs: Collection[Job], *, workers: int | None, progress: bool | None, what: str = "policies") -> None:
    """Do all jobs, several at a time in separate processes; an error or Ctrl-C ends these at once."""
    number = min(workers or cores(), _MOST, len(jobs))
    idle: SimpleQueue[_Child] = SimpleQueue()

    def do(name: str, job: Callable[[], object]) -> None:
        child = idle.get()
        try:
            child.do(name, job)
        finally:
            idle.put(child)  # even after an error: as many threads as there are processes wait for one

    with bars({_BAR: len(jobs)}, progress, what) as shown, ThreadPoolExecutor(number) as pool, ExitStack() as ending:
        for _ in range(number):
            child = _Child()
            ending.callback(child.stop)
            idle.put(child)
        ending.callback(pool.shutdown, wait=False, cancel_futures=True)
        for done, future in enumerate(as_completed([pool.submit(do, *job) for job in jobs]), start=1):
            future.result()
            shown.show(_BAR, done)


class _Child:
    """A Python process that does jobs one after the other, and reports their errors."""

    def __init__(self) -> None:
        alone: Any = {"process_group": 0} if os.name == "posix" else {}  # Ctrl-C on the terminal is for the parent
        self._compiles = ""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-S", "-c", _CHILD, *map(os.path.abspath, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": ""},
            **alone,
        )

    def do(self, name: str, job: Callable[[], object]) -> None:
        """Send a job, and wait until it is done; an error there is raised here."""
        channels: Any = self._process
        if channels.returncode is None:
            self._compiles = name
        try:
            pickle.dump((name, pickle.dumps(job)), channels.stdin)
            channels.stdin.flush()
            error = pickle.load(channels.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as lost:
            raise LostWorkerError(
                f"the process that compiled {self._compiles} ended unexpectedly (status {self._process.wait()}); "
                "if memory ran out, use fewer workers"
            ) from lost
        if error is not None:
            raise error

    def stop(self) -> None:
        """End the process at any time: a file in the cache is either complete or absent."""
        self._process.kill()
        self._process.communicate()


def do_jobs(answers: IO[bytes]) -> None:
    """Do the jobs that arrive on standard input until it ends: the main function of a child process."""
    with bars({}, False, ""):  # the terminal belongs to the parent's bar
        while True:
            try:
                name, job = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_error_of(name, job), answers)
            answers.flush()


def _error_of(name: str, pickled: bytes) -> Exception | None:
    try:
        job = pickle.loads(pickled)
    except Exception as error:
        advice = "workers=1 compiles it in your own process"
        return LostWorkerError(f"a process that compiles could not import what {name} needs ({error!r}); {advice}")
    try:
        job()
    except Exception as error:
        error.add_note(f"This happened in a process that compiled {name}.")
        return error if _can_be_sent(error) else RuntimeError(f"{name}: {error!r}")
    return None


def _can_be_sent(value: object) -> bool:
    """Whether another process can load a value with pickle."""
    try:
        _Rehearsal(io.BytesIO(pickle.dumps(value))).load()
    except Exception:
        return False
    return True


class _Rehearsal(pickle.Unpickler):
    """Loads a value, but refuses what is defined in a script, a notebook or any module that is not on the path."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function of a module that another process can import."""
        top = module.partition(".")[0]
        if top == "__main__" or not any(finder.find_spec(top, None) for finder in sys.meta_path):
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)
