"""The script of a world played by a policy that is a plain Python class."""

import copy
from typing import Any

import numpy as np

from dirichlet_bandits.engine.run import CANCEL, CANCELLED, DONE, RUNNING, Outcome, Setup
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.world_loop import Script
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.simulation.python_loop import PythonPolicy, checked_round
from dirichlet_bandits.types import Ints, Words


class Player:
    """A policy with the rewards that it has been told, and the arms that it knows."""

    def __init__(self, prototype: PythonPolicy, n_arms: int) -> None:
        self.prototype = prototype
        self.received, self.outstanding = [0] * n_arms, [0] * n_arms
        self.reports: list[tuple[int, float]] = []
        self.known: list[int] = []
        self._policy: Any = None
        self._read = 0

    def untried(self) -> list[int]:
        """The arms that come before the policy is asked; see :mod:`dirichlet_bandits.engine.world_loop`."""
        tries = [a + b for a, b in zip(self.received, self.outstanding, strict=True)]
        if min(tries) > 0 and sum(n > 0 for n in self.received) > 1:
            return []
        return [arm for arm, n in enumerate(tries) if n == min(tries)]

    def select(self, rng: np.random.Generator) -> list[int]:
        """Ask the policy, which has been told all that was reported."""
        known = [arm for arm, n in enumerate(self.received) if n]
        if known != self.known:
            self.known, self._read, self._policy = known, 0, copy.deepcopy(self.prototype)
            if hasattr(self._policy, "init"):
                self._policy.init(len(known))
        for arm, reward in self.reports[self._read :]:
            self._policy.update(known.index(arm), reward)
        self._read = len(self.reports)
        return [known[arm] for arm in checked_round(self._policy.select(rng), len(known))]


def play_python_script(
    prototype: PythonPolicy,
    setup: Setup,
    script: Script,
    seed: Words,
    spare: np.random.Generator,
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a world, write its row, and return what became of it."""
    rng = generator(seed)
    n_arms, horizon = script.rewards.shape
    player = Player(prototype, n_arms)
    due: list[list[tuple[int, float]]] = [[] for _ in range(2 * horizon + 2)]
    batches, starts, times = set(script.batches.tolist()), script.starts.tolist(), setup.times.tolist()
    clock, received, first, regret, total = 0, 0, 0, 0.0, 0.0
    pulls, used, recorded = np.zeros(n_arms, np.int64), [0] * n_arms, np.empty(len(times))
    batch_due = True
    while clock < horizon:
        if control[CANCEL]:
            return CANCELLED
        if batch_due:
            for time in range(received + 1, clock + 1):
                for arm, reward in due[time]:
                    player.outstanding[arm] -= 1
                    if not np.isnan(reward):
                        player.received[arm] += 1
                        player.reports.append((arm, reward))
            received, batch_due = clock, False
        chosen = player.untried()
        if chosen:
            order = np.array(chosen)
            shuffle(order, rng if clock == 0 else spare)
            chosen = order.tolist()
        else:
            chosen = player.select(rng)
        for arm in chosen[: horizon - clock]:
            if clock in starts:
                first, used = clock, [0] * n_arms
            entry = first + used[arm]
            reward = float(script.rewards[arm, entry]) + (float(script.drift[clock, arm]) if script.drift.size else 0.0)
            delay = int(script.delays[arm, entry]) if script.delays.size else 0
            late = delay > script.window
            due[clock + 1 + min(delay, script.window)].append((arm, script.late if late else reward))
            player.outstanding[arm] += 1
            used[arm] += 1
            pulls[arm] += 1
            total += reward
            regret += float(script.gaps[clock, arm])
            clock += 1
            batch_due = batch_due or clock in batches
            if clock in times:
                recorded[times.index(clock)] = regret
    outcome.regret[0], outcome.pulls[0], outcome.reward[0] = recorded, pulls, total
    control[DONE] += 1
    return RUNNING
