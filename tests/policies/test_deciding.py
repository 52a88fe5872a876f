"""Top-two sampling: who leads, and which rival is the closest."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.naive.kinf_statistic import kinf_statistic


def test_the_rival_is_the_arm_that_least_evidence_beats():
    """Against the statistic in 60 digits, for rewards on the points of the grid, where nothing is lost."""
    rng = np.random.default_rng(3)
    closest = []
    for _ in range(4):
        histories = [(rng.integers(0, 65, size=n) / 64).tolist() for n in rng.integers(2, 9, size=4)]
        leader = int(np.argmax([np.mean(h) for h in histories]))
        values = [
            math.inf if k == leader else float(kinf_statistic(histories[leader], h, 0.0)) + math.log(len(h))
            for k, h in enumerate(histories)
        ]
        rival = int(np.argmin(values))
        expected = np.zeros(4)
        expected[leader], expected[rival] = 0.7, 0.3
        np.testing.assert_allclose(db.propensities(db.TopTwo(beta=0.7), histories), expected)
        closest.append(rival == int(np.argsort([np.mean(h) for h in histories])[-2]))
    assert not all(closest)  # it is not merely the second best mean


def test_ties_are_shared():
    assert db.propensities(db.TopTwo(beta=0.8), [[1.0], [1.0], [0.0]]).tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert db.propensities(db.TopTwo(beta=0.8), [[1.0], [0.0], [0.0]]).tolist() == pytest.approx([0.8, 0.1, 0.1])


def test_bounds_only_change_the_unit():
    histories = [np.array([0.5, 1.0, 0.75]), np.array([0.25, 0.75]), np.array([0.0, 0.125, 0.5])]
    expected = db.propensities(db.TopTwo(), histories)
    found = db.propensities(db.TopTwo(lower=-3.0, upper=5.0), [8.0 * x - 3.0 for x in histories])
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.TopTwo(beta=1.0), r"'beta' must be a number strictly between 0 and 1 \(got 1.0\)"),
        (lambda: db.TopTwo(lower=1.0), "'upper' must be greater than lower = 1.0"),
        (lambda: db.EpsilonGreedy(1.5), r"'epsilon' must be a number from 0 to 1 \(got 1.5\)"),
        (lambda: db.Floored(db.RDS(), 0.0), r"'floor' must be a number strictly between 0 and 1 \(got 0.0\)"),
        (lambda: db.Floored("RDS", 0.1), r"'policy' must be a policy with compiled verbs, .* \(got 'RDS'\)"),
    ],
)
def test_bad_parameters_are_refused(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()
