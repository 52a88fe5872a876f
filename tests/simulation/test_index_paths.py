"""The shortcuts of upper confidence bounds and of sub-sampling have the law of the plain loop.

Upper confidence bounds, and duels with blocks, must play the same games pull by pull, and have the same law where ties
are broken at random. Duels with random subsets are compared by chi-square, Kolmogorov and Smirnov's test and moments;
seeds are fixed and differ between fast and plain runs. A correct program with other seeds would fail
one comparison in a million.
"""

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.policies.test_equal_law import ALARM, chi_square
from tests.simulation.test_fast_paths import MAIZE, SMALL, UPPER, check_equal, counts

RANDOMISED = {
    "WRSDA": lambda upper: db.WRSDA("sqrt-log"),
}
DETERMINISTIC = {
    "UCB1": db.UCB1(sigma=0.5),
    "RUCBLT": db.RUCBLT(),
    "KLUCB bernoulli": db.KLUCB("bernoulli"),
    "KLUCB gaussian": db.KLUCB("gaussian", sigma=0.5),
    "KLUCB exponential": db.KLUCB("exponential"),
    "KLUCB poisson": db.KLUCB("poisson"),
    "EmpiricalKLUCB": db.EmpiricalKLUCB(upper=1.0),
    "RBSDA": db.RBSDA(),
    "LBSDA": db.LBSDA(),
    "LDSSDA": db.LDSSDA("sqrt-log"),
    "SSMC": db.SSMC(),
}
LEADERS_CHANGE = db.Bandit([db.Beta(3.0, 3.0), db.Beta(3.2, 3.0), db.Beta(2.0, 3.0)])


@pytest.mark.parametrize("problem", SMALL)
@pytest.mark.parametrize("name", RANDOMISED)
def test_random_policies_on_small_problems(name, problem):
    bandit = db.Bandit([db.Empirical(values) for values in SMALL[problem]])
    policy = RANDOMISED[name](1.0)
    fast, plain = (counts(bandit, policy, 40, 10_000, seed=60 + way, fast=way) for way in (True, False))
    assert chi_square(np.minimum(fast, 20), np.minimum(plain, 20)) > ALARM


@pytest.mark.parametrize("name", RANDOMISED)
def test_random_policies_in_long_runs(name):
    policy = RANDOMISED[name](UPPER)
    fast, plain = (counts(MAIZE, policy, 1500, 1000, seed=70 + way, fast=way) for way in (True, False))
    check_equal(fast, plain)


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_deterministic_policies_play_the_same_games(name):
    """Rewards without ties: pull by pull, also where the leader changes often."""
    horizon, runs = (300, 10) if name == "EmpiricalKLUCB" else (3000, 40)
    settings = {"horizon": horizon, "replications": runs, "seed": 80, "record": np.arange(1, horizon + 1)}
    fast, plain = (db.simulate(LEADERS_CHANGE, DETERMINISTIC[name], fast=way, **settings) for way in (True, False))
    np.testing.assert_array_equal(fast.regret, plain.regret)
    np.testing.assert_array_equal(fast.pulls, plain.pulls)


@pytest.mark.parametrize("problem", SMALL)
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_deterministic_policies_break_ties_alike(name, problem):
    bandit = db.Bandit([db.Empirical(values) for values in SMALL[problem]])
    fast, plain = (counts(bandit, DETERMINISTIC[name], 30, 4000, seed=90 + way, fast=way) for way in (True, False))
    assert chi_square(np.minimum(fast, 20), np.minimum(plain, 20)) > ALARM
