"""Shortcuts and plain loop have one law on bandits made to find out: every policy with a shortcut on every one.

Pull counts are compared by chi-square. Seeds are fixed and differ between fast and plain runs. A correct program with
other seeds would fail one comparison in a million; at full scale, where a hundred times as many runs are compared, one
policy in about a thousand.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from tests.policies.test_equal_law import ALARM, chi_square

RARE = [0.0] * 19 + [1.0]


class Hostile(NamedTuple):
    """Arms, bounds that policies are told, and the unit of the rewards."""

    arms: list
    lower: float = 0.0
    upper: float = 1.0
    unit: float = 1.0


def moved(offset, unit):
    """A bandit of two-point arms, around another number and on another scale."""
    low, high = offset, offset + unit
    return Hostile([db.Empirical([low, high]), db.Empirical([low, high, high])], low, high, unit)


BANDITS = {
    "a constant and a coin": Hostile([db.Empirical([0.0]), db.Bernoulli(2 / 3)]),
    "a coin and a constant": Hostile([db.Bernoulli(0.4), db.Empirical([0.5])]),
    "constants": Hostile([db.Empirical([0.3]), db.Empirical([0.5]), db.Empirical([0.5])]),
    "rare and large": Hostile([db.Empirical([0.04]), db.Empirical(RARE), db.Empirical(RARE[9:])]),
    "three Beta arms": Hostile([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]),
    "equal arms": Hostile([db.Beta(2, 2), db.Beta(2, 2), db.Beta(2, 2)]),
    "bounds far away": Hostile([db.Beta(2, 6), db.Beta(4, 2)], -3.0, 4.0),
    "thirty arms": Hostile([db.Bernoulli(0.2 + 0.02 * k) for k in range(30)]),
    "near a billion": moved(1e9, 1.0),
    "tiny": moved(0.0, 1e-12),
    "huge": moved(0.0, 1e12),
}
POLICIES = {
    "RDS": lambda b: db.RDS(),
    "BDS": lambda b: db.BDS(rho=4, gamma=0.3 * b.unit),
    "BDS known": lambda b: db.BDS(upper=b.upper),
    "QDS": lambda b: db.QDS(),
    "NPTS": lambda b: db.NPTS(upper=b.upper),
    "RBSDA": lambda b: db.RBSDA(),
    "UCB1": lambda b: db.UCB1(sigma=0.5 * b.unit),
    "RUCBLT": lambda b: db.RUCBLT(),
    "KLUCB gaussian": lambda b: db.KLUCB("gaussian", sigma=0.5 * b.unit),
    "EmpiricalKLUCB": lambda b: db.EmpiricalKLUCB(upper=b.upper),
    "IMED gaussian": lambda b: db.IMED("gaussian", sigma=0.5 * b.unit),
    "EmpiricalIMED": lambda b: db.EmpiricalIMED(upper=b.upper),
    "TS gaussian": lambda b: db.ThompsonSampling("gaussian", sigma=0.5 * b.unit),
    "BinarizedTS": lambda b: db.BinarizedTS(b.lower, b.upper),
}
HORIZON = {"NPTS": 400, "EmpiricalKLUCB": 60, "EmpiricalIMED": 100}  # campaigns of NPTS begin late; others are slow


def binned(counts, pooled):
    """Pull counts of up to three arms in classes that are about equally full."""
    arms = min(counts.shape[1] - 1, 3)
    shares = np.linspace(0.0, 1.0, {1: 41, 2: 9, 3: 5}[arms])
    cuts = [np.unique(np.quantile(pooled[:, arm], shares)) for arm in range(arms)]
    return np.column_stack([np.searchsorted(cuts[arm], counts[:, arm], "right") for arm in range(arms)])


def p_value(name, bandit, replications, seed):
    """How well the pull counts of fast and plain runs agree."""
    hostile = BANDITS[bandit]
    horizon = HORIZON.get(name, 200) + 10 * len(hostile.arms)
    fast, plain = (
        db.simulate(
            db.Bandit(hostile.arms),
            POLICIES[name](hostile),
            horizon=horizon,
            replications=replications,
            seed=seed + way,
            fast=way,
            record=1,
        ).pulls.values[0]
        for way in (True, False)
    )
    pooled = np.concatenate([fast, plain])
    return chi_square(binned(fast, pooled), binned(plain, pooled))


@pytest.mark.parametrize("bandit", BANDITS)
@pytest.mark.parametrize("name", POLICIES)
def test_shortcuts_have_the_law_of_the_plain_loop(name, bandit):
    assert p_value(name, bandit, 1000, seed=200) > ALARM


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_shortcuts_have_the_law_of_the_plain_loop_at_full_scale(name):
    found = np.array([p_value(name, bandit, 100_000, seed=300) for bandit in BANDITS])
    print(name, dict(zip(BANDITS, found.round(5), strict=True)))
    assert found.min() > 1e-4
    assert stats.kstest(found[found < 1.0], "uniform").pvalue > 1e-4  # 1: all runs are the same
