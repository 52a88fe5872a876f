"""What the tests of stores and executors play; worker processes import it too, so it imports little."""

import os
import signal

import numpy as np

import dirichlet_bandits as db

BANDIT = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.5, 1.0), db.Exponential(0.2)], names=["a", "b", "c"])
POLICIES = {"narrow": db.UCB1(sigma=0.5), "wide": db.UCB1(sigma=1.0)}


def run(store=None, bandit=BANDIT, policies=POLICIES, **changes):
    """By default 30 chunks of each of two policies."""
    settings = {"horizon": 2000, "replications": 90, "seed": 3, **changes}
    return db.simulate(bandit, policies, store=store, **settings)


class Dice:
    """A foreign law."""

    def rvs(self, size, random_state):
        return random_state.integers(1, 7, size).astype(float) / 6

    def mean(self):
        return 3.5 / 6


class GreedyUCB:
    """UCB1 in plain Python."""

    def init(self, n_arms):
        self.rewards = [[] for _ in range(n_arms)]

    def select(self, rng):
        t = sum(map(len, self.rewards))
        return int(np.argmax([np.mean(x) + np.sqrt(2 * np.log(t) / len(x)) for x in self.rewards]))

    def update(self, arm, reward):
        self.rewards[arm].append(reward)


class Fatal(GreedyUCB):
    """Kills its process at the first select, once."""

    def __init__(self, flag):
        self.flag = flag

    def select(self, rng):
        if not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().select(rng)
