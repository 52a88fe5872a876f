"""The probability of being best is that of the posteriors."""

import math

import numpy as np
import pytest

from dirichlet_bandits.inference.probability_best import probability_best


def test_the_probability_of_being_best_is_that_of_beta_posteriors() -> None:
    """Against 200,000 draws: five standard errors are one false alarm in a million."""
    rng = np.random.default_rng(0)
    for counts in (((3, 1), (10, 12), (0, 0)), ((900, 100), (880, 120)), ((5, 0), (0, 40), (5, 1), (30, 10))):
        arms = [np.repeat([1.0, 0.0], pair) for pair in counts]
        found = probability_best(arms, (0.0, 1.0))
        drawn = np.stack([rng.beta(1 + wins, 1 + losses, 200_000) for wins, losses in counts]).argmax(axis=0)
        shares = np.bincount(drawn, minlength=len(arms)) / 200_000
        assert found.sum() == pytest.approx(1.0)
        assert np.all(np.abs(found - shares) < 5.0 * np.sqrt(0.25 / 200_000))


def test_the_probability_of_being_best_without_bounds() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.normal(0.0, 1.0, 50), rng.normal(0.2, 2.0, 80)
    error = math.sqrt(one.var() / 51 + two.var() / 81)
    want = 0.5 * math.erfc((one.mean() - two.mean()) / error / math.sqrt(2.0))
    assert probability_best([one, two], (-math.inf, math.inf))[1] == pytest.approx(want, abs=1e-4)
    assert np.isnan(probability_best([one, two[:1]], (-math.inf, math.inf))).all()
