"""Regrets of policies that forget on published problems, within four standard errors of the difference.

The references are independent simulations of the published definitions, each of which agrees with its publication: the
first problem of Besson's thesis (2019, chapter 6; 177 printed for SW-klUCB), and the two problems of Baudry, Russac and
Cappé (2021; their figures show 277 and 272 for SW-LB-SDA, 283 for SW-TS and 311 for D-TS). SW-klUCB and D-klUCB
explore there at the level log t as released; the references are those of log min(t, window) and of log n_gamma, as
published. A correct program with other seeds would fail one comparison in 16,000.
"""

import math
import sys
from typing import NamedTuple

import pytest

import dirichlet_bandits as db

HORIZON = 10_000


class Case(NamedTuple):
    """A world, how long it is played, a policy, its regret and the standard error of that."""

    world: db.Piecewise
    horizon: int
    policy: db.Policy
    regret: float
    error: float


def coins(*means):
    return [db.Bernoulli(p) for p in means]


def bells(*means):
    return [db.Gaussian(mean, 0.5) for mean in means]


THESIS = db.Piecewise(
    {
        1: coins(0.3, 0.5, 0.9),
        1001: coins(0.3, 0.2, 0.9),
        2001: coins(0.3, 0.2, 0.1),
        3001: coins(0.7, 0.2, 0.1),
        4001: coins(0.7, 0.5, 0.1),
    }
)
BERNOULLI = db.Piecewise({1: coins(0.5, 0.3, 0.4), 3001: coins(0.3, 0.7, 0.2), 5001: coins(0.5, 0.3, 0.6)})
GAUSSIAN = db.Piecewise(
    {1: bells(0.9, 0.5, 0.4), 2501: bells(0.4, 0.8, 0.5), 4501: bells(0.3, 0.2, 0.7), 7001: bells(0.9, 0.8, 0.4)}
)


def window(horizon, changes):
    return int(2 * math.sqrt(horizon * math.log(horizon) / changes))


TS, KLUCB, GAMMA = db.ThompsonSampling("bernoulli"), db.KLUCB("bernoulli"), 1 - math.sqrt(2 / HORIZON) / 4
CASES = {
    "thesis SW-klUCB": Case(THESIS, 5000, db.SlidingWindow(KLUCB, window(5000, 4)), 177.8, 0.9),
    "SW-LB-SDA": Case(BERNOULLI, HORIZON, db.SWLBSDA(window(HORIZON, 2)), 276.4, 34 / math.sqrt(300)),
    "SW-TS": Case(BERNOULLI, HORIZON, db.SlidingWindow(TS, window(HORIZON, 2)), 284.1, 1.9),
    "SW-klUCB": Case(BERNOULLI, HORIZON, db.SlidingWindow(KLUCB, window(HORIZON, 2)), 339.3, 30 / math.sqrt(300)),
    "D-TS": Case(BERNOULLI, HORIZON, db.Discounted(TS, GAMMA), 307.5, 29 / math.sqrt(300)),
    "D-klUCB": Case(BERNOULLI, HORIZON, db.Discounted(KLUCB, GAMMA), 388.1, 25 / math.sqrt(300)),
    "SW-LB-SDA gaussian": Case(GAUSSIAN, HORIZON, db.SWLBSDA(window(HORIZON, 3)), 266.0, 26 / math.sqrt(100)),
}
FEW = {"SW-TS": 20, "SW-LB-SDA gaussian": 30, "D-TS": 10}


def compared(name, runs):
    """Our mean, its standard error, and the difference in standard errors."""
    world, horizon, policy, regret, error = CASES[name]
    result = db.simulate(world, policy, horizon=horizon, replications=runs, seed=4, record=1, progress=False)
    found = result.summary().iloc[0]
    return found["mean"], found["stderr"], (found["mean"] - regret) / math.hypot(error, found["stderr"])


@pytest.mark.parametrize("name", FEW)
def test_a_few_runs(name):
    assert abs(compared(name, FEW[name])[2]) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_published_regrets(name):
    assert abs(compared(name, 500)[2]) < 4.0


if __name__ == "__main__":
    for called in CASES:
        ours, error, z = compared(called, int(sys.argv[1]))
        print(f"{called:20s} {ours:7.1f} ± {error:4.1f} {CASES[called].regret:7.1f} {z:6.2f}", flush=True)
