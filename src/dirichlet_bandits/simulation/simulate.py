"""``simulate``: many replications of many policies on one bandit."""

import os
import random
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.errors import ArgumentError, FormatError
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.progress import bars
from dirichlet_bandits.results.labels import VARIABLES, labels, stored_seed
from dirichlet_bandits.results.layout import chunk_size
from dirichlet_bandits.results.places import Place
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.results.store import Chunk, Store
from dirichlet_bandits.seeding import Seed, root_sequence
from dirichlet_bandits.simulation.executors import check_picklable, run_all
from dirichlet_bandits.simulation.identity import identity
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.units import AnyPolicy, Game, Unit
from dirichlet_bandits.theory.lower_bound import evident_lower_bound
from dirichlet_bandits.types import Ints
from dirichlet_bandits.validation import whole_number

_UNITS_PER_WORKER = 8  # of each policy: small enough to share evenly, large enough to start rarely
_PATIENCE_SECONDS = (0, 1, 5, 30, 60)  # network file systems remember for up to a minute that a file was missing


def simulate(
    bandit: Bandit,
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
) -> Result:
    """Let each policy play the bandit ``replications`` times for ``horizon`` pulls.

    The j-th reward of an arm in replication r is the same for every policy, and nothing depends on the number of
    workers: same seed, same numbers. Ctrl-C stops early and returns what is done.

    Parameters
    ----------
    bandit
        The arms.
    policies
        Policies by name, or one or several without names.
    horizon, replications
        Pulls in a replication, and how many replications.
    seed
        An int, a SeedSequence, a Generator, or None for a fresh one (kept in the result).
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

    >>> from dirichlet_bandits import Bandit, Bernoulli, RDS, UCB1
    >>> bandit = Bandit([Bernoulli(0.4), Bernoulli(0.6)])
    >>> result = simulate(bandit, [RDS(), UCB1(sigma=0.5)], horizon=100, replications=20, seed=0)
    >>> dict(result.pulls.sizes)
    {'policy': 2, 'replication': 20, 'arm': 2}
    """
    if not isinstance(bandit, Bandit):
        raise ArgumentError("bandit", "a Bandit", bandit)
    named = _named(policies)
    horizon = whole_number("horizon", horizon, at_least=len(bandit))
    replications = whole_number("replications", replications, at_least=1)
    times = _times(record, horizon)
    for name, policy in named.items():
        if isinstance(policy, Policy):
            _check_support(name, policy, bandit)
    size = chunk_size(replications)
    if executor is None:
        workers = _cores() if workers is None else whole_number("workers", workers, at_least=1)
        if store is None:  # nothing to resume: units may be smaller, and many threads share them evenly
            size = max(1, min(size, replications // (_UNITS_PER_WORKER * workers)))
    elif not isinstance(executor, Executor):
        raise ArgumentError("executor", "a concurrent.futures.Executor", executor)
    elif workers is not None:
        raise ArgumentError("workers", "left out where an executor brings its own", workers)
    grown = None if store is None else Store(store)
    root = root_sequence(seed)
    if grown is not None and grown.exists() and seed is None:
        root = stored_seed(grown.attrs)
    labelled = labels(
        policies={name: repr(policy) for name, policy in named.items()},
        arms=dict(zip(bandit.names, map(repr, bandit.arms), strict=True)),
        means=bandit.means,
        times=times,
        replications=replications,
        seed=root,
        lower_bound=evident_lower_bound(bandit.arms),
    )
    game = Game(bandit, named, horizon, times, root, fast, grown)
    units = [
        Unit(game, name, row, first, min(first + size, replications))
        for first in range(0, replications, size)
        for row, name in enumerate(named)
    ]
    if executor is not None:
        check_picklable(game, executor)
    if grown is not None:
        labelled.attrs["identity"] = identity(game, replications)
        grown.prepare(labelled)
        random.Random().shuffle(units)  # processes that share the store begin at different ends
    arrays = {
        name: variable.empty(tuple(labelled.sizes[dim] for dim in variable.dims))
        for name, variable in VARIABLES.items()
        if grown is None
    }

    def keep(unit: Unit, chunk: Chunk) -> None:
        for name, values in chunk._asdict().items():
            arrays[name][unit.row, unit.first : unit.last] = values

    with (
        nullcontext(executor) if executor else ThreadPoolExecutor(workers) as pool,
        bars(dict.fromkeys(named, replications), progress, "replications") as shown,
    ):
        finished = run_all(units, pool, keep, shown)
    if not finished:
        warnings.warn("interrupted: the result holds the replications done so far", stacklevel=2)
    if grown is None:
        return Result.from_arrays(labelled, **arrays)
    return Result(_gathered(grown) if finished else grown.load())


def _gathered(store: Store) -> xr.Dataset:
    """The whole store; what other machines wrote may take a while to be seen through a network file system."""
    for pause in _PATIENCE_SECONDS:
        time.sleep(pause)
        with suppress(FormatError):  # seen half
            data = store.load()
            if not np.isnan(data["reward"]).any():
                return data
    raise FormatError(f"{store.name!r} lacks chunks that workers have written: do all see the same place?")


def _named(policies: Mapping[str, AnyPolicy] | Sequence[AnyPolicy] | AnyPolicy) -> dict[str, AnyPolicy]:
    if isinstance(policies, Mapping):
        named = dict(policies)
    else:
        several: Sequence[Any] = policies if isinstance(policies, list | tuple) else [policies]
        named = {repr(policy): policy for policy in several}
        if len(named) < len(several):
            raise ArgumentError("policies", "different from each other, or named by a dict", list(named))
    if not named:
        raise ArgumentError("policies", "at least one policy", policies)
    for name, policy in named.items():
        if isinstance(policy, type) or not isinstance(policy, Policy | PythonPolicy):
            raise ArgumentError(
                f"policies[{name!r}]",
                "a policy, or an object with select(rng) and update(arm, reward)",
                policy,
            )
    return named


def _times(record: int | ArrayLike, horizon: int) -> Ints:
    """Pull counts to record at: half of them evenly spread in log scale, half in linear scale, and the horizon."""
    if np.ndim(record) == 0:
        n = whole_number("record", record, at_least=1)
        log = np.geomspace(1, horizon, (n + 1) // 2 + 1)
        linear = np.linspace(1, horizon, n // 2 + 1)
        return np.unique(np.concatenate([log, linear, [horizon]]).round().astype(np.int64))
    times = np.unique(np.asarray(record))
    if times.size == 0 or times.dtype.kind not in "iu" or times[0] < 1 or times[-1] > horizon:
        raise ArgumentError("record", f"a number of points, or pull counts from 1 to the horizon {horizon}", record)
    return np.union1d(times, [horizon]).astype(np.int64)


def _check_support(name: str, policy: Policy, bandit: Bandit) -> None:
    """A policy that declares bounds is not run on arms known to leave them."""
    low, high = policy.reward_bounds
    for arm, law in zip(bandit.names, bandit.arms, strict=True):
        if not hasattr(law, "support"):
            continue  # every reward is checked when it comes
        bottom, top = (float(end) for end in law.support())
        if bottom < low or top > high:
            raise ArgumentError(
                f"policies[{name!r}]",
                f"fit for rewards in [{bottom:g}, {top:g}], the support of arm {arm!r}",
                policy,
            )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
