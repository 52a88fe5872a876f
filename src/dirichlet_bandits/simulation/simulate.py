"""``simulate``: many replications of many policies on one bandit."""

from __future__ import annotations  # help() then shows short names

import warnings
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Literal

from numpy.typing import ArrayLike

from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.environments.environment import Environment
from dirichlet_bandits.environments.feedback import Batch, Delay
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.results.layout import Place, stored_seed
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.seeding import Seed
from dirichlet_bandits.simulation.collect import Collector
from dirichlet_bandits.simulation.compile_ahead import compile_missing
from dirichlet_bandits.simulation.executors import Workers, run_all
from dirichlet_bandits.simulation.plan import Policies, make_plan
from dirichlet_bandits.simulation.units import units_of


def simulate(
    bandit: Environment,
    policies: Policies,
    *,
    horizon: int,
    replications: int,
    seed: Seed = None,
    workers: int | None = None,
    progress: bool | None = None,
    record: int | ArrayLike = 200,
    fast: bool = True,
    store: Place | None = None,
    executor: Executor | None = None,
    delay: Delay | Sequence[Delay] = 0,
    window: int | None = None,
    late: float | Literal["abandon"] = "abandon",
    batch: Batch = 1,
    on_interrupt: Literal["return", "raise"] = "return",
) -> Result:
    """Let each policy play the bandit ``replications`` times for ``horizon`` pulls.

    The j-th reward of an arm in replication r is the same for every policy. The same seed gives the same numbers,
    whatever the number of workers. Ctrl-C stops early and returns the finished replications. A policy that refuses a
    reward stops; when the others are finished, RewardError is raised, and their result is its attribute ``result``.

    Parameters
    ----------
    bandit
        The arms: a :class:`~dirichlet_bandits.Bandit`, or an environment in which they change.
    policies
        A dict of policies by name, or one or several policies, which are then named by their class, such as ``RDS``. A
        policy may be written as a text, ``"NPTS(upper=1)"``.
    horizon, replications
        The number of pulls in a replication, and the number of replications.
    seed
        An int, a SeedSequence, a Generator, or None for a fresh seed (stored in the result).
    workers
        The number of threads; by default one per core.
    progress
        Show progress bars; by default only on a terminal.
    record
        The approximate number of pull counts at which to record the regret, or the pull counts themselves.
    fast
        Let policies use their exact shortcuts. False runs the plain loop, whose results have the same distribution.
    store
        A zarr folder, or any URL that fsspec supports, that keeps chunks of replications as they finish. If the process
        is killed and you call ``simulate`` again with the same arguments, the simulation continues where it stopped;
        without a seed, it uses that of the store. Damaged chunks are redone. A store of another simulation is refused.
        Once the store is complete, :func:`load` reads it. Several processes may work on one store.
    executor
        Any ``concurrent.futures.Executor`` to use instead of threads, such as a process pool or
        ``client.get_executor()`` of a Dask client. With a store, its workers write there and send nothing back.
    delay
        How many pulls pass before a reward becomes known: a number, a distribution such as ``Geometric(0.1)``,
        ``Pareto(1.0)`` or one from SciPy, a function that maps an array of rewards to their delays, or a list with one
        of these per arm. Regret counts when the arm is pulled.
    window, late
        A reward that takes more than ``window`` pulls is abandoned, or counts as the number ``late`` when it ends.
    batch
        The size of the batches, a list of sizes, ``"geometric"`` or ``"minimax"``. Every decision in a batch uses only
        what was known before the batch.
    on_interrupt
        What Ctrl-C does: ``"return"`` warns and returns the replications that are finished, ``"raise"`` raises
        ``KeyboardInterrupt``. With a store, finished chunks are kept in both cases.

    >>> from dirichlet_bandits import Bandit, Bernoulli, RDS, UCB1
    >>> bandit = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
    >>> result = simulate(bandit, [RDS(), UCB1(sigma=0.5)], horizon=100, replications=20, seed=0)
    >>> dict(result.pulls.sizes)
    {'policy': 2, 'replication': 20, 'arm': 2}
    """
    if on_interrupt not in ("return", "raise"):
        raise ArgumentError("on_interrupt", one_of(("return", "raise")), on_interrupt)
    team = Workers(executor, workers)
    stored = None if store is None else Store(store)
    if seed is None and stored is not None and stored.exists():
        seed = stored_seed(stored.attrs)
    plan = make_plan(
        bandit,
        policies,
        horizon=horizon,
        replications=replications,
        seed=seed,
        record=record,
        fast=fast,
        feedback={"delay": delay, "window": window, "late": late, "batch": batch},
    )
    team.check_picklable(plan)
    collector = Collector(plan, stored)
    units = units_of(plan, stored, team.threads)
    totals = dict.fromkeys(plan.policies, plan.replications)
    try:
        if executor is None:
            compile_missing(plan, workers=workers, progress=progress)
        with team.pool() as pool, bars(totals, progress, "replications") as shown:
            finished = run_all(units, pool, collector, shown)
    except KeyboardInterrupt:  # while several policies were compiled
        finished = False
    if collector.refused:
        raise collector.refusal()
    if not finished and on_interrupt == "raise":
        raise KeyboardInterrupt
    if not finished:
        warnings.warn("interrupted: the result holds the replications done so far", stacklevel=2)
    return collector.result(finished)
