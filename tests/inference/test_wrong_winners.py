"""How often a wrong winner is named, at any time, on distributions and samplers that make it easy to be wrong."""

import numpy as np
import pytest

from dirichlet_bandits.inference.differences import costs, sample, statistic
from dirichlet_bandits.inference.winner import error_shares

DELTA = 0.2

WORLDS = {  # draws of one reward per arm: none is better than the first, and a winner among equal arms is wrong
    "equal coins": lambda rng, n: (rng.random((n, 2)) < 0.5).astype(float),
    "rare coins": lambda rng, n: (rng.random((n, 2)) < 0.02).astype(float),
    "one sure": lambda rng, n: np.stack([np.full(n, 0.5), (rng.random(n) < 0.5).astype(float)], axis=1),
    "edges": lambda rng, n: rng.beta(0.05, 0.05, (n, 3)),
    "rare jackpot": lambda rng, n: np.stack([np.full(n, 0.1), (rng.random(n) < 0.1).astype(float)], axis=1),
    "normal": lambda rng, n: rng.normal(size=(n, 2)),
    "exponential": lambda rng, n: rng.exponential(size=(n, 2)),
    "lognormal": lambda rng, n: rng.lognormal(size=(n, 2)),
    "gamma(1/2)": lambda rng, n: rng.gamma(0.5, size=(n, 2)),
}
BOUNDED = list(WORLDS)[:5]
UNBOUNDED = list(WORLDS)[5:]


def wrong_winners(world: str, games: int, horizon: int, seed: int, bounds: tuple[float, float]) -> int:
    """Games in which an arm is named though another one is as good; two of three trials go to the leader."""
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(games):
        rewards = WORLDS[world](rng, horizon)
        k = rewards.shape[1]
        share = error_shares([0] * k, 0, True)[0]
        seen, sums = np.ones(k, int), rewards[0].copy()
        for t in range(k, horizon):
            leader = int(np.argmax(sums / seen))
            arm = leader if t % 3 else int(rng.integers(k))
            if seen[arm] < horizon:
                sums[arm] += rewards[seen[arm], arm]
                seen[arm] += 1
            if t % 10 == 0 or t < 20:
                best = int(np.argmax(sums / seen))
                samples = [sample(rewards[: seen[one], one], bounds) for one in range(k)]
                others = [one for one in range(k) if one != best]
                goals = [-np.log(DELTA * share) + costs(samples[best], samples[one]) for one in others]
                found = [statistic(samples[best], samples[one], 0.0) for one in others]
                if all(z >= goal for z, goal in zip(found, goals, strict=True)):
                    wrong += 1
                    break
    return wrong


@pytest.mark.parametrize("world", BOUNDED)
def test_wrong_winners_are_as_rare_as_promised(world: str) -> None:
    """40 games at 20% give more than 20 wrong ones with probability 5e-6."""
    assert wrong_winners(world, 40, 120, 1, (0.0, 1.0)) <= 20


@pytest.mark.parametrize("world", UNBOUNDED)
def test_wrong_winners_without_bounds_are_rare_too(world: str) -> None:
    """Nothing is proved here; if the rate were 20%, more than 20 of 50 games would be wrong with probability 3e-4."""
    assert wrong_winners(world, 50, 400, 1, (-np.inf, np.inf)) <= 20


@pytest.mark.slow
@pytest.mark.parametrize("world", BOUNDED)
def test_wrong_winners_are_as_rare_as_promised_in_many_games(world: str) -> None:
    """2,000 games at 20% give more than 490 wrong ones with probability 4e-7."""
    assert wrong_winners(world, 2000, 1000, 2, (0.0, 1.0)) <= 490
