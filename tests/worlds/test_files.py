"""Worlds in TOML files."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.reading import parse
from tests.worlds.problems import coins_in_a_file

FILE = """
title = "A change"
horizon = 40
replications = 3
seed = 1
delay = {{ law = "Geometric", p = 0.2 }}
window = 20
late = 0
batch = 4

{segments}
[[policies]]
policy = "UCB1"
sigma = 0.5
"""


def written(first=21, p=0.9):
    """The file, with the decision of the change and a probability after it."""
    return FILE.format(segments=coins_in_a_file((1, 0.2, 0.7), (first, p, 0.1)))


def test_a_file_says_what_python_says():
    coins = [db.Bernoulli(0.2), db.Bernoulli(0.7)]
    world = db.Piecewise({1: coins, 21: [db.Bernoulli(0.9), db.Bernoulli(0.1)]})
    settings = {"delay": db.Geometric(0.2), "window": 20, "late": 0, "batch": 4}
    expected = db.simulate(world, db.UCB1(0.5), horizon=40, replications=3, seed=1, **settings)
    found = parse(written()).run()
    assert found.breakpoints == (21,)
    assert (found.regret.values == expected.regret.values).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (written(first=0), r"'segments\[1\].first' must be"),
        (written(first=1), "'segments' must"),
        (written(p=1.9), r"'segments\[1\].arms\[0\].p' must be"),
        (written().replace("batch = 4", "batch = 41"), "'batch' must be"),
        (written().replace("window = 20", "window = 0"), "'window' must be"),
        (written().replace("p = 0.2 }", "p = 2.0 }"), "'delay.p' must be"),
        (written().replace('"Geometric"', '"Slow"'), "'delay.law' must be"),
    ],
)
def test_mistakes_are_named_by_their_place(wrong, message):
    with pytest.raises(db.FormatError, match=message):
        parse(wrong)
