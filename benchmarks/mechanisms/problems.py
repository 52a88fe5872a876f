"""The five problems on which a mechanism has to earn its place."""

import numpy as np
from scipy.stats import norm

import dirichlet_bandits as db
from benchmarks.problems import seven_near_tie, yields


def rare_coins() -> db.Bandit:
    """Five coins that seldom show heads."""
    return db.Bandit([db.Bernoulli(p) for p in (0.01, 0.01, 0.02, 0.02, 0.03)])


def heavy_tail() -> db.Bandit:
    """Three arms whose rare rewards are a hundred times the median: 2,000 lognormal quantiles, scaled."""
    sample = np.exp(1.5 * norm.ppf((np.arange(2000) + 0.5) / 2000))
    return db.Bandit([db.Empirical(scale * sample) for scale in (0.6, 0.8, 1.0)])


PROBLEMS = {
    "seven dates": yields,
    "four early dates": lambda: db.crops.maize_planting("spring"),
    "near ties": seven_near_tie,
    "rare coins": rare_coins,
    "heavy tail": heavy_tail,
}
