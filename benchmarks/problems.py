"""The bandits that the benchmarks run on."""

import numpy as np

import dirichlet_bandits as db


def yields() -> db.Bandit:
    """Seven planting dates: zero-inflated, skewed, bimodal."""
    return db.crops.maize_planting()


def upper(bandit: db.Bandit) -> float:
    """The largest reward, which policies for bounded rewards are told."""
    return bandit.support()[1]


def near_tie() -> db.Bandit:
    """Two dates with a gap of 0.03 standard deviations: the challenger collects thousands of rewards."""
    base = np.asarray(db.crops.yields()["12 May"])
    return db.Bandit([db.Empirical(base), db.Empirical(base + 0.03 * base.std())])


def thousand_arms() -> db.Bandit:
    """The yields a hundred and forty times over, each date a little worse than before."""
    samples = [np.asarray(values)[:2000] for values in db.crops.yields().values()]
    return db.Bandit([db.Empirical(samples[k % 7] * (1.0 - 0.0004 * k)) for k in range(1000)])
