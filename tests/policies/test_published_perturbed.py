"""Regrets of PHE, ReBoot and GIRO found by others, at horizon 20 000; within four combined standard errors.

Printed by Baudry, Kaufmann and Maillard (2020), over 5000 runs: PHE with a = 1.1 and ReBoot with sigma = 1.5. Their
code gives PHE int(a n) + 1 pseudo-rewards for coins and int(a n) for clipped Gaussians; the paper of PHE has ceil(a n),
and so have we. GIRO, and PHE and ReBoot once more: simulations of our own, with other code from the same definitions.
"""

import math
from typing import NamedTuple

import pytest

import dirichlet_bandits as db
from tests.policies.test_published import BERNOULLI_HIGH, BERNOULLI_MIDDLE, GAUSSIAN, NARROW, WIDE

TEN_COINS = [db.Bernoulli(p) for p in (0.1, *[0.01] * 3, *[0.03] * 3, *[0.05] * 3)]


class Found(NamedTuple):
    """Mean and standard deviation over so many runs; replications for a quick look, 0 to leave it to the slow tests."""

    arms: list
    policy: db.Policy
    mean: float
    std: float
    runs: int = 5000
    quick: int = 0


FOUND = {
    "PHE, Bernoulli .8 .9": Found(BERNOULLI_HIGH, db.PHE(1.1), 25.9, 87.9),
    "PHE, Bernoulli .5 .6": Found(BERNOULLI_MIDDLE, db.PHE(1.1), 24.0, 22.0, quick=100),
    "PHE, ten coins": Found(TEN_COINS, db.PHE(1.1), 248.1, 25.5, quick=20),
    "PHE, narrow": Found(NARROW, db.PHE(1.1), 22.3, 2.6, quick=50),
    "PHE, wide": Found(WIDE, db.PHE(1.1), 19.5, 3.8, quick=50),
    "ReBoot, Gaussian": Found(GAUSSIAN, db.ReBoot(1.5), 92.2, 23.4, quick=50),
    "PHE again, Bernoulli .8 .9": Found(BERNOULLI_HIGH, db.PHE(1.1), 24.9, 81.0, runs=600),
    "ReBoot again, Gaussian": Found(GAUSSIAN, db.ReBoot(1.5), 93.8, 24.0, runs=600),
    "GIRO again, Bernoulli .8 .9": Found(BERNOULLI_HIGH, db.GIRO(1.0), 46.5, 14.0, runs=600, quick=20),
}


def check(name, replications):
    theirs = FOUND[name]
    bandit, settings = db.Bandit(theirs.arms), {"horizon": 20_000, "seed": 6, "record": 1, "progress": False}
    ours = db.simulate(bandit, theirs.policy, replications=replications, **settings).summary().iloc[0]
    error = math.hypot(max(ours["std"], theirs.std) / math.sqrt(replications), theirs.std / math.sqrt(theirs.runs))
    print(
        f"{name}: {ours['mean']:.2f} ({ours['std']:.1f}) over {replications}, "
        f"found {theirs.mean} ({theirs.std}), z = {(ours['mean'] - theirs.mean) / error:+.2f}"
    )
    printed_to = 0.05  # the means are rounded
    assert abs(ours["mean"] - theirs.mean) <= 4 * error + printed_to


@pytest.mark.parametrize("name", [name for name, found in FOUND.items() if found.quick])
def test_regret_agrees_with_what_others_found(name):
    check(name, FOUND[name].quick)


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND)
def test_regret_agrees_with_what_others_found_at_full_scale(name):
    check(name, 1000 if "GIRO" in name else 5000)
