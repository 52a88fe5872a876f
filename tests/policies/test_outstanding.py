"""Rewards may come late and in any order: asking changes nothing, and only what was told counts."""

import numpy as np
import pytest

from dirichlet_bandits.engine.history import rewards
from tests.policies.twins import PAIRS, default

N_ARMS = 3


def contents(state):
    """All that a state holds; the unused end of a pool of rewards holds nothing."""
    if hasattr(state, "pool"):
        pool = [rewards(state, arm) for arm in range(N_ARMS)]
        state = (*state._replace(pool=np.empty(0)), *pool)
    return [copy for part in state for copy in contents(part)] if isinstance(state, tuple) else [np.array(state)]


def draw(pair, rng):
    draws = {"unit": rng.random, "positive": rng.exponential, "binary": lambda: rng.integers(2)}
    return float(draws[pair.rewards]())


@pytest.mark.parametrize("name", default(PAIRS))
def test_asked_ahead_and_told_in_another_order(name):
    pair, rng = PAIRS[name], np.random.default_rng(5)
    policy = pair.policy
    tosses, told, outstanding = np.random.default_rng(6), [], []
    state = policy.init(N_ARMS)
    for _ in range(6):
        for _ in range(4):  # the first time before anything at all is known
            chosen = policy.select(state, rng)
            assert set(chosen) <= set(range(N_ARMS))
            outstanding += chosen
        rng.shuffle(outstanding)
        left = 2 if told else 0  # some wait until after the next asks
        while len(outstanding) > left:
            arm = outstanding.pop()
            told.append((arm, draw(pair, rng)))
            state = policy.update(state, *told[-1], tosses)
            policy.select(state, rng)
    tosses, plain = np.random.default_rng(6), policy.init(N_ARMS)
    for arm, reward in told:
        plain = policy.update(plain, arm, reward, tosses)
    for asked, alone in zip(contents(state), contents(plain), strict=True):
        np.testing.assert_array_equal(asked, alone)
    assert state.pulls.sum() == len(told) >= 24
