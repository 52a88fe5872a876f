"""Play the script of a world with a policy that is a plain Python class."""

import copy
from typing import Any

import numpy as np

from dirichlet_bandits.engine.run import CANCEL, CANCELED, DONE, RUNNING, Outcome, Setup
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.world_loop import Script
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.simulation.python_loop import PythonPolicy, checked_round
from dirichlet_bandits.types import Ints, Words


class Player:
    """A policy with the rewards that were reported to it, and the arms that it knows."""

    def __init__(self, prototype: PythonPolicy, n_arms: int) -> None:
        self.prototype = prototype
        self.received, self.outstanding = [0] * n_arms, [0] * n_arms
        self.reports: list[tuple[int, float]] = []
        self.known: list[int] = []
        self._policy: Any = None
        self._read = 0

    def untried(self) -> list[int]:
        """Return the arms to pull before the policy decides; see :mod:`dirichlet_bandits.engine.world_loop`."""
        tries = [a + b for a, b in zip(self.received, self.outstanding, strict=True)]
        if min(tries) > 0 and sum(n > 0 for n in self.received) > 1:
            return []
        return [arm for arm, n in enumerate(tries) if n == min(tries)]

    def select(self, rng: np.random.Generator) -> list[int]:
        """Pass new rewards to the policy, and return the arms that it selects."""
        known = [arm for arm, n in enumerate(self.received) if n]
        if known != self.known:
            self.known, self._read, self._policy = known, 0, copy.deepcopy(self.prototype)
            if hasattr(self._policy, "init"):
                self._policy.init(len(known))
        for arm, reward in self.reports[self._read :]:
            self._policy.update(known.index(arm), reward)
        self._read = len(self.reports)
        return [known[arm] for arm in checked_round(self._policy.select(rng), len(known))]


class Game:
    """One replication of a script: the clock, the pending rewards, and what has been counted and recorded."""

    def __init__(self, script: Script, times: Ints) -> None:
        n_arms, self.horizon = script.rewards.shape
        self.script, self.clock, self.total, self.regret = script, 0, 0.0, 0.0
        self.pulls, self.recorded = np.zeros(n_arms, np.int64), np.empty(times.size)
        self._due: list[list[tuple[int, float]]] = [[] for _ in range(2 * self.horizon + 2)]
        self._batches, self._starts, self._times = set(script.batches.tolist()), script.starts.tolist(), times.tolist()
        self._first, self._used = 0, [0] * n_arms
        self._received, self._batch_due = 0, True

    def report(self, player: Player) -> None:
        """Give the player the rewards that are due, if a batch has begun since the last decision."""
        if not self._batch_due:
            return
        for time in range(self._received + 1, self.clock + 1):
            for arm, reward in self._due[time]:
                player.outstanding[arm] -= 1
                if not np.isnan(reward):
                    player.received[arm] += 1
                    player.reports.append((arm, reward))
        self._received, self._batch_due = self.clock, False

    def pull(self, arm: int) -> None:
        """Take the arm's next reward from the script, schedule its arrival, count it and record the regret."""
        script, clock = self.script, self.clock
        if clock in self._starts:
            self._first, self._used = clock, [0] * len(self._used)
        entry = self._first + self._used[arm]
        reward = float(script.rewards[arm, entry]) + (float(script.drift[clock, arm]) if script.drift.size else 0.0)
        delay = int(script.delays[arm, entry]) if script.delays.size else 0
        value = script.late if delay > script.window else reward
        self._due[clock + 1 + min(delay, script.window)].append((arm, value))
        self._used[arm] += 1
        self.pulls[arm] += 1
        self.total += reward
        self.regret += float(script.gaps[clock, arm])
        self.clock += 1
        self._batch_due = self._batch_due or self.clock in self._batches
        if self.clock in self._times:
            self.recorded[self._times.index(self.clock)] = self.regret


def play_python_script(
    prototype: PythonPolicy,
    setup: Setup,
    script: Script,
    seed: Words,
    spare: np.random.Generator,
    control: Ints,
    outcome: Outcome,
) -> int:
    """Play one replication of a world, write its row, and return its status."""
    rng, game, player = generator(seed), Game(script, setup.times), Player(prototype, len(script.rewards))
    while game.clock < game.horizon:
        if control[CANCEL]:
            return CANCELED
        game.report(player)
        chosen = player.untried()
        if chosen:
            order = np.array(chosen)
            shuffle(order, rng if game.clock == 0 else spare)
            chosen = order.tolist()
        else:
            chosen = player.select(rng)
        for arm in chosen[: game.horizon - game.clock]:
            player.outstanding[arm] += 1
            game.pull(arm)
    outcome.regret[0], outcome.pulls[0], outcome.reward[0] = game.recorded, game.pulls, game.total
    control[DONE] += 1
    return RUNNING
