"""What makes an arm good is up to the bandit: best arm and gaps follow."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.environments import Mean

ARMS = [db.Gaussian(0.0, 0.1), db.Gaussian(0.5, 1.0)]


class Cautious:
    """Mean less one standard deviation: a test's own objective."""

    name = "mean less deviation"
    label = "cautious regret"

    def value(self, law):
        return law.mean() - law.std()


def test_the_mean_unless_told_otherwise():
    bandit = db.Bandit(ARMS)
    assert bandit.objective == Mean()
    assert bandit.best == "arm 1"
    np.testing.assert_array_equal(bandit.values, bandit.means)
    np.testing.assert_array_equal(bandit.gaps, [0.5, 0.0])


def test_another_objective_has_another_best_arm():
    bandit = db.Bandit(ARMS, objective=Cautious())
    assert bandit.best == "arm 0"
    np.testing.assert_allclose(bandit.values, [-0.1, -0.5])
    np.testing.assert_allclose(bandit.gaps, [0.0, 0.4])
    np.testing.assert_array_equal(bandit.means, [0.0, 0.5])


def test_what_is_no_objective_is_refused():
    for wrong in (Cautious, "mean", math.fsum):
        with pytest.raises(db.ArgumentError, match="'objective' must be an object with name, label and value"):
            db.Bandit(ARMS, objective=wrong)


def test_a_law_without_a_value_is_refused():
    class Hopeless(Cautious):
        def value(self, law):
            return -math.inf

    with pytest.raises(db.ArgumentError, match=r"'arms\[0\]' must be a law with a finite mean less deviation"):
        db.Bandit(ARMS, objective=Hopeless())
