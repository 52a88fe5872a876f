"""Environments in TOML files."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments.reading import parse, read
from tests.environments.problems import coins_in_a_file

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
        (written().replace("first = 21", ""), r"'segments\[1\].first' is missing"),
        (written().replace("first = 21", "first = 21\nlast = 30"), r"'segments\[1\].last' is not a key"),
        (written().replace("late = 0", "late = nan"), "'late' must be"),
        (written().replace("window = 20", ""), "'window' must be a number of pulls, because 'late' is given"),
        (written().replace("p = 0.2 }", "p = 0 }"), "'delay.p' must be"),
        ("batchsize = 3" + written(), "'batchsize' is not a key"),
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


DRIFTING = """
horizon = 3
replications = 2
seed = 1

[drifting]
means = {means}
noise = {{ law = "Uniform", low = -0.1, high = 0.1 }}

[[policies]]
policy = "UCB1"
sigma = 0.5
"""
MEANS = [[0.1, 0.5], [0.3, 0.4], [0.6, 0.2]]


def test_means_that_drift_are_rows_or_a_file(tmp_path):
    (tmp_path / "means.csv").write_text("early,late\n" + "\n".join(f"{a},{b}" for a, b in MEANS))
    (tmp_path / "file.toml").write_text(DRIFTING.format(means='"means.csv"'))
    from_file, from_rows = read(tmp_path / "file.toml"), parse(DRIFTING.format(means=MEANS))
    assert from_file.bandit.names == ("early", "late")
    expected = db.simulate(db.Drifting(MEANS, db.Uniform(-0.1, 0.1)), db.UCB1(0.5), horizon=3, replications=2, seed=1)
    for experiment in (from_file, from_rows):
        found = experiment.run()
        assert found.values.values.tolist() == MEANS
        assert (found.regret.values == expected.regret.values).all()


@pytest.mark.parametrize(
    ("means", "more", "message"),
    [
        ('"none.csv"', "", "'drifting.means' must be rows of numbers, or a CSV file that exists"),
        ("[[0.1], [0.2]]", "", "'drifting.means' must be those of at least two arms"),
        (MEANS, "speed = 3", "'drifting.speed' is not a parameter"),
        (MEANS, "[objective]\nname = 'CVaR'\nlevel = 0.2", r"'objective' must be the mean for \[drifting\]"),
        (MEANS, "[[arms]]\nlaw = 'Bernoulli'\np = 0.5", "'drifting' defines all the arms: remove 'arms'"),
    ],
)
def test_mistakes_in_means_are_named(means, more, message):
    text = DRIFTING.format(means=means).replace("[[policies]]", more + "\n[[policies]]")
    with pytest.raises(db.FormatError, match=message):
        parse(text)
