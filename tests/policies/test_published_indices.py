"""Regrets of index policies and their kin against an independent simulation, not printed values: within four errors.

Both sides were simulated, so both standard errors count. Seeds are fixed; a correct program with other seeds would fail
a comparison once in 16 000.
"""

import math
from typing import NamedTuple

import pytest

import dirichlet_bandits as db

COINS_HIGH = [db.Bernoulli(0.8), db.Bernoulli(0.9)]
COINS_MIDDLE = [db.Bernoulli(0.5), db.Bernoulli(0.6)]
COINS_LOW = [db.Bernoulli(0.2), db.Bernoulli(0.25)]
GAUSSIAN = [db.Gaussian(0.5, 1.0), db.Gaussian(0.0, 1.0)]
GAUSS = {"family": "gaussian", "sigma": 1.0}
LONG, SHORT = 20_000, 10_000


class Reference(NamedTuple):
    """The game, and what the independent code found: mean, standard deviation and runs."""

    arms: list
    policy: db.Policy
    horizon: int
    mean: float
    std: float
    runs: int


REFERENCES = {
    "IMED, .8 .9": Reference(COINS_HIGH, db.IMED("bernoulli"), LONG, 11.73, 7.0, 1000),
    "IMED, .5 .6": Reference(COINS_MIDDLE, db.IMED("bernoulli"), LONG, 21.7, 14.0, 600),
    "IMED, Gaussian": Reference(GAUSSIAN, db.IMED(**GAUSS), LONG, 24.3, 12.0, 600),
    "MED, .8 .9": Reference(COINS_HIGH, db.MED("bernoulli"), LONG, 15.56, 8.4, 1000),
    "MED, .5 .6": Reference(COINS_MIDDLE, db.MED("bernoulli"), LONG, 29.1, 15.0, 600),
    "MED, Gaussian": Reference(GAUSSIAN, db.MED(**GAUSS), LONG, 31.3, 14.0, 600),
    "DMED, .8 .9": Reference(COINS_HIGH, db.DMED("bernoulli"), LONG, 11.62, 6.8, 1000),
    "DMED, .5 .6": Reference(COINS_MIDDLE, db.DMED("bernoulli"), LONG, 22.9, 17.0, 600),
    "DMED, Gaussian": Reference(GAUSSIAN, db.DMED(**GAUSS), LONG, 25.2, 13.0, 600),
    "KL-UCB, .8 .9": Reference(COINS_HIGH, db.KLUCB("bernoulli"), LONG, 17.3, 8.9, 1000),
    "KL-UCB, Gaussian": Reference(GAUSSIAN, db.KLUCB(**GAUSS), LONG, 34.0, 15.0, 600),
    "kl-UCB++, Gaussian": Reference(GAUSSIAN, db.KLUCBPlusPlus(**GAUSS, horizon=LONG), LONG, 34.3, 14.0, 600),
    "Maillard, .8 .9": Reference(COINS_HIGH, db.MaillardSampling(0.5), LONG, 29.9, 12.0, 1000),
    "Maillard, .5 .6": Reference(COINS_MIDDLE, db.MaillardSampling(0.5), LONG, 29.6, 15.0, 600),
    "PHE, .8 .9": Reference(COINS_HIGH, db.PHE(1.1), LONG, 24.9, 81.0, 600),
    "GIRO, .8 .9": Reference(COINS_HIGH, db.GIRO(1.0), LONG, 46.5, 14.0, 600),
    "ReBoot, Gaussian": Reference(GAUSSIAN, db.ReBoot(1.5), LONG, 93.8, 24.0, 600),
    "KL-MS, .8 .9, short": Reference(COINS_HIGH, db.MED("bernoulli"), SHORT, 14.1, 8.0, 1000),
    "Maillard, .8 .9, short": Reference(COINS_HIGH, db.MaillardSampling(0.5), SHORT, 26.5, 11.4, 1000),
    "KL-MS, .2 .25, short": Reference(COINS_LOW, db.MED("bernoulli"), SHORT, 31.7, 20.7, 1000),
    "Maillard, .2 .25, short": Reference(COINS_LOW, db.MaillardSampling(0.5), SHORT, 39.9, 19.8, 1000),
}


def check(name, replications):
    arms, policy, horizon, mean, std, runs = REFERENCES[name]
    result = db.simulate(db.Bandit(arms), policy, horizon=horizon, replications=replications, seed=12, record=1)
    found = result.summary().iloc[0]
    error = math.hypot(max(found["std"], std) / math.sqrt(replications), std / math.sqrt(runs))
    printed_to = 0.05 if round(mean, 1) == mean else 0.005  # the reference is rounded
    z = (found["mean"] - mean) / error
    print(f"{name}: {found['mean']:.2f} (sd {found['std']:.1f}), reference {mean}, z = {z:.2f}")
    assert abs(found["mean"] - mean) <= 4 * error + printed_to


@pytest.mark.parametrize("name", ["MED, .8 .9", "DMED, Gaussian", "Maillard, .5 .6", "kl-UCB++, Gaussian"])
def test_regret_agrees_with_other_simulations(name):
    check(name, 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCES)
def test_regret_agrees_with_other_simulations_at_full_scale(name):
    check(name, 4000)
