"""The duels of WR-SDA and BESA by clocks: a ring, times the ceiling, is won as often as a plain duel."""

import itertools
import math

import numpy as np
import pytest

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.policies.subsampling.tilted import (
    CEILING,
    TILT,
    WEIGHT,
    log_ceiling,
    new_waits,
    set_tilt,
    tilted_duel,
)
from dirichlet_bandits.seeding import further_words

RINGS = 100_000
FALSE_ALARM = 4.9  # standard errors: one in a million


@jit
def rings_won(y, n, mean, n_rings, tie, rng):
    """The ceiling of a challenger with n rewards of this mean, and how many of so many rings it wins."""
    waits, words, low, high = new_waits(1), further_words(rng), y.min(), y.max()
    numbers, won = waits.numbers, 0
    set_tilt(numbers, 0, mean, y, y.mean(), low)
    numbers[CEILING, 0] = log_ceiling(numbers[TILT, 0], numbers[WEIGHT, 0] / y.size, mean, n, y.size, low, high)
    for _ in range(n_rings):
        won += tilted_duel(waits, 0, mean, n, y, 0, y.size, low, high, tie, words, rng)
    return numbers[CEILING, 0], won


@pytest.mark.parametrize("tie", [1.0, 0.5])
@pytest.mark.parametrize(
    ("rewards", "n", "mean"),
    [
        (np.arange(16.0), 7, 30 / 7),
        (np.append(np.zeros(3), np.full(17, 5.0)), 6, 15 / 6),
        (1e9 + np.array([0.0, 3, 4, 4, 6, 7, 7, 8, 8, 8, 9, 9, 9, 9]), 6, 1e9 + 29 / 6),
    ],
    ids=["even", "two values", "far from zero"],
)
def test_rings_are_won_as_often_as_duels(rewards, n, mean, tie):
    sums = np.array([sum(choice) for choice in itertools.combinations((rewards - rewards.min()).tolist(), n)])
    lead = np.round(n * (mean - rewards.min()) - sums, 6)
    chance = float(np.mean((lead > 0) + tie * (lead == 0)))
    ceiling, won = rings_won(rewards.copy(), n, mean, RINGS, tie, np.random.default_rng(7))
    expected = chance / math.exp(ceiling)
    assert 0.0 < chance < math.exp(ceiling)
    assert abs(won / RINGS - expected) < FALSE_ALARM * math.sqrt(expected * (1.0 - expected) / RINGS)
