"""A study driven by a simulated bandit has the law of ``db.simulate``.

Seeds are fixed; with other seeds a correct program would fail one of these comparisons in a million.
"""

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db

ALARM = 1e-6
COINS = db.Bandit([db.Bernoulli(0.35), db.Bernoulli(0.6), db.Bernoulli(0.5)], names=["a", "b", "c"])
POLICIES = {
    "RDS": db.RDS(),
    "RBSDA": db.RBSDA(),  # rounds
    "BinarizedTS": db.BinarizedTS(0.0, 1.0),  # coins in the updates
    "TS": db.ThompsonSampling("bernoulli"),
    "EmpiricalIMED": db.EmpiricalIMED(1.0),  # decisions without a draw, and ties
    "EmpiricalKLUCB": db.EmpiricalKLUCB(1.0),
}


def pulls_of_a_study(policy, horizon, seed, mistakes=False):
    """Pulls of each arm after so many trials, each told before the next is asked; maybe wrongly at first."""
    rng = np.random.default_rng([seed, 1])
    study = db.create_study("s", arms=list(COINS.names), policy=policy, seed=seed)
    for _ in range(horizon):
        trial = study.ask()
        reward = float(rng.random() < COINS.means[COINS.names.index(trial.arm)])
        wrong = mistakes and trial.id % 3 == 0
        study.tell(trial.id, 1.0 - reward if wrong else reward)
        if wrong and trial.id % 2:
            study.void(trial.id, "mistyped")
        if wrong:
            study.correct(trial.id, reward)
    return study.summary()["told"].to_numpy()


def same_law(mine, simulated):
    """The number of pulls of each arm, in six classes: chi-squared."""
    for arm in range(mine.shape[1]):
        edges = np.unique(np.quantile(simulated[:, arm], np.linspace(0, 1, 7))[1:-1])
        table = [np.bincount(np.searchsorted(edges, x[:, arm]), minlength=edges.size + 1) for x in (mine, simulated)]
        table = np.array(table)
        assert stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue > ALARM / 3


def compare(name, runs, horizon, mistakes=False):
    policy = POLICIES[name]
    simulated = db.simulate(COINS, policy, horizon=horizon, replications=4000, seed=1, record=1, progress=False)
    mine = np.array([pulls_of_a_study(policy, horizon, seed, mistakes) for seed in range(runs)])
    same_law(mine, simulated.pulls.values[0])


@pytest.mark.parametrize("name", ["RDS", "RBSDA", "EmpiricalIMED"])
def test_same_law_as_simulate(name):
    compare(name, runs=100, horizon=40)


def test_mistakes_that_are_corrected_at_once_leave_the_law():
    compare("RBSDA", runs=100, horizon=40, mistakes=True)


@pytest.mark.slow
@pytest.mark.parametrize("mistakes", [False, True])
@pytest.mark.parametrize("name", POLICIES)
def test_same_law_at_scale(name, mistakes):
    compare(name, runs=300 if name in ("BinarizedTS", "TS") else 1000, horizon=60, mistakes=mistakes)


def test_the_comparison_can_fail():
    settings = {"horizon": 40, "seed": 1, "record": 1, "progress": False}
    two = [
        db.simulate(COINS, policy, replications=n, **settings).pulls.values[0]
        for policy, n in ((db.RBSDA(), 100), (db.RDS(), 4000))
    ]
    with pytest.raises(AssertionError):
        same_law(*two)
