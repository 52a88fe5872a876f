"""``simulate``: many replications of many policies on one bandit."""

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from typing import Literal

from numpy.typing import ArrayLike

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.display.progress import bars
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.results.labels import stored_seed
from dirichlet_bandits.results.places import Place
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.seeding import Seed
from dirichlet_bandits.simulation.collect import Collector
from dirichlet_bandits.simulation.compile_ahead import compile_missing
from dirichlet_bandits.simulation.executors import Workers, run_all
from dirichlet_bandits.simulation.plan import AnyPolicy, make_plan
from dirichlet_bandits.simulation.units import units_of
from dirichlet_bandits.worlds import World
from dirichlet_bandits.worlds.delays import Delay
from dirichlet_bandits.worlds.feedback import Batch


def simulate(
    bandit: Bandit | World,
    policies: Mapping[str, AnyPolicy] | Sequence[AnyPolicy] | AnyPolicy,
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
    late: float | Literal["lost"] = "lost",
    batch: Batch = 1,
    on_interrupt: Literal["return", "raise"] = "return",
) -> Result:
    """Let each policy play the bandit ``replications`` times for ``horizon`` pulls.

    The j-th reward of an arm in replication r is the same for every policy, and nothing depends on the number of
    workers: same seed, same numbers. Ctrl-C stops early and returns what is done.

    Parameters
    ----------
    bandit
        The arms, or a world in which they change: a :class:`~dirichlet_bandits.Piecewise` or a
        :class:`~dirichlet_bandits.Drifting`.
    policies
        Policies by name, or one or several without names: these are called by their class, such as ``RDS``.
    horizon, replications
        Pulls in a replication, and how many replications.
    seed
        An int, a SeedSequence, a Generator, or None for a fresh one (stored in the result).
    workers
        Threads; by default one for each core.
    progress
        Show progress bars; by default only on a terminal.
    record
        About how many pull counts to record the regret at, or the pull counts themselves.
    fast
        Let policies use their exact shortcuts; without them the plain loop runs, with the same law.
    store
        A zarr folder, or any URL that fsspec knows, that keeps finished chunks of replications as they come. Killed
        and called again with the same arguments, the simulation goes on where it was; without a seed it takes that
        of the store. Chunks that are truncated or foreign are done again. A store of another simulation is refused.
        Once complete, :func:`load` reads it. Several processes may work on one store.
    executor
        Run on any ``concurrent.futures.Executor`` in place of threads: a process pool, ``client.get_executor()`` of a
        Dask client... With a store, its workers write there and send back nothing.
    delay
        How many pulls later than at once a reward becomes known: a number, a law such as ``Geometric(0.1)`` or
        ``Pareto(1.0)`` or one of SciPy, a function that maps an array of rewards to their delays, or a list with one of
        these for each arm. Regret counts when the arm is pulled.
    window, late
        A reward that takes more than ``window`` pulls is lost, or counts as the number ``late`` when the window ends.
    batch
        Size of the batches, a list of sizes, ``"geometric"`` or ``"minimax"``: every decision in a batch uses what was
        known before the batch.
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
        answers={"delay": delay, "window": window, "late": late, "batch": batch},
    )
    team.check_picklable(plan)
    collector = Collector(plan, stored)
    units = units_of(plan, stored, team.threads)
    totals = dict.fromkeys(plan.policies, plan.replications)
    try:
        if executor is None:
            compile_missing(plan, workers=workers, progress=progress)
        with team.pool() as pool, bars(totals, progress, "replications") as shown:
            finished = run_all(units, pool, collector.keep, shown)
    except KeyboardInterrupt:  # while several policies were compiled
        finished = False
    if not finished and on_interrupt == "raise":
        raise KeyboardInterrupt
    if not finished:
        warnings.warn("interrupted: the result holds the replications done so far", stacklevel=2)
    return collector.result(finished)
