"""Clocks ring with the law that their certificates promise, and certificates end when they should."""

import math

import numpy as np
import pytest
from scipy import stats

from dirichlet_bandits.engine.clocks import NEVER, certified, geometric, new_clocks, ringing_arm, silence, void, wind

ALARM = 1e-6  # a correct program with other seeds would fail one comparison in a million


@pytest.mark.parametrize("p", [0.9, 0.3, 0.01])
def test_waits_are_geometric(p):
    rng = np.random.default_rng(1)
    waits = np.array([geometric(p, rng) for _ in range(20_000)])
    assert waits.min() >= 1
    cuts = np.unique(stats.geom.ppf(np.linspace(0.0, 1.0, 21)[1:-1], p))
    counts = np.bincount(np.searchsorted(cuts, waits), minlength=cuts.size + 1)
    shares = np.diff(np.concatenate([[0.0], stats.geom.cdf(cuts, p), [1.0]]))
    assert stats.chisquare(counts, shares * waits.size).pvalue > ALARM


@pytest.mark.parametrize(("p", "wait"), [(1.0, 1), (2.0, 1), (0.0, NEVER), (5e-324, NEVER)])
def test_waits_of_certain_and_impossible_events(p, wait):
    assert geometric(p, np.random.default_rng(1)) == wait


def test_a_certificate_from_beginning_to_end():
    clocks, rng = new_clocks(2), np.random.default_rng(2)
    assert (clocks.ring < 0).all()  # without a certificate, an arm is tried in every round
    assert not certified(clocks, 0)
    clocks.low[0], clocks.high[0], clocks.ceiling[0] = 0.2, 0.5, math.log(0.5)
    wind(clocks, 0, 10, rng)
    assert certified(clocks, 0)
    assert not certified(clocks, 1)
    assert clocks.ring[0] > 10
    silence(clocks, 1)  # the leader
    assert clocks.ring[1] == NEVER
    void(clocks, 0)
    assert not certified(clocks, 0)
    assert (clocks.ring[0], clocks.low[0], clocks.high[0]) == (-1, -math.inf, math.inf)


def test_rings_are_as_frequent_as_the_ceiling_says():
    """A clock that is wound again and again rings in a share of the rounds that is its ceiling."""
    rng, clocks, ceiling, rounds = np.random.default_rng(3), new_clocks(1), 0.07, 200_000
    clocks.ceiling[0] = math.log(ceiling)
    wind(clocks, 0, -1, rng)
    rings = 0
    while clocks.ring[0] < rounds:
        rings += 1
        wind(clocks, 0, int(clocks.ring[0]), rng)
    assert stats.binomtest(rings, rounds, ceiling).pvalue > ALARM


def test_whose_ring_it_is():
    rng, rates = np.random.default_rng(4), np.array([0.1, 0.0, 0.5, 0.2])
    found = np.bincount([ringing_arm(rates, rates.sum(), rng) for _ in range(20_000)], minlength=4)
    assert found[1] == 0
    positive = rates > 0.0
    assert stats.chisquare(found[positive], rates[positive] / rates.sum() * found.sum()).pvalue > ALARM
