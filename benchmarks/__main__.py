"""``make bench``: how many times faster, measured in one run. Machines are noisy; ratios less so."""

import math
import time
from collections.abc import Callable

import numpy as np
from tests.naive import policies as naive

import dirichlet_bandits as db
from benchmarks.problems import seven_yields


def seconds(job: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few repeats."""
    best = math.inf
    for _ in range(repeats):
        begin = time.process_time()
        job()
        best = min(best, time.process_time() - begin)
    return best


def simulation(bandit: db.Bandit, policy: db.Policy, horizon: int, replications: int, fast: bool) -> float:
    """Seconds a replication on one core, compilation left out."""
    settings = {"seed": 0, "workers": 1, "record": 1, "fast": fast, "progress": False}
    db.simulate(bandit, policy, horizon=100, replications=1, **settings)
    job = lambda: db.simulate(bandit, policy, horizon=horizon, replications=replications, **settings)  # noqa: E731
    return seconds(job) / replications


def compiled_against_naive() -> None:
    """The plain compiled loop of RDS against its twin in Python and NumPy."""
    print("RDS, plain compiled loop against the naive NumPy twin, one core, horizon 2000")
    gaussians = db.Bandit([db.Gaussian(1.0, 1.0), db.Gaussian(2.0, math.sqrt(3.0))])
    yields = seven_yields()
    normal = [lambda rng: rng.normal(1.0, 1.0), lambda rng: rng.normal(2.0, math.sqrt(3.0))]
    resampled = [lambda rng, x=law.data: x[rng.integers(x.size)] for law in yields.arms]
    rng = np.random.default_rng(0)
    for name, bandit, draws in (("two Gaussians", gaussians, normal), ("seven yields", yields, resampled)):
        slow = seconds(lambda d=draws: naive.play(naive.rds, d, 2000, rng), repeats=2)
        quick = simulation(bandit, db.RDS(), 2000, 20, fast=False)
        print(f"  {name:15s} {1e3 * slow:8.1f} ms against {1e3 * quick:6.2f} ms: {slow / quick:5.0f} times")


if __name__ == "__main__":
    compiled_against_naive()
