"""Every fast path has the law of the plain loop, which has the law of the naive twin.

Pull counts are compared: by
chi-square on small discrete problems, by Kolmogorov and Smirnov's test and the means on continuous ones. Seeds are
fixed and fast and plain runs use different ones; a correct program with other seeds would fail one comparison in a
million.
"""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from tests.policies.test_equal_law import ALARM, chi_square

MAIZE = db.crops.maize_planting("spring")
UPPER = MAIZE.support()[1]
NEAR = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(0.1, 1.0)])
NEAR_AND_BOUNDED = db.Bandit([db.Beta(2.0, 2.0), db.Beta(2.2, 2.0)])
SMALL = {
    "ties": [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.5, 0.5, 1.0]],
    "maximum hit often": [[0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
}
RANDOMISED = {
    "RDS": lambda upper: db.RDS(),
    "BDS": lambda upper: db.BDS(rho=4, gamma=0.3 * upper),
    "BDS known": lambda upper: db.BDS(upper=upper),
    "QDS": lambda upper: db.QDS(),
    "NPTS": lambda upper: db.NPTS(upper=upper),
    "BCVTS": lambda upper: db.BCVTS(upper=upper, level=0.2),
}


def counts(bandit, policy, horizon, replications, seed, fast):
    settings = {"horizon": horizon, "replications": replications, "record": 1}
    return db.simulate(bandit, policy, seed=seed, fast=fast, **settings).pulls.values[0]


@pytest.mark.parametrize("problem", SMALL)
@pytest.mark.parametrize("name", RANDOMISED)
def test_small_problems(name, problem):
    bandit = db.Bandit([db.Empirical(values) for values in SMALL[problem]])
    policy = RANDOMISED[name](1.0)
    # NPTS and BCVTS wait by the clock later on, where the plain loop is slow.
    horizon, runs, grain = (400, 2000, 20) if name in ("NPTS", "BCVTS") else (60, 10_000, 1)
    fast, plain = (counts(bandit, policy, horizon, runs, seed=10 + way, fast=way) // grain for way in (True, False))
    assert chi_square(np.minimum(fast, 25), np.minimum(plain, 25)) > ALARM


@pytest.mark.parametrize("name", RANDOMISED)
def test_long_runs(name):
    policy = RANDOMISED[name](UPPER)
    runs = 150 if name == "NPTS" else 400
    fast, plain = (counts(MAIZE, policy, 1500, runs, seed=20 + way, fast=way) for way in (True, False))
    check_equal(fast, plain)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOMISED)
def test_long_runs_at_full_scale(name):
    policy = RANDOMISED[name](UPPER)
    fast, plain = (counts(MAIZE, policy, 3000, 3000, seed=30 + way, fast=way) for way in (True, False))
    check_equal(fast, plain)


@pytest.mark.parametrize("name", ["RDS", "BDS", "QDS", "NPTS", "BCVTS"])
def test_near_ties_where_leaders_change(name):
    policy = RANDOMISED[name](1.0)
    bandit = NEAR_AND_BOUNDED if name in ("NPTS", "BCVTS") else NEAR
    fast, plain = (counts(bandit, policy, 1000, 500, seed=40 + way, fast=way) for way in (True, False))
    check_equal(fast, plain)


def check_equal(fast, plain):
    for arm in range(fast.shape[1]):
        x, y = fast[:, arm].astype(float), plain[:, arm].astype(float)
        assert stats.ks_2samp(x, y).pvalue > ALARM
        for power in (1, 2):
            a, b = x**power, y**power
            spread = np.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
            assert abs(a.mean() - b.mean()) <= 4.9 * spread  # two-sided one in a million
