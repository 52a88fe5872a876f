"""How often a wrong winner is named, at any time, by arms and policies that make it easy to be wrong."""

import numpy as np
import pytest

from dirichlet_bandits.inference.lottery import CLIPPED, Rounds, Wealth
from tests.deciding_games import (
    COIN,
    FREEZER,
    GRADED,
    GREEDY,
    JACKPOT,
    RAMP,
    STEP,
    SURE,
    THOMPSON,
    WEEKDAYS,
    Game,
    coins,
    decided,
)

DELTAS = (0.2, 0.05, 0.01)
EQUAL = {  # no arm is better, so every winner is wrong
    "coins": coins(0.3, 0.3),
    "rare": coins(0.02, 0.02, policy=GREEDY),
    "common": coins(0.98, 0.98, policy=THOMPSON),
    "one sure": Game(np.array([SURE, COIN]), np.array([0.5, 0.5]), policy=GREEDY),
    "jackpots": coins(0.02, 0.02, law=JACKPOT, policy=THOMPSON, floor=0.05),
    "many values": coins(0.4, 0.4, law=GRADED, policy=GREEDY),
    "four arms": coins(0.3, 0.3, 0.3, 0.3, policy=GREEDY),
    "freezer": coins(0.5, 0.5, policy=FREEZER),
    "step, greedy": coins(0.2, 0.2, drift=STEP, policy=GREEDY),
    "step, Thompson": coins(0.2, 0.2, drift=STEP, policy=THOMPSON),
    "ramp, greedy": coins(0.1, 0.1, drift=RAMP, policy=GREEDY),
    "ramp, four arms": coins(0.1, 0.1, 0.1, 0.1, drift=RAMP, policy=GREEDY),
    "weekdays, Thompson": coins(0.3, 0.3, drift=WEEKDAYS, policy=THOMPSON),
    "batches": coins(0.2, 0.2, drift=STEP, policy=GREEDY, batch=100),
    "delays": coins(0.2, 0.2, drift=RAMP, policy=GREEDY, delay=200),
}


@pytest.mark.parametrize("name", EQUAL)
def test_wrong_winners_are_as_rare_as_promised(name: str) -> None:
    """300 games at 20% give more than 95 wrong ones with probability 8e-7, and at 5% more than 34 with 1e-5."""
    wrong = (decided(EQUAL[name], 1000, 300, DELTAS, seed=1) != 0).sum(axis=0)
    assert wrong[0] <= 95
    assert wrong[1] <= 34


@pytest.mark.slow
@pytest.mark.parametrize("name", EQUAL)
def test_wrong_winners_are_as_rare_as_promised_in_ten_thousand_games(name: str) -> None:
    """10,000 games at rate d give more than 10,000 d + 5 sqrt(10,000 d) wrong ones with probability 1e-6."""
    wrong = (decided(EQUAL[name], 5000, 10_000, DELTAS, seed=2, every=50) != 0).sum(axis=0)
    for delta, count in zip(DELTAS, wrong, strict=True):
        assert count <= 10_000 * delta + 5.0 * np.sqrt(10_000 * delta)


def test_means_of_counts_would_name_wrong_winners_where_levels_move() -> None:
    """What the lottery rule guards against is there: the counts of two equal arms differ by five standard errors."""
    rng = np.random.default_rng(0)
    late = np.repeat([False, True], 5000)
    rare = rng.random(10_000) < np.where(late, 0.02, 0.5)
    rewards = rng.random(10_000) < np.where(late, 0.4, 0.2)
    error = np.sqrt(0.25 / rare.sum() + 0.25 / (~rare).sum())
    assert rewards[~rare].mean() - rewards[rare].mean() > 3.0 * error
    chances = np.stack([np.where(late, 0.98, 0.5), np.where(late, 0.02, 0.5)], axis=1)
    rounds = Rounds(2).add(chances, np.arange(10_000), rare.astype(int), rewards.astype(float))
    assert max(Wealth(0, 1).follow(rounds).peak, Wealth(1, 0).follow(rounds).peak) < np.log(2 / 0.05)


@pytest.mark.parametrize("policy", ["split", "greedy"])
def test_wrong_winners_without_bounds_are_rare(policy: str) -> None:
    """Equal lognormal arms: 150 games at 5% give more than 20 wrong ones with probability 3e-5."""
    wrong, share = 0, 0.5 if policy == "split" else 0.9
    for game in range(150):
        rng = np.random.default_rng([7, game])
        rewards = rng.lognormal(size=600) * np.linspace(1.0, 3.0, 600)
        chances = np.where(np.arange(600) < 20, 0.5, share)
        arm = (rng.random(600) < chances).astype(int)
        rounds = Rounds(2).add(np.stack([1.0 - chances, chances], axis=1), np.arange(600), arm, rewards)
        wrong += max(Wealth(b, 1 - b, kind=CLIPPED).follow(rounds).peak for b in (0, 1)) >= np.log(2 / 0.045)
    assert wrong <= 20


@pytest.mark.parametrize(
    ("game", "most", "trials"),
    [
        (coins(0.5, 0.6), 1100, 6000),
        (coins(0.5, 0.6, policy=4, share=0.8), 1750, 10_000),
        (coins(0.05, 0.08), 2700, 15_000),
    ],
)
def test_a_winner_is_named_early(game: Game, most: int, trials: int) -> None:
    """The median of 400 games; if it were 10% above the bound, it would be below it with a probability of about 2%."""
    found = decided(game, trials, 400, (0.05,), seed=3)[:, 0]
    assert np.median(np.where(found > 0, found, trials)) <= most
    assert (found < 0).mean() <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "most", "trials"), [(coins(0.05, 0.06), 22_000, 120_000), (coins(0.05, 0.06, 0.05, 0.05), 72_000, 300_000)]
)
def test_a_winner_is_named_early_in_long_studies(game: Game, most: int, trials: int) -> None:
    found = decided(game, trials, 300, (0.05,), seed=4, every=100)[:, 0]
    assert np.median(np.where(found > 0, found, trials)) <= most
