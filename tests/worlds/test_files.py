"""Worlds in TOML files."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.reading import parse

FILE = """
title = "A change"
horizon = 40
replications = 3
seed = 1
delay = {{ law = "Geometric", p = 0.2 }}
window = 20
late = 0
batch = 4

[[segments]]
first = 1
[[segments.arms]]
law = "Bernoulli"
p = 0.2
[[segments.arms]]
law = "Bernoulli"
p = 0.7

[[segments]]
first = {first}
[[segments.arms]]
law = "Bernoulli"
p = {p}
[[segments.arms]]
law = "Bernoulli"
p = 0.1

[[policies]]
policy = "UCB1"
sigma = 0.5
"""


def test_a_file_says_what_python_says():
    coins = [db.Bernoulli(0.2), db.Bernoulli(0.7)]
    world = db.Piecewise({1: coins, 21: [db.Bernoulli(0.9), db.Bernoulli(0.1)]})
    settings = {"delay": db.Geometric(0.2), "window": 20, "late": 0, "batch": 4}
    expected = db.simulate(world, db.UCB1(0.5), horizon=40, replications=3, seed=1, **settings)
    found = parse(FILE.format(first=21, p=0.9)).run()
    assert found.breakpoints == (21,)
    assert (found.regret.values == expected.regret.values).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (FILE.format(first=0, p=0.9), r"'segments\[1\].first' must be"),
        (FILE.format(first=1, p=0.9), "'segments' must"),
        (FILE.format(first=21, p=1.9), r"'segments\[1\].arms\[0\].p' must be"),
        (FILE.format(first=21, p=0.9).replace("batch = 4", "batch = 41"), "'batch' must be"),
        (FILE.format(first=21, p=0.9).replace("window = 20", "window = 0"), "'window' must be"),
        (FILE.format(first=21, p=0.9).replace("p = 0.2 }", "p = 2.0 }"), "'delay.p' must be"),
        (FILE.format(first=21, p=0.9).replace('"Geometric"', '"Slow"'), "'delay.law' must be"),
    ],
)
def test_mistakes_are_named_by_their_place(wrong, message):
    with pytest.raises(db.FormatError, match=message):
        parse(wrong)
