"""Shortcuts and plain loop have one law on bandits made to find out: every policy with a shortcut on every one.

Pull counts are compared by chi-square. Seeds are fixed and differ between fast and plain runs. A correct program with
other seeds would fail one comparison in a million; at full scale, where a hundred times as many runs are compared, one
policy in about a thousand.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.engine.verbs import has_own, play
from tests.policies.test_equal_law import ALARM, chi_square
from tests.policies.twins import CROSSED, PAIRS, World

RARE = [0.0] * 19 + [1.0]


class Hostile(NamedTuple):
    """Arms, and what policies are told of their rewards."""

    arms: list
    world: World = World()


def moved(offset, unit):
    """A bandit of two-point arms, around another number and on another scale."""
    low, high = offset, offset + unit
    return Hostile([db.Empirical([low, high]), db.Empirical([low, high, high])], World(low, high, unit))


BANDITS = {
    "a constant and a coin": Hostile([db.Empirical([0.0]), db.Bernoulli(2 / 3)]),
    "a coin and a constant": Hostile([db.Bernoulli(0.4), db.Empirical([0.5])]),
    "constants": Hostile([db.Empirical([0.3]), db.Empirical([0.5]), db.Empirical([0.5])]),
    "rare and large": Hostile([db.Empirical([0.04]), db.Empirical(RARE), db.Empirical(RARE[9:])]),
    "three Beta arms": Hostile([db.Beta(2, 6), db.Beta(3, 4), db.Beta(4, 2)]),
    "equal arms": Hostile([db.Beta(2, 2), db.Beta(2, 2), db.Beta(2, 2)]),
    "bounds far away": Hostile([db.Beta(2, 6), db.Beta(4, 2)], World(-3.0, 4.0)),
    "thirty arms": Hostile([db.Bernoulli(0.2 + 0.02 * k) for k in range(30)]),
    "near a billion": moved(1e9, 1.0),
    "tiny": moved(0.0, 1e-12),
    "huge": moved(0.0, 1e12),
}
HARDEST = ("a constant and a coin", "three Beta arms", "near a billion")
POLICIES = {
    name: example
    for name, example in PAIRS.items()
    if has_own(play, example.policy.params) and example.rewards == "unit"
}
# NPTS and BCVTS wait by the clock later on.
HORIZON = {"NPTS": 300, "BCVTS 40 %": 300, "BCVTS 90 %": 300}


def binned(counts, pooled):
    """Pull counts of up to three arms in classes that are about equally full."""
    arms = min(counts.shape[1] - 1, 3)
    shares = np.linspace(0.0, 1.0, {1: 41, 2: 9, 3: 5}[arms])
    cuts = [np.unique(np.quantile(pooled[:, arm], shares)) for arm in range(arms)]
    return np.column_stack([np.searchsorted(cuts[arm], counts[:, arm], "right") for arm in range(arms)])


def p_value(name, bandit, replications, seed):
    """How well the pull counts of fast and plain runs agree."""
    hostile = BANDITS[bandit]
    horizon = HORIZON.get(name, 120) + 3 * len(hostile.arms) + 1  # no multiple of K: the last round is cut
    fast, plain = (
        db.simulate(
            db.Bandit(hostile.arms),
            POLICIES[name].make(hostile.world),
            horizon=horizon,
            replications=replications,
            seed=seed + way,
            fast=way,
            record=1,
        ).pulls.values[0]
        for way in (True, False)
    )
    pooled = np.concatenate([fast, plain])
    return chi_square(binned(fast, pooled), binned(plain, pooled))


def bandits_for(name):
    """Those whose rewards the policy accepts."""
    for bandit, hostile in BANDITS.items():
        low, high = PAIRS[name].make(hostile.world).reward_bounds
        if all(low <= arm.support()[0] and arm.support()[1] <= high for arm in hostile.arms):
            yield bandit


def cases():
    """The hardest bandits and two others in turn; the first of them alone for what differs in its numbers only."""
    seen, found = set(), []
    for name, example in POLICIES.items():
        kind = type(example.policy.params)
        if name in CROSSED:
            continue
        accepted = list(bandits_for(name))
        hardest, others = ([x for x in accepted if (x in HARDEST) == hard] for hard in (True, False))
        turn = 2 * len(seen)
        chosen = hardest[:1] if kind in seen else hardest + [others[(turn + k) % len(others)] for k in range(2)]
        found += [(name, bandit) for bandit in dict.fromkeys(chosen)]
        seen.add(kind)
    return found


@pytest.mark.parametrize(("name", "bandit"), cases())
def test_shortcuts_have_the_law_of_the_plain_loop(name, bandit):
    assert p_value(name, bandit, 1000, seed=200) > ALARM


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_shortcuts_have_the_law_of_the_plain_loop_at_full_scale(name):
    found = np.array([p_value(name, bandit, 100_000, seed=300) for bandit in bandits_for(name)])
    print(name, dict(zip(bandits_for(name), found.round(5).tolist(), strict=True)))
    assert found.min() > 1e-4
    random = found[found < 1.0]  # 1: all runs are the same
    assert random.size == 0 or stats.kstest(random, "uniform").pvalue > 1e-4
