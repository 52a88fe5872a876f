"""A study driven by a simulated environment with late rewards or batches has the distribution of ``db.simulate``.

Seeds are fixed; with other seeds, a correct program would fail one of these comparisons in a million.
"""

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.live.test_law import COINS, same_law

GEOMETRIC, PARETO = db.Geometric(0.2), db.Pareto(0.8)
CASES = {
    "RDS, geometric": (db.RDS(), {"delay": GEOMETRIC}),
    "pending pulls counted, batches": (db.CountPending(db.UCB1(0.5)), {"batch": 10}),
    "pending pulls counted, geometric": (db.CountPending(db.UCB1(0.5)), {"delay": GEOMETRIC}),
    "UCB1, batches": (db.UCB1(0.5), {"batch": 10}),
    "TS, batches and delays": (db.ThompsonSampling("bernoulli"), {"batch": 8, "delay": GEOMETRIC}),
    "TS in a window, lost": (
        db.SlidingWindow(db.ThompsonSampling("bernoulli"), 25),
        {"delay": PARETO, "window": 5},
    ),
    "discounted TS, zero after a window": (
        db.Discounted(db.ThompsonSampling("bernoulli"), 0.9),
        {"delay": PARETO, "window": 5, "late": 0.0},
    ),
    "LBSDA, heavy": (db.LBSDA(), {"delay": PARETO}),
}
QUICK = list(CASES)[:2]


def pulls_of_a_study(policy, horizon, seed, delay=0, batch=1, window=np.inf, late=None):
    """Pulls of each arm in a study whose trials are told or abandoned when a simulated environment says so."""
    rng = np.random.default_rng([seed, 1])
    study = db.create_study("s", arms=list(COINS.names), policy=policy, seed=seed)
    under_way = []
    for clock in range(horizon):
        if clock % batch == 0:  # policies that decide in rounds have no batches here: they would finish a round first
            for _, trial, value in sorted(item for item in under_way if item[0] <= clock):
                if value == -1.0:
                    study.abandon(trial)
                else:
                    study.tell(trial, value)
            under_way = [item for item in under_way if item[0] > clock]
        trial = study.ask()
        reward = float(rng.random() < COINS.means[COINS.names.index(trial.arm)])
        wait = np.ceil(delay.rvs(1, rng)[0]) if hasattr(delay, "rvs") else delay
        value = reward if wait <= window else -1.0 if late is None else late
        under_way.append((clock + 1 + min(wait, window), trial.id, value))
    return np.bincount([COINS.names.index(arm) for arm in study.trials_dataframe()["arm"]], minlength=len(COINS))


def compare(name, runs, horizon):
    policy, feedback = CASES[name]
    settings = {"horizon": horizon, "replications": 4000, "seed": 1, "record": 1, "progress": False}
    simulated = db.simulate(COINS, policy, **settings, **feedback)
    mine = np.array([pulls_of_a_study(policy, horizon, seed, **feedback) for seed in range(runs)])
    same_law(mine, simulated.pulls.values[0])


@pytest.mark.parametrize("name", QUICK)
def test_same_distribution_as_simulate(name):
    compare(name, runs=80, horizon=30)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_same_distribution_at_scale(name):
    compare(name, runs=600, horizon=60)


def test_the_comparison_can_fail():
    settings = {"horizon": 30, "seed": 1, "record": 1, "batch": 10, "progress": False}
    two = [
        db.simulate(COINS, policy, replications=n, **settings).pulls.values[0]
        for policy, n in ((db.CountPending(db.UCB1(0.5)), 4000), (db.UCB1(0.5), 4000))
    ]
    with pytest.raises(AssertionError):
        same_law(*two)
