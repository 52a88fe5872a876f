"""Compiling ahead: Numba compiles one function at a time in a process, but several processes share its cache."""

import signal
from collections.abc import Callable, Collection
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.caching import NotCached, only_cached
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.progress import bars
from dirichlet_bandits.simulation.collect import Collector
from dirichlet_bandits.simulation.executors import cores
from dirichlet_bandits.simulation.plan import make_plan
from dirichlet_bandits.simulation.simulate import simulate
from dirichlet_bandits.simulation.units import units_of

_BAR = "compiling"
_MOST = 4  # processes: each takes about a gigabyte


def compile_ahead(pairs: Collection[tuple[Bandit, Policy]], *, workers: int | None, progress: bool | None) -> None:
    """Compile the simulation of each policy, several at a time, for this and later processes to load."""
    in_processes([partial(compile_simulation, *pair) for pair in pairs], workers=workers, progress=progress)


def is_compiled(bandit: Bandit, policy: Policy) -> bool:
    """Whether the simulation of a policy of this type is in the cache; then this process has loaded it."""
    plan = make_plan(bandit, policy, horizon=len(bandit), replications=1, seed=0, record=1, fast=True)
    try:
        with only_cached():
            Collector(plan, None)
            units_of(plan, None, 1)[0].run()
    except NotCached:
        return False
    return True


def compile_simulation(bandit: Bandit, policy: Policy) -> None:
    """Compile the simulation of a policy of this type, or find it compiled: the shortest there is."""
    simulate(bandit, policy, horizon=len(bandit), replications=1, seed=0, workers=1, progress=False)


def in_processes(
    jobs: Collection[Callable[[], object]], *, workers: int | None, progress: bool | None, what: str = "policies"
) -> None:
    """Do all jobs, several at a time in processes of their own; Ctrl-C ends them at once."""
    processes = min(workers or cores(), _MOST, len(jobs))
    with (
        ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_die_by_interrupts) as pool,
        bars({_BAR: len(jobs)}, progress, what) as shown,
    ):
        futures = [pool.submit(_quietly, job) for job in jobs]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                shown.show(_BAR, done)
        except BaseException:
            for process in pool._processes.values():  # Ctrl-C may have been for this process alone, as in a notebook
                process.terminate()
            raise


def _die_by_interrupts() -> None:
    """A terminal sends Ctrl-C to all its processes, and Python hears of it only when a compilation is over."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _quietly(job: Callable[[], object]) -> None:
    with bars({}, False, ""):  # the terminal belongs to the bar of the parent
        job()
