"""LB-SDA with limited memory against queues of rewards in plain Python, long enough for rewards to be dropped."""

import math
from collections import deque

import numpy as np
import pytest

import dirichlet_bandits as db

POLICY = db.LBSDA(memory="log2")


class Queues:
    """As the authors have it: an arm that is full loses its oldest reward when a new one comes."""

    def __init__(self, n_arms):
        self.counts, self.kept, self.r = [0] * n_arms, [deque() for _ in range(n_arms)], 1

    def update(self, arm, reward):
        if len(self.kept[arm]) >= max(10, math.log(self.r) ** 2):
            self.kept[arm].popleft()
        self.kept[arm].append(reward)
        self.counts[arm] += 1
        self.r = max(1, 1 + sum(n - 1 for n in self.counts))

    def winners(self, leader):
        found = []
        for arm, x in enumerate(self.kept):
            y = list(self.kept[leader])[-len(x) :]
            if self.counts[arm] < self.counts[leader] and np.mean(x) > np.mean(y):
                found.append(arm)
        return found or [leader]


@pytest.mark.parametrize("share", [(0.1, 0.2, 0.7), (0.33, 0.33, 0.34)])
def test_decisions_are_those_of_queues(share):
    """In random orders of rewards without ties, up to (log r)^2 = 68."""
    rng = np.random.default_rng(3)
    state, queues, compared = POLICY.init(3), Queues(3), 0
    for step in range(4000):
        arm = step % 3 if step < 3 else int(rng.choice(3, p=share))
        reward = 1e6 + float(rng.normal(0.1 * arm))
        state = POLICY.update(state, arm, reward, rng)
        queues.update(arm, reward)
        most = max(queues.counts)
        if step > 2 and step % 7 == 0 and queues.counts.count(most) == 1:
            assert sorted(POLICY.select(state, rng)) == queues.winners(queues.counts.index(most))
            compared += 1
    assert compared > 400
    assert state.sizes.tolist() == [len(x) for x in queues.kept]
    assert state.pulls.tolist() == queues.counts


def test_memory_stays_small():
    rng = np.random.default_rng(4)
    state = POLICY.init(2)
    for step in range(20_000):
        state = POLICY.update(state, step % 2, float(rng.random()), rng)
    assert state.sizes.max() == math.ceil(math.log(19_998) ** 2)
    assert state.sums_of.size <= 2 * 4 * state.sizes.max()


def test_it_is_the_unlimited_one_until_something_is_dropped():
    arms = [db.Beta(2, 3), db.Beta(3, 3), db.Beta(2, 2)]
    settings = {"horizon": 12, "replications": 500, "seed": 5, "record": 1}
    limited, unlimited = (db.simulate(db.Bandit(arms), policy, **settings) for policy in (POLICY, db.LBSDA()))
    np.testing.assert_array_equal(limited.pulls, unlimited.pulls)
