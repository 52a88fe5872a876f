"""``make bench``: how many times faster, measured in one run. Machines are noisy; ratios less so.

``python -m benchmarks quick`` leaves out the plain loops at the longest horizon.
"""

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from tests.naive import policies as naive

import dirichlet_bandits as db
from benchmarks.problems import near_tie, thousand_arms, upper, yields

PUBLISHED = "authors' Python code, two arms, elsewhere: UCB1 26, RB-SDA 57, NPTS 380 microseconds a pull at 1e4"


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
    db.simulate(bandit, policy, horizon=len(bandit) + 10, replications=1, **settings)
    job = lambda: db.simulate(bandit, policy, horizon=horizon, replications=replications, **settings)  # noqa: E731
    return seconds(job, 3 if fast else 1) / replications


def drawing(bandit: db.Bandit, horizon: int) -> float:
    """Seconds to draw so many rewards of one arm, and nothing else: their share of a million."""
    law = bandit.arms[-1]
    law.rvs(10, 0)
    return seconds(lambda: law.rvs(1_000_000, 0)) * horizon / 1_000_000


def compiled_against_naive() -> None:
    """The plain compiled loop of RDS against its twin in Python and NumPy."""
    print("RDS, plain compiled loop against the naive NumPy twin, horizon 2000")
    gaussians = db.Bandit([db.Gaussian(1.0, 1.0), db.Gaussian(2.0, math.sqrt(3.0))])
    maize = yields()
    normal = [lambda rng: rng.normal(1.0, 1.0), lambda rng: rng.normal(2.0, math.sqrt(3.0))]
    resampled = [lambda rng, x=law.data: x[rng.integers(x.size)] for law in maize.arms]
    rng = np.random.default_rng(0)
    for name, bandit, draws in (("two Gaussians", gaussians, normal), ("seven yields", maize, resampled)):
        slow = seconds(lambda d=draws: naive.play(naive.rds, d, 2000, rng), repeats=2)
        quick = simulation(bandit, db.RDS(), 2000, 20, fast=False)
        print(f"  {name:15s} {1e3 * slow:8.1f} ms against {1e3 * quick:6.2f} ms: {slow / quick:5.0f} times")


def row(name: str, bandit: db.Bandit, policy: db.Policy, horizon: int, plain: bool) -> None:
    """One line: the fast path against the plain loop and against the rewards."""
    runs = max(4, 400_000 // horizon)
    fast, rewards = simulation(bandit, policy, horizon, runs, fast=True), drawing(bandit, horizon)
    line = f"  {name:16s} {horizon:8d} {1e3 * fast:9.2f} ms {fast / rewards:7.0f} times the rewards"
    if plain:
        slow = simulation(bandit, policy, horizon, max(1, runs // 20), fast=False)
        line += f" {slow / fast:7.1f} times faster than the plain loop"
    print(line, flush=True)


def fast_paths(quick: bool) -> None:
    """The exact shortcuts on seven planting dates, two near-equal ones, and a thousand arms."""
    maize = yields()
    top = upper(maize)
    shortcuts = {
        "RDS": db.RDS(),
        "BDS": db.BDS(rho=4, gamma=3500),
        "QDS": db.QDS(),
        "NPTS": db.NPTS(top),
        "EmpiricalIMED": db.EmpiricalIMED(top),
    }
    print("seven planting dates")
    for name, policy in shortcuts.items():
        for horizon in (10_000, 100_000):
            row(name, maize, policy, horizon, plain=not (quick and horizon > 10_000))
    row("RDS", maize, db.RDS(), 1_000_000, plain=False)
    print("the other policies")
    others = [
        db.UCB1(top / 2),
        db.RUCBLT(),
        db.KLUCB("poisson"),
        db.IMED("poisson"),
        db.ThompsonSampling("poisson"),
        db.BinarizedTS(0, top),
        db.RBSDA(),
    ]
    for policy in others:
        row(type(policy).__name__, maize, policy, 10_000, plain=False)
    print("two dates 0.03 standard deviations apart")
    for horizon in (10_000, 100_000):
        row("RDS", near_tie(), db.RDS(), horizon, plain=not (quick and horizon > 10_000))
    if not quick:
        print("a thousand arms")
        many = thousand_arms()
        for name, policy in {"RDS": db.RDS(), "NPTS": db.NPTS(upper(many))}.items():
            row(name, many, policy, 100_000, plain=False)


if __name__ == "__main__":
    compiled_against_naive()
    fast_paths(quick="quick" in sys.argv)
    print(PUBLISHED)
