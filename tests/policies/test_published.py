"""Regrets printed by Baudry, Kaufmann and Maillard (2020): horizon 20 000, 5000 runs, within four standard errors."""

import math

import pytest

import dirichlet_bandits as db


def clipped(std, *means):
    return [db.ClippedGaussian(mean, std, 0.0, 1.0) for mean in means]


BERNOULLI_HIGH = [db.Bernoulli(0.8), db.Bernoulli(0.9)]
BERNOULLI_MIDDLE = [db.Bernoulli(0.5), db.Bernoulli(0.6)]
GAUSSIAN = [db.Gaussian(0.5, 1.0), db.Gaussian(0.0, 1.0)]
NARROW, WIDE = clipped(0.1, 0.5, 0.6), clipped(0.3, 0.0, 0.2)
BETA_COIN = db.ThompsonSampling("bernoulli")
COINS = db.BinarizedTS(0.0, 1.0)

PUBLISHED = {  # arms, policy, mean, standard deviation
    "TS, Bernoulli .8 .9": (BERNOULLI_HIGH, BETA_COIN, 11.2, 10.0),
    "RB-SDA, Bernoulli .8 .9": (BERNOULLI_HIGH, db.RBSDA(), 11.5, 10.1),
    "TS, Bernoulli .5 .6": (BERNOULLI_MIDDLE, BETA_COIN, 22.9, 29.2),
    "RB-SDA, Bernoulli .5 .6": (BERNOULLI_MIDDLE, db.RBSDA(), 22.0, 34.5),
    "TS, Gaussian": (GAUSSIAN, db.ThompsonSampling("gaussian", sigma=1.0), 24.4, 17.1),
    "RB-SDA, Gaussian": (GAUSSIAN, db.RBSDA(), 25.6, 62.8),
    "TS, narrow": (NARROW, COINS, 21.9, 20.4),
    "NPTS, narrow": (NARROW, db.NPTS(upper=1.0), 4.2, 0.6),
    "RB-SDA, narrow": (NARROW, db.RBSDA(), 1.4, 1.1),
    "TS, wide": (WIDE, COINS, 13.3, 7.0),
    "NPTS, wide": (WIDE, db.NPTS(upper=1.0), 8.0, 1.8),
    "RB-SDA, wide": (WIDE, db.RBSDA(), 4.4, 4.6),
}


def check(name, replications):
    arms, policy, mean, std = PUBLISHED[name]
    result = db.simulate(db.Bandit(arms), policy, horizon=20_000, replications=replications, seed=6, record=1)
    found = result.summary().iloc[0]
    error = math.hypot(max(found["std"], std) / math.sqrt(replications), std / math.sqrt(5000))
    printed_to = 0.05  # the published means are rounded
    assert abs(found["mean"] - mean) <= 4 * error + printed_to


@pytest.mark.parametrize("name", PUBLISHED)
def test_regret_agrees_with_the_published_one(name):
    check(name, 8 if "NPTS" in name else 300)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_regret_agrees_with_the_published_one_at_full_scale(name):
    check(name, 5000)
