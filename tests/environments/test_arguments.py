"""Bad input is refused before anything is played, and the message names the argument."""

import math

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.environments.feedback import batch_grid

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
        ({"delay": lambda rewards: rewards - 1.0}, r"'delay\(rewards\)'"),
        ({"delay": lambda rewards: 1.0}, r"'delay\(rewards\)' must be an array of 100 numbers.* \(got 1.0\)"),
        ({"delay": lambda rewards: rewards * math.nan}, r"'delay\(rewards\)' must .*got nan"),
        ({"delay": lambda rewards: ["soon"] * rewards.size}, r"'delay\(rewards\)' must .*got list"),
        ({"delay": []}, "'delay' must be one delay, or one for each of the 2 arms .got 0 delays"),
        ({"delay": [1, math.nan]}, "'delay'"),
        ({"window": 0}, "'window'"),
        ({"window": 2.5}, "'window'"),
        ({"late": 0.0}, "'window'"),
        ({"window": 5, "late": "never"}, "'late'"),
        ({"window": 5, "late": math.nan}, "'late'"),
        ({"window": 5, "late": None}, "'late' must be 'abandon', or a number"),
        ({"window": 5, "late": 7.0}, r"'late' must be 'abandon', or a reward in \[0, 1\], the bounds of policies"),
        ({"batch": 0}, "'batch'"),
        ({"batch": 101}, "'batch' must be a size from 1 to the horizon 100"),
        ({"batch": None}, "'batch' must be a size from 1 to the horizon 100"),
        ({"batch": []}, "'batch' must be sizes that add up to the horizon 100 .got a sum of 0"),
        ({"batch": "large"}, "'batch'"),
        ({"batch": [50, 49]}, "'batch'"),
        ({"batch": [100, 0]}, r"'batch\[1\]' must be an integer of at least 1"),
    ],
)
def test_feedback(settings, name):
    with pytest.raises(db.ArgumentError, match=name):
        db.simulate(BANDIT, db.KLUCB("bernoulli"), horizon=100, replications=1, seed=0, **settings)


@pytest.mark.parametrize("make", [lambda: db.Geometric(0.0), lambda: db.Geometric(1.5), lambda: db.Geometric(math.nan)])
def test_a_geometric_delay_needs_a_probability(make):
    with pytest.raises(db.ArgumentError, match="'p' must be"):
        make()


@pytest.mark.parametrize(
    "segments",
    [
        {},
        {2: COINS},
        {0: COINS},
        {"1": COINS},
        {1: COINS, 1.5: COINS},
        {1: COINS, 50: COINS, 20: COINS},
        {1: COINS, 50: COINS[:1]},
        {1: COINS, 50: [0.3, 0.6]},
        [COINS],
    ],
)
def test_segments(segments):
    with pytest.raises(db.ArgumentError, match="segments"):
        db.Piecewise(segments)


def test_segments_have_the_same_arms_and_objective():
    with pytest.raises(db.ArgumentError, match=r"segments\[50\]"):
        db.Piecewise({1: COINS, 50: [*COINS, db.Bernoulli(0.5)]})
    with pytest.raises(db.ArgumentError, match=r"segments\[50\]' must be a bandit with the objective of the first"):
        db.Piecewise({1: BANDIT, 50: db.Bandit(COINS, objective=db.CVaR(0.2))})


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"means": [[0.1, 0.2], [0.3, math.inf]]}, "means"),
        ({"means": [0.1, 0.2]}, "means"),
        ({"means": lambda t: [0.1]}, "means"),
        ({"means": lambda t: 0.1}, r"'means\(1\)' must be"),
        ({"means": lambda t: ["a", "b"]}, r"'means\(1\)' must be"),
        ({"means": lambda t: [0.1, math.nan]}, r"'means\(1\)' must be finite"),
        ({"means": lambda t: [0.1, 0.2], "noise": db.Gaussian(1.0, 1.0)}, "noise"),
        ({"means": lambda t: [0.1, 0.2], "law": "coin"}, "'law' must be one of 'bernoulli', 'exponential'"),
        ({"means": lambda t: [0.1, 1.2], "law": "bernoulli"}, r"'means' must be .*1.2 of 'arm 1' at pull 1: 'p' must"),
        ({"means": [[0.1, 0.2], [0.3, -0.1]], "law": "bernoulli"}, r"-0.1 of 'arm 1' at pull 2: 'p' must be"),
        ({"means": [[0.1, 0.2], [0.0, 0.1]], "law": "poisson"}, r"0 of 'arm 0' at pull 2: 'mean' must be"),
        ({"means": [[0.1, 0.2], [0.3, -0.1]], "law": "exponential"}, r"-0.1 of 'arm 1' at pull 2: 'mean' must be"),
        ({"means": lambda t: [0.1, 0.2], "law": "gaussian"}, "'sigma' must be given"),
        ({"means": lambda t: [0.1, 0.2], "law": "gaussian", "sigma": 0.0}, "'sigma' must be"),
        (
            {"means": lambda t: [0.1, 0.2], "law": "bernoulli", "sigma": 1.0},
            "'sigma' must be given if law is 'gaussian'",
        ),
        (
            {"means": lambda t: [0.1, 0.2], "law": "bernoulli", "noise": db.Gaussian(0.0, 1.0)},
            "'noise' must be left out",
        ),
        ({"means": lambda t: [0.1, 0.2], "law": lambda mean: db.Beta(1, 1)}, "'law' must be a function that returns"),
        ({"means": lambda t: [0.1, 0.2], "law": lambda mean: mean}, "'law' must be a function that returns"),
        ({"means": lambda t: [0.1, 0.2], "names": ["a"]}, "names"),
    ],
)
def test_drift(settings, name):
    with pytest.raises(db.ArgumentError, match=name):
        db.Drifting(**settings)


def test_a_mean_that_leaves_its_family_later_is_refused_before_anything_is_played():
    climbing = db.Drifting(lambda t: [0.5, t / 10], law="bernoulli")
    with pytest.raises(db.ArgumentError, match=r"1.1 of 'arm 1' at pull 11: 'p' must be a probability"):
        db.simulate(climbing, db.UCB1(0.5), horizon=11, replications=1, seed=0)


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


class Own:
    """A distribution that does not declare its bounds."""

    def rvs(self, size, random_state):
        return random_state.integers(0, 2, size).astype(float)

    def mean(self):
        return 0.5


class OwnBounded(Own):
    def support(self):
        return 0, 1


def test_a_policy_that_needs_bounds_says_which_and_how_to_declare_them():
    """Own distributions in an environment of which nothing is known."""
    policy, settings = db.GLRKLUCB(), {"horizon": 20, "replications": 1, "seed": 0}
    message = r"in \[-inf, inf\], .* its own bounds are \[0, 1\]; give a distribution of your own a method support\(\)"
    with pytest.raises(db.ArgumentError, match=message):
        db.simulate(db.Piecewise({1: [Own(), Own()], 9: [Own(), OwnBounded()]}), policy, **settings)
    with pytest.raises(
        db.ArgumentError, match=r"in \[-inf, inf\], the support of arm 'arm 0'.* \[0, 1\] \(got"
    ) as caught:
        db.simulate(db.Bandit([db.Gaussian(0.0, 1.0)] * 2), policy, **settings)
    assert "support()" not in str(caught.value)  # it is declared
    bounded = db.Piecewise({1: [OwnBounded(), OwnBounded()], 9: [OwnBounded(), OwnBounded()]})
    assert db.simulate(bounded, policy, **settings).undone == 0
