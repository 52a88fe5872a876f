"""The bandits that the benchmarks run on."""

import numpy as np

import dirichlet_bandits as db

UPPER = 10_000.0


def seven_yields() -> db.Bandit:
    """Seven zero-inflated, skewed, bimodal laws: means from 3000 to 4100, smallest gap about 55."""
    rng = np.random.default_rng(20211101)
    arms = []
    for mean, zeros, share in (
        (3080.0, 0.05, 0.35),
        (3290.0, 0.04, 0.35),
        (3557.0, 0.01, 0.45),
        (3612.0, 0.02, 0.40),
        (3730.0, 0.01, 0.50),
        (3825.0, 0.01, 0.50),
        (4100.0, 0.01, 0.55),
    ):
        low = rng.gamma(3.0, 0.45, 20_000)
        high = rng.gamma(25.0, 0.1, 20_000)
        raw = np.where(rng.random(20_000) < share, high, low) * (rng.random(20_000) >= zeros)
        arms.append(db.Empirical(np.minimum(raw * (mean / raw.mean()), UPPER)))
    return db.Bandit(arms)
