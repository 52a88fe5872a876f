"""Write the script of a world for each replication: its rewards, their gaps and when they become known."""

import numpy as np

from dirichlet_bandits.engine.world_loop import Script
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Words
from dirichlet_bandits.worlds import Feedback, World


def n_streams(world: World) -> int:
    """Return the number of random streams per replication: the world's, one for the policy and one for delays."""
    return world.n_streams() + 2


class ScriptWriter:
    """Writes the scripts of the replications of one world."""

    def __init__(self, world: World, feedback: Feedback, horizon: int, wait_for_all: bool) -> None:
        self.world, self.feedback, self.horizon = world, feedback, horizon
        self._fewest = len(world) if wait_for_all else 2
        self._gaps = world.gaps(horizon)
        self._starts = np.array([*world.starts(horizon), horizon], np.int64)
        batches = range(horizon) if feedback.batches is None else feedback.batches
        self._batches = np.array([*batches, horizon], np.int64)

    def write(self, seeds: Words) -> tuple[Script, np.random.Generator]:
        """Return the script of one replication, and a generator for its remaining random choices."""
        n_arms = len(self.world)
        rewards = self.world.rewards(np.delete(seeds, [n_arms, n_arms + 1], axis=0), self.horizon)
        spare = generator(seeds[n_arms + 1])
        delays = np.empty((n_arms, 0), np.int64)
        if any(delay != 0 for delay in self.feedback.delays):
            delays = self.feedback.delays_of(rewards.tape, spare)
        window = self.horizon if self.feedback.window is None else self.feedback.window
        script = Script(
            rewards.tape,
            rewards.drift,
            self._gaps,
            self._starts,
            delays,
            window,
            self.feedback.late,
            self._batches,
            self._fewest,
        )
        return script, spare
