"""Play a replication with a policy written as a plain Python class, by the rules of ``engine/loop.py``."""

import copy
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dirichlet_bandits.engine.loop import Script
from dirichlet_bandits.engine.run import CANCEL, CANCELED, DONE, RUNNING, Outcome, Setup
from dirichlet_bandits.engine.tally import shuffle, untried_arms
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Ints


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


class Player:
    """A policy with the rewards that were reported to it, and the arms that it knows."""

    def __init__(self, prototype: PythonPolicy, n_arms: int, rng: np.random.Generator) -> None:
        self.prototype, self.rng = prototype, rng
        self.received, self.outstanding = [0] * n_arms, [0] * n_arms
        self.reports: list[tuple[int, float]] = []
        self.known: list[int] = []
        self._policy: Any = None
        self._read = 0

    def receive(self, arm: int, reward: float) -> None:
        """Report a reward; the policy sees it before its next decision."""
        self.received[arm] += 1
        self.reports.append((arm, reward))

    def untried(self) -> list[int]:
        """Return the arms to pull before the policy decides."""
        if len(self.known) == len(self.received):
            return []
        tries = [a + b for a, b in zip(self.received, self.outstanding, strict=True)]
        return untried_arms(tries, self.received, 2).tolist()

    def select(self) -> list[int]:
        """Pass new rewards to the policy, and return the arms that it selects."""
        n_arms, every = len(self.known), len(self.received)
        if n_arms < every and every - self.received.count(0) > n_arms:
            self.known = [arm for arm, n in enumerate(self.received) if n]
            n_arms, self._read, self._policy = len(self.known), 0, copy.deepcopy(self.prototype)
            if hasattr(self._policy, "init"):
                self._policy.init(n_arms)
        for arm, reward in self.reports[self._read :]:
            self._policy.update(arm if n_arms == every else self.known.index(arm), reward)
        self._read = len(self.reports)
        chosen = checked_round(self._policy.select(self.rng), n_arms)
        return chosen if n_arms == every else [self.known[arm] for arm in chosen]


def play_script(
    prototype: PythonPolicy,
    setup: Setup,
    tape: Floats,
    script: Script,
    streams: tuple[np.random.Generator, np.random.Generator],
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a script, write its row, and return its status."""
    rng, spare = streams
    n_arms, horizon = tape.shape
    player, still = Player(prototype, n_arms, rng), len(setup.gaps) == 1
    due: dict[int, list[tuple[int, float]]] = {}
    pulls, used, recorded = [0] * n_arms, [0] * n_arms, np.empty(setup.times.size)
    times, starts, batches = setup.times.tolist(), script.starts.tolist(), script.batches.tolist()
    reward_of = [row.item for row in tape]
    at_once = script.delays.size == 0 and len(batches) > horizon
    clock = seen = batch = segment = slot = 0
    total = regret = 0.0
    while clock < horizon:
        if control[CANCEL]:
            return CANCELED
        if not at_once and clock >= batches[batch]:
            while batches[batch] <= clock:
                batch += 1
            for time in range(seen + 1, clock + 1):
                for arm, reward in due.pop(time, ()):
                    player.outstanding[arm] -= 1
                    if reward == reward:  # else NaN: given up
                        player.receive(arm, reward)
            seen = clock
        chosen = player.untried()
        if chosen:
            order = np.array(chosen)
            shuffle(order, rng if clock == 0 else spare)
            chosen = order.tolist()
        else:
            chosen = player.select()
        for arm in chosen[: horizon - clock]:
            if clock == starts[segment + 1]:
                segment, used = segment + 1, [0] * n_arms
            column = clock if script.by_time else starts[segment] + used[arm]
            reward = reward_of[arm](column)
            if script.drift.size:
                reward += float(script.drift[clock, arm])
            if at_once:  # nothing decides before it is known
                player.receive(arm, reward)
            else:
                delay = int(script.delays[arm, column]) if script.delays.size else 0
                value = script.late if delay > script.window else reward
                due.setdefault(clock + 1 + min(delay, script.window), []).append((arm, value))
                player.outstanding[arm] += 1
            used[arm] += 1
            pulls[arm] += 1
            total += reward
            if not still:
                regret += float(setup.gaps[clock, arm])
            clock += 1
            if clock == times[slot]:
                recorded[slot] = setup.gaps[0] @ np.array(pulls) if still else regret
                slot = min(slot + 1, len(times) - 1)
    outcome.regret[0], outcome.pulls[0], outcome.reward[0] = recorded, pulls, total
    control[DONE] += 1
    return RUNNING


def checked_round(chosen: Any, n_arms: int) -> list[int]:
    """Check what a user's ``select`` returned, and return it as a list of arms."""
    arms = list(chosen) if isinstance(chosen, list | tuple | np.ndarray) and np.ndim(chosen) == 1 else [chosen]
    if not arms:
        raise ArgumentError("select(rng)", "an arm, or a non-empty sequence of arms", chosen)
    for arm in arms:
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < n_arms:
            raise ArgumentError("select(rng)", f"an arm from 0 to {n_arms - 1}, or a sequence of them", chosen)
    return [int(arm) for arm in arms]
