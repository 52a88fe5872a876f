"""Run a replication for a policy written as a plain Python class."""

import copy
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dirichlet_bandits.arms.bandit import Bandit
from dirichlet_bandits.arms.sampler import SAMPLERS, Kind
from dirichlet_bandits.arms.tapes import ForeignRewards
from dirichlet_bandits.engine.run import CANCEL, Setup
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Floats, Ints, Words


@runtime_checkable
class PythonPolicy(Protocol):
    """A user's own policy, with two methods; it is copied for each replication.

    Every arm is pulled once, and its reward passed to ``update``, before the first ``select``. An optional
    ``init(n_arms)`` is called before anything else.
    """

    def select(self, rng: np.random.Generator) -> Any:
        """Return the arm to pull, or a sequence of arms (a round)."""

    def update(self, arm: int, reward: float) -> None:
        """Record a reward."""


class Canceled(Exception):  # noqa: N818 - not an error
    """A unit was asked to stop."""


def reward_streams(bandit: Bandit, seeds: Words) -> list[Iterator[float]]:
    """Return, for each arm, exactly the rewards that the compiled loop would see."""
    table = bandit.table
    foreign = ForeignRewards(bandit, seeds)

    def built_in(arm: int) -> Iterator[float]:
        rng = generator(seeds[arm])
        data = table.data[table.first[arm] : table.last[arm]]
        block, draw = np.empty(256), SAMPLERS[Kind(table.kinds[arm])]
        while True:
            draw(table.rows[arm], data, rng, block)
            yield from block.tolist()

    def from_stock(arm: int) -> Iterator[float]:
        used = 0
        while True:
            if foreign.drawn[arm].size <= used:
                foreign.more()
            for reward in foreign.drawn[arm][used:].tolist():
                used += 1
                yield reward

    return [from_stock(k) if kind == Kind.FOREIGN else built_in(k) for k, kind in enumerate(table.kinds)]


def run_replication(
    prototype: PythonPolicy, bandit: Bandit, setup: Setup, seeds: Words, control: Ints
) -> tuple[Floats, Ints, float]:
    """Run one replication and return the regret at the recorded times, the pulls and the total reward."""
    n_arms = len(bandit)
    rng = generator(seeds[n_arms])
    streams = reward_streams(bandit, seeds)
    policy = copy.deepcopy(prototype)
    if hasattr(policy, "init"):
        policy.init(n_arms)
    pulls, total, regret, slot, clock = np.zeros(n_arms, np.int64), 0.0, np.empty(setup.times.size), 0, 0
    chosen: list[int] = unpulled(pulls, rng).tolist()
    while True:
        for arm in chosen:
            reward = next(streams[arm])
            pulls[arm] += 1
            total += reward
            clock += 1
            if clock == setup.times[slot]:
                regret[slot] = setup.gaps @ pulls
                slot = min(slot + 1, setup.times.size - 1)
            policy.update(arm, reward)
            if control[CANCEL]:
                raise Canceled
            if clock == setup.horizon:
                return regret, pulls, total
        chosen = checked_round(policy.select(rng), n_arms)


def checked_round(chosen: Any, n_arms: int) -> list[int]:
    """Check what a user's ``select`` returned, and return it as a list of arms."""
    arms = list(chosen) if isinstance(chosen, list | tuple | np.ndarray) and np.ndim(chosen) == 1 else [chosen]
    if not arms:
        raise ArgumentError("select(rng)", "an arm, or a non-empty sequence of arms", chosen)
    for arm in arms:
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
            raise ArgumentError("select(rng)", f"an arm from 0 to {n_arms - 1}, or a sequence of them", chosen)
    return [int(arm) for arm in arms]
