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


def seven_near_tie() -> db.Bandit:
    """The seven dates, but the second best is the best one, 0.03 standard deviations lower."""
    samples = [np.asarray(values) for values in db.crops.yields().values()]
    second, best = np.argsort([values.mean() for values in samples])[-2:]
    samples[second] = samples[best] - 0.03 * samples[best].std()
    return db.Bandit([db.Empirical(values) for values in samples])


def one_good(n_arms: int) -> db.Bandit:
    """The latest date, and n - 1 that yield 0.4 of it: soon settled, however many they are."""
    sample = np.asarray(db.crops.yields()["27 May"])[:2000]
    return db.Bandit([db.Empirical(sample)] + [db.Empirical(0.4 * sample)] * (n_arms - 1))
