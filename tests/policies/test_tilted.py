"""Tilted duels of WR-SDA and BESA: the ceiling times the share of wins by tilted draws is the chance to win."""

import itertools
import math

import numpy as np
import pytest

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.policies.subsampling.subsets import Sample
from dirichlet_bandits.policies.subsampling.tilted import CHALLENGER, choose_tilt, log_ceiling, prepare, tilted_win
from dirichlet_bandits.seeding import further_words

DRAWS = 100_000
FALSE_ALARM = 4.9  # standard errors: one in a million


@jit
def tilted_wins(y, n, mean, draws, tie, rng):
    """The logarithm of the ceiling of a challenger with n rewards of this mean, and how many of so many tilted draws
    make it win."""
    kept, words, won = np.zeros(1, CHALLENGER), further_words(rng), 0
    leader = Sample(y, y.mean(), y.sum(), y.min(), y.max())
    choose_tilt(kept[0], mean, leader)
    prepare(kept[0], n, mean, leader)
    ceiling = log_ceiling(kept[0], n, y.size)
    for _ in range(draws):
        won += tilted_win(kept[0], ceiling, n, mean, leader, tie, words, rng)
    return ceiling, won


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
def test_tilted_draws_win_as_often_as_plain_duels(rewards, n, mean, tie):
    sums = np.array([sum(choice) for choice in itertools.combinations((rewards - rewards.min()).tolist(), n)])
    lead = np.round(n * (mean - rewards.min()) - sums, 6)
    chance = float(np.mean((lead > 0) + tie * (lead == 0)))
    ceiling, won = tilted_wins(rewards.copy(), n, mean, DRAWS, tie, np.random.default_rng(7))
    expected = chance / math.exp(ceiling)
    assert 0.0 < chance < math.exp(ceiling)
    assert abs(won / DRAWS - expected) < FALSE_ALARM * math.sqrt(expected * (1.0 - expected) / DRAWS)
