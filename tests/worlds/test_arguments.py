"""Bad input is refused before anything is played, and the message names the argument."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.worlds.feedback import batch_grid

COINS = [db.Bernoulli(0.3), db.Bernoulli(0.6)]
BANDIT = db.Bandit(COINS)


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"delay": -1}, "'delay'"),
        ({"delay": math.nan}, "'delay'"),
        ({"delay": "soon"}, "'delay'"),
        ({"delay": True}, "'delay'"),
        ({"delay": db.Gaussian}, "'delay'"),
        ({"delay": [1, 2, 3]}, "'delay'"),
        ({"delay": db.Gaussian(0.0, 1.0)}, "'delay'"),
        ({"delay": lambda rewards: rewards - 1.0}, "'delay'"),
        ({"delay": lambda rewards: 1.0}, "'delay'"),
        ({"window": 0}, "'window'"),
        ({"window": 2.5}, "'window'"),
        ({"late": 0.0}, "'window'"),
        ({"window": 5, "late": "never"}, "'late'"),
        ({"window": 5, "late": math.nan}, "'late'"),
        ({"batch": 0}, "'batch'"),
        ({"batch": 101}, "'batch'"),
        ({"batch": "large"}, "'batch'"),
        ({"batch": [50, 49]}, "'batch'"),
        ({"batch": [100, 0]}, "'batch'"),
    ],
)
def test_feedback(settings, name):
    with pytest.raises(db.ArgumentError, match=name):
        db.simulate(BANDIT, db.UCB1(0.5), horizon=100, replications=1, seed=0, **settings)


@pytest.mark.parametrize(
    "segments",
    [{}, {2: COINS}, {1: COINS, 1.5: COINS}, {1: COINS, 50: COINS, 20: COINS}, {1: COINS, 50: COINS[:1]}, [COINS]],
)
def test_segments(segments):
    with pytest.raises(db.ArgumentError, match="segments"):
        db.Piecewise(segments)


def test_segments_have_the_same_arms():
    with pytest.raises(db.ArgumentError, match=r"segments\[50\]"):
        db.Piecewise({1: COINS, 50: [*COINS, db.Bernoulli(0.5)]})


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"means": [[0.1, 0.2], [0.3, math.inf]]}, "means"),
        ({"means": [0.1, 0.2]}, "means"),
        ({"means": lambda t: [0.1]}, "means"),
        ({"means": lambda t: [0.1, 0.2], "noise": db.Gaussian(1.0, 1.0)}, "noise"),
        ({"means": lambda t: [0.1, 0.2], "names": ["a"]}, "names"),
    ],
)
def test_drift(settings, name):
    with pytest.raises(db.ArgumentError, match=name):
        db.Drifting(**settings)


def test_drift_beyond_its_end_and_beyond_its_bounds():
    short = db.Drifting(np.zeros((10, 2)), noise=db.Uniform(-0.1, 0.1))
    with pytest.raises(db.ArgumentError, match="means"):
        db.simulate(short, db.UCB1(0.5), horizon=100, replications=1, seed=0)
    with pytest.raises(db.ArgumentError, match=r"policies\['NPTS'\]"):
        db.simulate(short, db.NPTS(-0.05), horizon=10, replications=1, seed=0)
    with pytest.raises(db.ArgumentError, match="delay"):
        db.simulate(short, db.UCB1(0.5), horizon=10, replications=1, seed=0, delay=np.abs)


def test_grids():
    assert batch_grid("geometric", 1000, 3) == [10, 100, 1000]
    assert batch_grid("minimax", 1000, 1) == [1000]
    assert batch_grid("geometric", 5)[-1] == 5


def test_stores_tell_worlds_apart(tmp_path):
    settings = {"horizon": 20, "replications": 2, "seed": 1}
    changes = [
        (db.Piecewise({1: COINS, 11: COINS[::-1]}), {}),
        (db.Piecewise({1: COINS, 12: COINS[::-1]}), {}),
        (BANDIT, {"delay": 1}),
        (BANDIT, {"delay": 2}),
        (BANDIT, {"batch": 5}),
        (db.Drifting(np.full((20, 2), 0.5)), {}),
        (db.Drifting(np.full((20, 2), 0.4)), {}),
    ]
    for number, (world, feedback) in enumerate(changes):
        store = tmp_path / f"{number}.zarr"
        done = db.simulate(world, db.UCB1(0.5), store=store, **settings, **feedback)
        again = db.load(store)
        assert (again.regret.values == done.regret.values).all()
        assert again.breakpoints == done.breakpoints
        other, other_feedback = changes[number - 1]
        with pytest.raises(db.ArgumentError, match="store"):
            db.simulate(other, db.UCB1(0.5), store=store, **settings, **other_feedback)
