"""Arms that change are found, and steady ones are rarely warned of."""

import math

import numpy as np
import pytest

from dirichlet_bandits.inference.drift import drifting
from dirichlet_bandits.numerics.changes import Threshold, glr_threshold


def test_drift_is_the_likelihood_ratio_against_its_proved_threshold() -> None:
    """A plain loop over all splits, with the level that each arm has."""
    rng = np.random.default_rng(3)

    def kl(p: float, q: float) -> float:
        return sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)

    outcomes = set()
    for shift in np.linspace(0.3, 0.7, 9):
        x = (rng.random(120) < np.repeat([0.5 - shift / 2, 0.5 + shift / 2], 60)).astype(float)
        mean = x.mean()
        splits = [s * kl(x[:s].mean(), mean) + (120 - s) * kl(x[s:].mean(), mean) for s in range(1, 120)]
        want = max(splits) >= glr_threshold(int(Threshold.PROVED), 120, 0.05 * 0.9 / 2)
        assert drifting([x, np.empty(0)], [0, 0], (0.0, 1.0)) == ([0] if want else [])
        outcomes.add(want)
    assert outcomes == {True, False}


def false_alarms(games: int, n: int, seed: int) -> int:
    """How many games of three steady arms are ever warned of, at ten times."""
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(games):
        arms = [(rng.random(n) < 0.5).astype(float), rng.beta(0.1, 0.2, n), np.round(rng.random(n) * 3) / 3]
        times = np.unique(np.geomspace(5, n, 10).astype(int))
        wrong += any(drifting([x[:t] for x in arms], [0, 0, 0], (0.0, 1.0)) for t in times)
    return wrong


def test_steady_arms_are_rarely_warned_of() -> None:
    """200 games at 5% give more than 25 with probability 2e-5; the threshold is proved, so there are far fewer."""
    assert false_alarms(200, 300, 1) <= 25


@pytest.mark.slow
def test_steady_arms_are_rarely_warned_of_in_many_games() -> None:
    """2,000 games at 5% give more than 150 with probability 1e-6."""
    assert false_alarms(2000, 2000, 2) <= 150
