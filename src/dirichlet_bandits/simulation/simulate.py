"""``simulate``: many replications of many policies on one bandit."""

import math
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.sampler import Ints
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.checks import whole_number
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.results.result import Result
from dirichlet_bandits.seeding import Seed, root_sequence
from dirichlet_bandits.simulation.loop import runner
from dirichlet_bandits.simulation.progress import Bars, bars
from dirichlet_bandits.simulation.python_loop import PythonPolicy
from dirichlet_bandits.simulation.run import Outcome, Problem
from dirichlet_bandits.simulation.units import Unit
from dirichlet_bandits.theory.lower_bound import evident_lower_bound

AnyPolicy = Policy | PythonPolicy
_POLL_SECONDS = 0.1
_UNITS_PER_WORKER = 8  # of each policy: small enough to share evenly, large enough to start rarely
_LARGEST_UNIT = 256


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
    workers = _cores() if workers is None else whole_number("workers", workers, at_least=1)
    times = _times(record, horizon)
    root = root_sequence(seed)
    for name, policy in named.items():
        if isinstance(policy, Policy):
            _check_support(name, policy, bandit)
            runner(type(policy.params), fast)  # made here, once, and not by several threads at the same time

    shape = (len(named), replications)
    outcome = Outcome(
        regret=np.full((*shape, times.size), np.nan),
        pulls=np.zeros((*shape, len(bandit)), np.int64),
        reward=np.full(shape, np.nan),
        offence=np.zeros(2),
    )
    size = min(max(1, replications // (_UNITS_PER_WORKER * workers)), _LARGEST_UNIT)
    units: list[tuple[str, Unit]] = []
    for first in range(0, replications, size):
        last = min(first + size, replications)
        for row, (name, policy) in enumerate(named.items()):
            low, high = policy.reward_bounds if isinstance(policy, Policy) else (-math.inf, math.inf)
            finite = sys.float_info.max  # an infinite reward is always refused
            problem = Problem(horizon, times, bandit.gaps, max(low, -finite), min(high, finite))
            part = outcome.part((row, slice(first, last)))
            units.append((name, Unit(bandit, policy, problem, root, first, last, part, fast)))
    with bars(dict.fromkeys(named, replications), progress, "replications") as shown:
        finished = _run_all(units, workers, shown)
    if not finished:
        warnings.warn("interrupted: the result holds the replications done so far", stacklevel=2)
    return Result.from_arrays(
        outcome.regret,
        outcome.pulls,
        outcome.reward,
        policies={name: repr(policy) for name, policy in named.items()},
        arms=dict(zip(bandit.names, map(repr, bandit.arms), strict=True)),
        means=bandit.means,
        times=times,
        seed=root,
        lower_bound=evident_lower_bound(bandit.arms),
    )


def _run_all(units: Sequence[tuple[str, Unit]], workers: int, shown: Bars) -> bool:
    """Run the units on threads (compiled code holds no lock); False if Ctrl-C cut it short."""
    with ThreadPoolExecutor(workers) as pool:
        futures: set[Future[None]] = {pool.submit(unit.run) for _, unit in units}
        try:
            while futures:
                done, futures = wait(futures, timeout=_POLL_SECONDS, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                counts: dict[str, int] = {}
                for name, unit in units:
                    counts[name] = counts.get(name, 0) + unit.done
                for name, count in counts.items():
                    shown.show(name, count)
        except BaseException as error:
            for _, unit in units:
                unit.cancel()
            if isinstance(error, KeyboardInterrupt):
                return False
            raise
    return True


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
