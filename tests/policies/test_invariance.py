"""Rewards in other units, or around another number, change nothing: not who is pulled, not how probable it was.

Rewards are small multiples of a power of two, so that they can be moved and stretched without rounding. What is left is
the rounding of means: about 1e-10 around a million, 1e-7 around a billion.
"""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.propensity import IncrementalPropensities

VALUES = [np.arange(9) / 8, np.append(np.arange(9), [7, 8, 8]) / 8, np.arange(3, 7) / 8]
MOVES = {  # shift, unit, how exactly a probability can be known there
    "a million": (2.0**20, 1.0, 1e-7),
    "a billion": (2.0**30, 1.0, 1e-4),
    "minus a billion": (-(2.0**30), 1.0, 1e-4),
    "tiny": (0.0, 2.0**-40, 1e-9),
    "huge": (2.0**45, 2.0**40, 1e-9),
}
POLICIES = {
    "RDS": lambda shift, unit: db.RDS(),
    "BDS": lambda shift, unit: db.BDS(rho=4, gamma=0.25 * unit),
    "BDS known": lambda shift, unit: db.BDS(upper=shift + unit),
    "QDS": lambda shift, unit: db.QDS(),
    "NPTS": lambda shift, unit: db.NPTS(upper=shift + unit),
    "RBSDA": lambda shift, unit: db.RBSDA(),
    "UCB1": lambda shift, unit: db.UCB1(sigma=0.5 * unit),
    "KLUCB gaussian": lambda shift, unit: db.KLUCB("gaussian", sigma=0.5 * unit),
    "EmpiricalKLUCB": lambda shift, unit: db.EmpiricalKLUCB(upper=shift + unit),
    "IMED gaussian": lambda shift, unit: db.IMED("gaussian", sigma=0.5 * unit),
    "EmpiricalIMED": lambda shift, unit: db.EmpiricalIMED(upper=shift + unit),
    "TS gaussian": lambda shift, unit: db.ThompsonSampling("gaussian", sigma=0.5 * unit),
    "BinarizedTS": lambda shift, unit: db.BinarizedTS(shift, shift + unit),
}


def pulls(name, shift, unit, fast):
    arms = [db.Empirical(shift + unit * values) for values in VALUES]
    settings = {"horizon": 600 if fast else 150, "replications": 100, "seed": 5, "record": 1, "fast": fast}
    return db.simulate(db.Bandit(arms), POLICIES[name](shift, unit), **settings).pulls.values[0]


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("fast", [True, False], ids=["shortcut", "plain"])
def test_the_same_arms_are_pulled(name, fast):
    expected = pulls(name, 0.0, 1.0, fast)
    for move, (shift, unit, _) in MOVES.items():
        same = (pulls(name, shift, unit, fast) == expected).all(axis=1)
        assert same.mean() >= 0.9, move  # a decision may hang on the last bit, of a tie for instance


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("move", MOVES)
def test_probabilities_are_the_same(name, move):
    """Also those kept along a study; and whoever takes the study over finds what the first one recorded."""
    shift, unit, tolerance = MOVES[move]
    policy, moved = POLICIES[name](0.0, 1.0), POLICIES[name](shift, unit)
    rng = np.random.default_rng(6)
    state, other = policy.init(3), moved.init(3)
    first, second = IncrementalPropensities(moved, 3), IncrementalPropensities(moved, 3)
    slow = name == "NPTS"
    for step in range(300):
        arm = step % 3 if step < 6 else int(rng.choice(3, p=(0.2, 0.3, 0.5)))
        reward, seed = rng.choice(VALUES[arm]), step
        state = policy.update(state, arm, float(reward), np.random.default_rng(seed))
        other = moved.update(other, arm, float(shift + unit * reward), np.random.default_rng(seed))
        if step < 3 or step % (25 if slow else 5):
            continue
        found = first.propensities(other)
        if step >= 150 and step % 25 == 0:
            np.testing.assert_allclose(second.propensities(other), found, rtol=1e-9, atol=1e-15)
            np.testing.assert_allclose(db.state_propensities(moved, other), found, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(found, db.state_propensities(policy, state), rtol=tolerance, atol=tolerance)
