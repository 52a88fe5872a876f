"""Sizes of rewards whose squares underflow or overflow: decided as in any other unit, or refused with a clear error."""

import numpy as np
import pytest

import dirichlet_bandits as db

HISTORIES = [np.array([0.2, 0.5, 0.9, 0.1]), np.array([0.6, 0.7, 0.3, 0.8, 0.4]), np.array([0.1, 0.3])]
WITH_A_SCALE = {
    "NPTS": lambda unit: db.NPTS(upper=unit),
    "ReBoot": lambda unit: db.ReBoot(unit),
    "MaillardSampling": lambda unit: db.MaillardSampling(unit),
    "IMED": lambda unit: db.IMED("gaussian", unit),
    "MED": lambda unit: db.MED("gaussian", unit),
    "MED, bounded": lambda unit: db.MED(upper=unit),
    "DMED": lambda unit: db.DMED(upper=unit),
    "UnimodalIMED": lambda unit: db.UnimodalIMED("gaussian", unit),
    "TS": lambda unit: db.ThompsonSampling("gaussian", unit),
    "UCB1": lambda unit: db.UCB1(unit),
    "RUCBLT": lambda unit: db.RUCBLT(scale=unit),
    "KLUCB": lambda unit: db.KLUCB("gaussian", unit),
    "EmpiricalIMED": lambda unit: db.EmpiricalIMED(unit),
    "EmpiricalKLUCB": lambda unit: db.EmpiricalKLUCB(unit),
    "BinarizedTS": lambda unit: db.BinarizedTS(0.0, unit),
    "BDS": lambda unit: db.BDS(upper=unit),
    "BCVTS": lambda unit: db.BCVTS(unit, 0.2),
    "UUCB": lambda unit: db.UUCB(upper=unit, level=0.2),
    "TopTwo": lambda unit: db.TopTwo(upper=unit),
}


@pytest.mark.parametrize("unit", [1e-300, 1e-101, 1e101, 1e300])
@pytest.mark.parametrize("name", WITH_A_SCALE)
def test_parameters_whose_squares_would_vanish_or_overflow_are_refused(name, unit):
    with pytest.raises(db.ArgumentError, match=r"from 1e-100 to 1e\+100: choose another unit"):
        WITH_A_SCALE[name](unit)


@pytest.mark.parametrize("unit", [2.0**-330, 2.0**330])
@pytest.mark.parametrize("name", WITH_A_SCALE)
def test_what_is_not_refused_is_decided_as_in_any_other_unit(name, unit):
    expected = db.propensities(WITH_A_SCALE[name](1.0), HISTORIES)
    found = db.propensities(WITH_A_SCALE[name](unit), [unit * x for x in HISTORIES])
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-540, 2.0**330])
@pytest.mark.parametrize("policy", [db.NPTS(upper=0), db.EmpiricalIMED(upper=0), db.BDS(upper=0), db.RDS(), db.RBSDA()])
def test_policies_without_a_scale_take_rewards_of_any_unit(policy, unit):
    expected = db.propensities(policy, [x - 1.0 for x in HISTORIES])
    np.testing.assert_allclose(db.propensities(policy, [unit * (x - 1.0) for x in HISTORIES]), expected, atol=1e-9)


def test_rewards_whose_squares_would_overflow_are_refused_everywhere():
    policy, rng = db.ReBoot(1.0), np.random.default_rng(0)
    message = r"a reward must be between -1e\+100 and 1e\+100 \(got -?1e\+160\)"
    with pytest.raises(db.RewardError, match=message):
        db.propensities(policy, [[1e160, 0.0], [1.0, 2.0]])
    with pytest.raises(db.RewardError, match=message):
        policy.update(policy.init(2), 0, -1e160, rng)
    huge = db.Bandit([db.Empirical([1e160]), db.Empirical([0.0])])
    with pytest.raises(db.RewardError, match="arm 'arm 0': " + message):
        db.simulate(huge, policy, horizon=10, replications=1, seed=0)
