"""Regrets printed by Baudry, Kaufmann and Maillard (2020): horizon 20 000, 5000 runs, within four standard errors.

The printed means and standard deviations stand in the experiments that come with the package.
``python -m tests.policies.test_published 1000`` prints all of them beside ours.
"""

import sys
from typing import NamedTuple

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import Printed
from dirichlet_bandits.experiments.catalogue import PAPERS

RUNS = 5000  # of the paper


class Cell(NamedTuple):
    """A cell of a printed table."""

    bandit: db.Bandit
    policy: db.Policy
    printed: Printed


def cells():
    """All of them by problem and policy."""
    found = {}
    for problem in PAPERS["sda"].names:
        experiment = db.experiments.shipped(problem)
        assert (experiment.horizon, experiment.replications) == (20_000, RUNS)
        for name, printed in experiment.paper.printed.items():
            found[problem, name] = Cell(experiment.bandit, experiment.policies[name], printed)
    return found


CELLS = cells()
SOME = [  # a few runs of these tell whether a policy is the published one
    ("bernoulli-high", "TS"),
    ("bernoulli-high", "SSMC"),
    ("bernoulli-high", "RB-SDA"),
    ("bernoulli-high", "WR-SDA"),
    ("bernoulli-high", "LB-SDA"),
    ("bernoulli-high", "LDS-SDA"),
    ("gaussian", "TS"),
    ("gaussian", "LB-SDA"),
    ("clipped-narrow", "Binarized TS"),
    ("clipped-narrow", "NPTS"),
    ("clipped-narrow", "SSMC"),
    ("clipped-wide", "NPTS"),
    ("clipped-wide", "WR-SDA"),
    ("exponential", "IMED"),
    ("exponential", "LB-SDA forced"),
    ("bernoulli-middle", "PHE"),
    ("clipped-wide", "PHE"),
    ("gaussian", "ReBoot"),
]


def compared(problem, name, runs):
    """Our mean, its standard error, and how many standard errors of the difference lie beyond the rounding."""
    bandit, policy, printed = CELLS[problem, name]
    result = db.simulate(bandit, policy, horizon=20_000, replications=runs, seed=6, record=1, progress=False)
    found = result.summary().iloc[0]
    return found["mean"], found["stderr"], printed.z(found["mean"], found["std"], runs, RUNS)


def row(problem, name, runs):
    ours, error, z = compared(problem, name, runs)
    print(
        f"{problem:17s} {name:15s} {ours:8.2f} ± {error:6.2f} {CELLS[problem, name].printed.mean:8.1f} {z:6.2f}",
        flush=True,
    )
    return z


@pytest.mark.parametrize(("problem", "name"), SOME)
def test_regret_agrees_with_the_published_one(problem, name):
    assert abs(row(problem, name, 8 if name == "NPTS" else 150)) <= 4.0


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "name"), CELLS)
def test_regret_agrees_with_the_published_one_at_full_scale(problem, name):
    assert abs(row(problem, name, RUNS)) <= 4.0


if __name__ == "__main__":
    print(f"{'problem':17s} {'policy':15s} {'ours':>17s} {'printed':>8s} {'z':>6s}")
    for problem, name in CELLS:
        row(problem, name, int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
