"""Rewards in other units, or around another number, change nothing: not who is pulled, not how probable it was.

Rewards are small multiples of a power of two, so that they can be moved and stretched without rounding. What is left is
the rounding of means: about 1e-10 around a million, 1e-7 around a billion.
"""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import has_own, play
from dirichlet_bandits.policies.propensity import IncrementalPropensities
from dirichlet_bandits.policies.registry import registration
from dirichlet_bandits.policies.subsampling.blocks import block_mean, running_sum
from tests.policies.twins import PAIRS, World, default

VALUES = [np.arange(9) / 8, np.append(np.arange(9), [7, 8, 8]) / 8, np.arange(3, 7) / 8]
MOVES = {  # shift, unit, how exactly a probability can be known there
    "a million": (2.0**20, 1.0, 1e-7),
    "a billion": (2.0**30, 1.0, 1e-4),
    "minus a billion": (-(2.0**30), 1.0, 1e-4),
    "tiny": (0.0, 2.0**-40, 1e-9),
    "huge": (2.0**45, 2.0**40, 1e-9),
}
FEW = ("minus a billion", "tiny", "huge")  # a run of the slow tests tries all
SCALES = pytest.mark.parametrize("moves", [FEW, pytest.param(tuple(MOVES), marks=pytest.mark.slow)], ids=["few", "all"])
POLICIES = {name: example.make for name, example in PAIRS.items() if example.moves}
LIVE = [name for name in POLICIES if PAIRS[name].live]
KEPT = [name for name in LIVE if registration(PAIRS[name].policy).incremental is not None]


def ways(name):
    """By its shortcut, if it has one, and by the plain loop, which is all that the others have."""
    return [True, False] if has_own(play, PAIRS[name].policy.params) else [False]


def pulls(name, shift, unit, fast):
    arms = [db.Empirical(shift + unit * values) for values in VALUES]
    settings = {"horizon": 600 if fast else 150, "replications": 100, "seed": 5, "record": 1, "fast": fast}
    return db.simulate(db.Bandit(arms), POLICIES[name](World(shift, shift + unit, unit)), **settings).pulls.values[0]


@pytest.mark.parametrize(("name", "fast"), default((name, fast) for name in POLICIES for fast in ways(name)))
@SCALES
def test_the_same_arms_are_pulled(name, fast, moves):
    expected = pulls(name, 0.0, 1.0, fast)
    for move in moves:
        shift, unit, _ = MOVES[move]
        same = (pulls(name, shift, unit, fast) == expected).all(axis=1)
        assert same.mean() >= 0.9, move  # a decision may hang on the last bit, of a tie for instance


def every(name):
    """Steps between two looks at the probabilities: many where each costs a tenth of a second."""
    return 25 if name == "NPTS" or "CVTS" in name else 5


def rounds(name):
    """The arms and rewards of a study, with the step and the seed of each, and whether to look at the probabilities."""
    rng = np.random.default_rng(6)
    for step in range(300):
        arm = step % 3 if step < 6 else int(rng.choice(3, p=(0.2, 0.3, 0.5)))
        yield step, arm, float(rng.choice(VALUES[arm])), step >= 3 and step % every(name) == 0


@pytest.mark.parametrize("name", default(LIVE))
@SCALES
def test_probabilities_are_the_same(name, moves):
    """Also those kept along a study; and whoever takes the study over finds what the first one recorded."""
    policy = POLICIES[name](World())
    state, expected = policy.init(3), {}
    for step, arm, reward, look in rounds(name):
        state = policy.update(state, arm, reward, np.random.default_rng(step))
        if look:
            expected[step] = db.state_propensities(policy, state)
    for move in moves:
        shift, unit, tolerance = MOVES[move]
        moved = POLICIES[name](World(shift, shift + unit, unit))
        other, first, second = moved.init(3), IncrementalPropensities(moved, 3), IncrementalPropensities(moved, 3)
        for step, arm, reward, look in rounds(name):
            other = moved.update(other, arm, shift + unit * reward, np.random.default_rng(step))
            if not look:
                continue
            found = first.propensities(other)
            if step >= 150 and step % 25 == 0:
                np.testing.assert_allclose(second.propensities(other), found, rtol=1e-9, atol=1e-15)
                np.testing.assert_allclose(db.state_propensities(moved, other), found, rtol=1e-9, atol=1e-15)
            np.testing.assert_allclose(found, expected[step], rtol=tolerance, atol=tolerance, err_msg=move)


@pytest.mark.parametrize("name", default(name for name in KEPT if name != "NPTS"))
def test_who_takes_over_far_from_zero_finds_what_was_recorded(name):
    """Rewards of full length around a million: what is kept must not drift from what is computed anew."""
    policy = POLICIES[name](World(1e6, 1e6 + 1.0))
    rng = np.random.default_rng(7)
    state, first, second = policy.init(2), IncrementalPropensities(policy, 2), IncrementalPropensities(policy, 2)
    for step in range(700):
        state = policy.update(state, step % 2 if step < 60 else int(rng.random() < 0.7), 1e6 + rng.random(), rng)
        if step > 1 and (every(name) == 5 or step % 25 == 0):
            found = first.propensities(state)
            if step > 600:
                np.testing.assert_allclose(second.propensities(state), found, rtol=1e-10, atol=1e-15)


def test_block_means_far_from_zero():
    x = 1e9 + np.random.default_rng(8).random(2000)
    pool = np.empty(x.size)
    for n, reward in enumerate(x):
        pool[n] = running_sum(pool, 0, n, reward)
    for start, n in ((0, 1), (0, 7), (1, 1), (5, 30), (1500, 500)):
        assert abs(block_mean(pool, start, n) - (1e9 + (x[start : start + n] - 1e9).mean())) < 2.5e-7  # two ulps
