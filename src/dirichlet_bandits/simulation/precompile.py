"""Compiling ahead: Numba compiles one function at a time in a process, but several processes share its cache."""

from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.progress import bars
from dirichlet_bandits.simulation.executors import cores
from dirichlet_bandits.simulation.simulate import simulate

_BAR = "compiling"
_MOST = 4  # processes: each takes about a gigabyte


def compile_ahead(pairs: Collection[tuple[Bandit, Policy]], *, workers: int | None, progress: bool | None) -> None:
    """Compile the simulation of each policy, several at a time, for this and later processes to load."""
    processes = min(workers or cores(), _MOST)
    with (
        ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool,
        bars({_BAR: len(pairs)}, progress, "policies") as shown,
    ):
        futures = [pool.submit(_compile, bandit, policy) for bandit, policy in pairs]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            shown.show(_BAR, done)


def _compile(bandit: Bandit, policy: Policy) -> None:
    """Play as little as compiles everything: every arm once."""
    simulate(bandit, policy, horizon=len(bandit), replications=1, seed=0, workers=1, progress=False)
