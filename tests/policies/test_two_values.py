"""NPTS with rewards of two values: propensities from counts are those from the rewards."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.npts.probability import IncrementalSamples, moved_rewards, of_two_values
from dirichlet_bandits.policies.resampled_index import resampled_index


def general(policy, state):
    """The propensities without counting, from the distribution of each index."""
    every, upper = moved_rewards(state, policy.upper)
    return random_index_propensities([resampled_index(x, np.ones(x.size), upper) for x in every])


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.0), (2.0, 5.0), (-3.0, 1e6)])
def test_counts_give_the_same_propensities(lower, upper):
    rng, policy = np.random.default_rng(3), db.NPTS(upper=upper)
    for n_arms in (2, 3, 5):
        state = policy.init(n_arms)
        followed = IncrementalSamples(policy, n_arms)
        for arm in range(n_arms):
            state = policy.update(state, arm, lower, rng)
        for step in range(30):
            state = policy.update(state, int(rng.integers(n_arms)), upper if rng.random() < 0.4 else lower, rng)
            if step % 10 == 0:
                chances = followed.propensities(state)
                assert chances == pytest.approx(general(policy, state), rel=1e-9)
                assert chances == pytest.approx(db.state_propensities(policy, state), rel=1e-12)


def test_arms_that_always_pay_the_bound_share_the_decision():
    chances = db.propensities(db.NPTS(upper=1.0), [[1.0, 1.0], [0.0, 1.0], [1.0]])
    assert chances.tolist() == [0.5, 0.0, 0.5]


def test_a_third_value_ends_the_counting_for_good():
    rng, policy = np.random.default_rng(0), db.NPTS(upper=1.0)
    followed, state = IncrementalSamples(policy, 2), policy.init(2)
    for arm, reward in [(0, 0.0), (1, 1.0), (1, 0.0), (0, 1.0)]:
        state = policy.update(state, arm, reward, rng)
    assert followed.propensities(state) == pytest.approx([0.5, 0.5])
    for reward in (0.5, 1.0):
        state = policy.update(state, 1, reward, rng)
        assert not of_two_values(state, 1.0, followed._counts, np.empty(2))
        assert followed.propensities(state) == pytest.approx(general(policy, state), rel=1e-9)
