"""``make bench``: how many times faster, measured in one run. Machines are noisy; ratios less so.

``python -m benchmarks quick`` leaves out the plain loops at the longest horizon, and ``python -m benchmarks plain`` all
but the policies that have no shortcut. ``python -m benchmarks unsettled`` compares shortcuts with plain loops where no
shortcut can pay, and ``python -m benchmarks worlds`` the loop of scripts with the plain one.
"""

import functools
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.naive import policies as naive

import dirichlet_bandits as db
from benchmarks.problems import near_tie, one_good, seven_near_tie, upper, yields


def seconds(job: Callable[[], object], repeats: int = 3) -> float:
    """Least processor time of a few repeats."""
    best = math.inf
    for _ in range(repeats):
        begin = time.process_time()
        job()
        best = min(best, time.process_time() - begin)
    return best


def simulation(
    bandit: db.Environment,
    policy: db.policies.Policy,
    horizon: int,
    replications: int,
    fast: bool,
    **feedback: Any,
) -> float:
    """Seconds a replication on one core, compilation left out; ``feedback`` is the delay or the batches, if any."""
    settings: Any = {"seed": 0, "workers": 1, "record": 1, "fast": fast, "progress": False, **feedback}
    # A short run compiles the plain loop; batches and segments need all pulls to be what they are.
    in_world = bool(feedback) or not bandit.still
    db.simulate(bandit, policy, horizon=horizon if in_world else len(bandit) + 10, replications=1, **settings)
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


def risk() -> None:
    """B-CVTS on the four dates of spring and on near ties: twin, plain loop and shortcut."""
    print(
        "BCVTS on four planting dates\n  level   twin / plain, 2000 pulls   ms a run, 10 000 pulls   plain / shortcut"
    )
    rng = np.random.default_rng(0)
    for level in (0.05, 0.2, 0.8):
        bandit, policy = db.crops.maize_planting("spring", objective=db.CVaR(level)), db.BCVTS(10_000, level)
        draws = [lambda rng, x=law.data: x[rng.integers(x.size)] for law in bandit.arms]
        twin = functools.partial(naive.bcvts, upper=10_000, level=level)
        slow = seconds(lambda t=twin, d=draws: naive.play(t, d, 2000, rng), repeats=1)
        plain = simulation(bandit, policy, 2000, 20, fast=False)
        # Runs differ much in length: the same ones on both sides.
        fast, straight = (simulation(bandit, policy, 10_000, 20, fast=way) for way in (True, False))
        print(f"  {level:5.2f} {slow / plain:26.0f} {1e3 * fast:24.2f} {straight / fast:18.1f}", flush=True)
    heading("BCVTS at 20 %, where the best two arms are 0.03 standard deviations apart")
    for name, near in {"two dates": near_tie(), "seven dates": seven_near_tie()}.items():
        bandit = db.Bandit(near.arms, objective=db.CVaR(0.2))
        for horizon in (10_000, 100_000):
            row(name, bandit, db.BCVTS(upper(bandit), 0.2), horizon, plain=True, share=1 if horizon == 10_000 else 8)


def row(
    name: str, bandit: db.Bandit, policy: db.policies.Policy, horizon: int, plain: bool, share: int = 20, least: int = 8
) -> float:
    """One line: the fast path against the plain loop, for a share of the runs, and against the rewards; its seconds."""
    runs = max(least, 400_000 // horizon)
    fast, rewards = simulation(bandit, policy, horizon, runs, fast=True), drawing(bandit, horizon)
    slow = simulation(bandit, policy, horizon, max(1, runs // share), fast=False) / fast if plain else math.nan
    shown = f"{slow:9.1f}" if plain else f"{'-':>9s}"
    print(
        f"  {name:16s} {horizon:8d} {1e3 * fast:10.2f} {fast / rewards:10.1f} {shown} {1e6 * fast / horizon:10.3f}",
        flush=True,
    )
    return fast


def heading(title: str) -> None:
    """Above a group of rows."""
    print(f"{title}\n  {'policy':16s} {'pulls':>8s} {'ms a run':>10s} {'/ rewards':>10s} {'plain /':>9s} "
          f"{'us a pull':>10s}")  # fmt: skip


def settled(top: float) -> dict[str, db.policies.Policy]:
    """Policies whose fast paths outgrow the plain loop with the horizon."""
    return {
        "RDS": db.RDS(),
        "BDS": db.BDS(rho=4, gamma=3500),
        "QDS": db.QDS(),
        "NPTS": db.NPTS(top),
    }


def without_shortcut(top: float) -> dict[str, db.policies.Policy]:
    """Policies that look at every arm at every pull."""
    return {
        "UCB1": db.UCB1(top / 2),
        "KLUCB poisson": db.KLUCB("poisson"),
        "EmpiricalKLUCB": db.policies.EmpiricalKLUCB(top),
        "IMED poisson": db.IMED("poisson"),
        "EmpiricalIMED": db.EmpiricalIMED(top),
        "MED poisson": db.policies.MED("poisson"),
        "MED": db.policies.MED(upper=top),
        "MaillardSampling": db.policies.MaillardSampling(sigma=top / 2),
        "LBSDA": db.LBSDA(),
        "RBSDA": db.RBSDA(),
        "SSMC": db.policies.SSMC(),
        "WRSDA": db.policies.WRSDA(),
    }


def fast_paths(quick: bool) -> None:
    """The exact shortcuts on seven planting dates, two near-equal ones, and a thousand arms."""
    maize, near = yields(), near_tie()
    heading("seven planting dates")
    seconds_at_1e5 = {}
    for name, policy in settled(upper(maize)).items():
        for horizon in (10_000, 100_000):
            seconds_at_1e5[name] = row(name, maize, policy, horizon, plain=not (quick and horizon > 10_000))
    plain_loops(maize)
    heading("seven planting dates, a million pulls")
    for name, policy in settled(upper(maize)).items():
        if name == "RDS" or not quick:
            growth = row(name, maize, policy, 1_000_000, plain=False) / seconds_at_1e5[name]
            print(f"  {'':16s} {growth:.1f} times the time of 1e5 pulls")
    heading("two dates 0.03 standard deviations apart")
    for horizon in (10_000, 100_000):
        # Runs differ much in length here: the same ones on both sides.
        row("RDS", near, db.RDS(), horizon, plain=not (quick and horizon > 10_000), share=1)
    heading("seven dates, the best two 0.03 standard deviations apart")
    seven = seven_near_tie()
    for name, policy in settled(upper(seven)).items():
        for horizon in (10_000, 100_000):
            if name in ("RDS", "QDS", "NPTS"):
                row(name, seven, policy, horizon, plain=False, least=40)  # runs differ much in length
    many_arms()


def unsettled() -> None:
    """Fifty nearly equal arms, where no shortcut can pay: it must not cost more than the plain loop."""
    print("fifty arms that do not settle: time of the shortcut / plain loop")
    bandit = db.Bandit([db.Bernoulli(0.4 + 0.004 * k) for k in range(50)])
    policies = {
        "RDS": db.RDS(),
        "QDS": db.QDS(2, 0.5),
        "NPTS": db.NPTS(1.0),
        "BCVTS": db.BCVTS(1.0, 0.2),
    }
    for name, policy in policies.items():
        ratios = [
            simulation(bandit, policy, horizon, 10, fast=True) / simulation(bandit, policy, horizon, 10, fast=False)
            for horizon in (1000, 5000)
        ]
        print(f"  {name:16s} {ratios[0]:8.2f} at 1000 pulls {ratios[1]:8.2f} at 5000", flush=True)


def _least(play: Callable[..., float], games: list[tuple[Any, dict[str, Any]]], runs: int) -> list[float]:
    """Least processor time of each game, which take turns, so that all meet the same noise."""
    turns = [[play(x, replications=runs, **more) for x, more in games] for _ in range(5)]
    return [min(times) for times in zip(*turns, strict=True)]


def worlds() -> None:
    """Delays, batches and changes beside the plain loop. One segment adds nothing."""
    print("seven planting dates, 3000 pulls: the loop of scripts / the plain loop of the same arms (goal: at most 3)")
    print("one segment: a Piecewise without changes / the bandit, both with shortcuts (goal: 1.00 to 1.03)")
    maize = yields()
    still = db.Piecewise({1: maize, 3001: db.Bandit(maize.arms[::-1], maize.names)})  # the change comes too late
    half = db.Piecewise({1: maize, 1501: db.Bandit(maize.arms[::-1], maize.names)})
    drift = db.Drifting(np.tile(maize.means, (3000, 1)), noise=db.Uniform(-100.0, 100.0))
    cases: dict[str, tuple[db.Environment, dict[str, Any]]] = {
        "two segments": (half, {}),
        "delay of 30": (maize, {"delay": 30}),
        "geometric delay": (maize, {"delay": db.Geometric(0.1)}),
        "batches of 30": (maize, {"batch": 30}),
        "drifting": (drift, {}),
    }
    print(f"  {'policy':8s} {'ms a run':>10s} {'one segment':>16s}", *(f"{name:>16s}" for name in cases))
    top = upper(maize) + 100.0
    policies = {"UCB1": db.UCB1(top / 2), "TS": db.ThompsonSampling("gaussian", 1000.0), "LBSDA": db.LBSDA()}
    for name, policy in {**policies, "NPTS": db.NPTS(top), "RDS": db.RDS()}.items():
        runs, play = 4 if name in ("NPTS", "RDS") else 40, functools.partial(simulation, policy=policy, horizon=3000)
        least = functools.partial(_least, play)
        one = least([(maize, {"fast": True}), (still, {"fast": True})], 10 * runs)
        plain, *others = least(
            [(maize, {"fast": False}), *((x, {"fast": False, **more}) for x, more in cases.values())], runs
        )
        ratios = [one[1] / one[0], *(other / plain for other in others)]
        cells = " ".join(f"{ratio:16.2f}" for ratio in ratios)
        print(f"  {name:8s} {1e3 * plain:10.2f} {cells}", flush=True)


def plain_loops(maize: db.Bandit) -> None:
    """The policies without a shortcut at 1e4 pulls: above 5 ms, a shortcut that is 8 times as fast may be worth it."""
    heading("seven planting dates, no shortcut")
    for name, policy in without_shortcut(upper(maize)).items():
        row(name, maize, policy, 10_000, plain=False)


def many_arms() -> None:
    """What a pull costs once the game is settled: the second million of pulls, the first being the same."""
    print(f"one good arm\n  {'policy':16s} {'arms':>8s} {'ms for 1e5':>10s} {'ns a pull when settled':>24s}")
    for n_arms in (7, 1000):
        bandit = one_good(n_arms)
        for name, policy in {"RDS": db.RDS(), "NPTS": db.NPTS(upper(bandit))}.items():
            start, half, whole = (
                min(simulation(bandit, policy, horizon, 1, fast=True) for _ in range(3))  # a small difference of times
                for horizon in (100_000, 1_000_000, 2_000_000)
            )
            print(f"  {name:16s} {n_arms:8d} {1e3 * start:10.1f} {1e3 * (whole - half):24.1f}", flush=True)


if __name__ == "__main__":
    if "plain" in sys.argv:
        plain_loops(yields())
    elif "unsettled" in sys.argv:
        unsettled()
    elif "worlds" in sys.argv:
        worlds()
    else:
        worlds()
        compiled_against_naive()
        risk()
        unsettled()
        fast_paths(quick="quick" in sys.argv)
