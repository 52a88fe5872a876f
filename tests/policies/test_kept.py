"""Kept propensities against those computed anew, in histories that grow as in a study."""

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.kept import PropensityKeeper

POLICIES = [db.RDS(), db.RDS("log2"), db.BDS(upper=40.0), db.BDS(rho=4, gamma=0.5), db.RBSDA(), db.QDS()]
SHAPES = {
    "gamma": lambda rng, arm: float(min(rng.gamma(2.0, 1.0 + 0.02 * arm), 40.0)),
    "coin": lambda rng, arm: float(rng.random() < 0.5 + 0.02 * arm),
    "heavy": lambda rng, arm: float(min(rng.pareto(2.5) * (1.0 + 0.1 * arm), 40.0)),
}


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("shape", SHAPES)
def test_kept_are_those_computed_anew(policy, shape):
    rng = np.random.default_rng(1)
    state, keeper = policy.init(3), PropensityKeeper(policy, 3)
    for step in range(1500):
        arm = step % 3 if step < 6 else int(rng.choice(3, p=[0.15, 0.25, 0.6]))  # near ties: contours move
        state = policy.update(state, arm, SHAPES[shape](rng, arm), rng)
        if step % 7 and step > 40:
            continue
        np.testing.assert_allclose(
            keeper.propensities(state), db.state_propensities(policy, state), rtol=1e-9, atol=1e-300
        )


def test_a_leader_that_changes():
    """Contours of arms that led for a while, and blocks of another leader."""
    for policy in (db.RDS(), db.RBSDA()):
        rng = np.random.default_rng(2)
        state, keeper = policy.init(2), PropensityKeeper(policy, 2)
        for step in range(1200):
            arm = (step // 150) % 2
            state = policy.update(state, arm, float(rng.normal(arm, 3.0)), rng)
            if step % 10 == 0:
                np.testing.assert_allclose(
                    keeper.propensities(state), db.state_propensities(policy, state), rtol=1e-9, atol=1e-300
                )
