"""Bandits from dicts and frames: names are kept, and mistakes are called by them."""

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.policies.written import short_names

PAST = pd.DataFrame({"date": ["May", "June", "May", "June"], "yield": [4, 5, 3, 2], "plot": [1, 1, 2, 2]})


def test_a_dict_names_the_arms():
    bandit = db.Bandit({"A": db.Bernoulli(0.4), "B": db.Bernoulli(0.6)}, objective=db.CVaR(0.5))
    assert (bandit.names, bandit.best) == (("A", "B"), "B")
    result = db.simulate(bandit, db.UCB1(sigma=0.5), horizon=10, replications=2, seed=0)
    assert list(result.data["arm"].values) == ["A", "B"]
    assert result.policies == ["UCB1"]


def test_a_frame_gives_past_rewards():
    bandit = db.Bandit.from_dataframe(PAST, arm="date", reward="yield")
    assert bandit.names == ("May", "June")
    assert bandit.arms == (db.Empirical([4, 3]), db.Empirical([5, 2]))
    by_plot = db.Bandit.from_dataframe(PAST, arm="plot", reward="yield", objective=db.CVaR(0.5))
    assert (by_plot.names, by_plot.objective) == (("1", "2"), db.CVaR(0.5))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: db.Bandit({"A": db.Bernoulli(0.4)}), "'arms' must be at least two reward laws"),
        (lambda: db.Bandit({"A": 0.4, "B": 0.6}), r"'arms\['A'\]' must be a law with rvs"),
        (lambda: db.Bandit({"A": db.Bernoulli(0.4), 2: db.Bernoulli(0.6)}), r"'names\[1\]' must be a text"),
        (lambda: db.Bandit({"A": db.Bernoulli(0.4), "B": db.Bernoulli(0.6)}, ["a", "b"]), "'names' must be left out"),
        (lambda: db.Bandit([db.Bernoulli(0.4)] * 2, "ab"), "'names' must be 2 different names"),
        (lambda: db.Bandit(db.Bernoulli(0.4)), "'arms' must be reward laws, in a list or in a dict"),
        (lambda: db.Bandit.from_dataframe([1, 2]), "'frame' must be a pandas DataFrame"),
        (lambda: db.Bandit.from_dataframe(PAST), r"'arm' must be a column of the frame, one of \['date', 'yield'"),
        (lambda: db.Bandit.from_dataframe(PAST, arm="date", reward="cost"), "'reward' must be a column of the frame"),
        (lambda: db.Bandit.from_dataframe(PAST, arm="date", reward="date"), "'reward' must be another column"),
        (lambda: db.Bandit.from_dataframe(PAST[:3], arm="date", reward="yield"), "at least two rewards .* 'June'"),
        (lambda: db.Bandit.from_dataframe(PAST[::2], arm="date", reward="yield"), "at least two arms"),
        (
            lambda: db.Bandit.from_dataframe(PAST.assign(date=["May", None, "May", "May"]), arm="date", reward="yield"),
            "names an arm in every row",
        ),
        (
            lambda: db.Bandit.from_dataframe(PAST.replace({"yield": {5: np.nan}}), arm="date", reward="yield"),
            "'rewards of 'June'' must be finite numbers",
        ),
        (lambda: db.Bandit.from_dataframe(PAST, arm="yield", reward="date"), "at least two rewards"),
        (
            lambda: db.Bandit.from_dataframe(
                pd.DataFrame({"arm": [1, 1, "1", "1"], "reward": [1, 2, 3, 4]}, dtype=object)
            ),
            "are written differently",
        ),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(db.ArgumentError, match=message):
        make()


class Coin:
    def select(self, rng):
        return int(rng.integers(2))

    def update(self, arm, reward):
        pass


def test_policies_without_a_name_get_a_short_one():
    assert short_names([db.RDS(), Coin(), Coin(), db.QDS(rho=4, alpha=0.05), db.QDS(rho=8, alpha=0.05)]) == [
        "RDS",
        "Coin 1",
        "Coin 2",
        "QDS(rho=4)",
        "QDS(rho=8)",
    ]
    coins = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    with pytest.raises(db.ArgumentError, match="'policies' must be different from each other, or named by a dict"):
        db.simulate(coins, [db.RDS(), db.RDS()], horizon=10, replications=2, seed=0)


def test_past_rewards_in_a_dict_of_lists_or_a_frame():
    bandit = db.Bandit({"May": [4.1, 3.9], "June": (5.0, 2.5)})
    assert bandit.names == ("May", "June")
    np.testing.assert_allclose(bandit.means, [4.0, 3.75])
    long = pd.DataFrame({"arm": ["a", "b", "a", "b"], "reward": [1.0, 2.0, 3.0, 4.0]})
    np.testing.assert_allclose(db.Bandit(long).means, [2.0, 3.0])
    wide = pd.DataFrame({"a": [1.0, 3.0, None], "b": [2.0, 4.0, 6.0]})
    np.testing.assert_allclose(db.Bandit(wide).means, [2.0, 4.0])
    with pytest.raises(db.ArgumentError, match=r"'arms\['June'\]' must be at least two rewards"):
        db.Bandit({"May": [4.1, 3.9], "June": [5.0]})
    with pytest.raises(db.ArgumentError, match=r"'arms\['June'\]' must be"):
        db.Bandit({"May": [4.1, 3.9], "June": [5.0, float("nan")]})
