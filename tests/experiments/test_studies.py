"""Studies are checked key by key, like experiments."""

import re

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import shipped_text
from dirichlet_bandits.experiments.reading import parse_study

KINF, QDS = shipped_text("kinf"), shipped_text("qds-condition")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("samples = 1000", "", "'samples' is missing"),
        ("samples = 1000", "samples = 1", "'samples' must be an integer of at least 2 (got 1)"),
        ("sizes = [100,", "sizes = [2,", "'sizes' must be an integer of at least 3 (got 2)"),
        ("sizes = [100,", "sizes = [200,", "'sizes' must be at least two increasing integers"),
        ("shown = [100,", "shown = [99,", "'shown' must be some of the sizes"),
        ("p = 0.3", "p = 1.3", "'laws[2].p' must be a probability in [0, 1] (got 1.3)"),
        ("target = 0.5", "target = 0.2", "'laws['Bernoulli'].target' must be above the mean"),
        ("target = 0.5", "", "'laws[2].target' is missing"),
        (
            'law = "Exponential"\nmean = 2.0',
            'law = "Uniform"\nlow = 0.0\nhigh = 1.0',
            "'laws['exponential']' must be a distribution",
        ),
        ('quantity = "ratio"', 'quantity = "sum"', "'claims[0].quantity' must be one of 'slope', 'ratio' (got 'sum')"),
        ('law = "Gaussian"\nquantity', 'law = "Gauss"\nquantity', "'claims[0].law' must be made of 'Gaussian', "),
        ('study = "kinf"', 'study = "magic"', "'study' must be one of 'kinf', 'qds-condition', 'random-arms'"),
        ("seed = 2021", "seed = 2021\nhorizon = 3", "'horizon' is not a key of an experiment (known here: study, "),
    ],
)
def test_kinf_mistakes(old, new, message):
    assert old in KINF
    with pytest.raises(db.FormatError) as caught:
        parse_study(KINF.replace(old, new), source="kinf.toml")
    assert str(caught.value).startswith(f"kinf.toml: {message}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('vary = "rho"', 'vary = "gamma"', "'panels[0].vary' must be one of 'rho', 'alpha' (got 'gamma')"),
        ("alpha = 0.05", "", "'panels[0].alpha' is missing: its value while 'rho' varies"),
        ("alpha = 0.05", "alpha = 1.5", "'panels[0].alpha' must be a number strictly between 0 and 1 (got 1.5)"),
        ("to = 20.0", "to = 0.01", "'panels[0].to' must be above from = 0.1 (got 0.01)"),
        ("target = 3.0", "target = 1.0", "'panels[0].target' must be above the law's mean"),
        ('{ law = "Exponential", mean = 2.0 }', "3", "'panels[0].law' must be a table"),
        (
            '{ law = "Exponential", mean = 2.0 }',
            '{ law = "Bernoulli", p = 0.5 }',
            "'panels[0].law' must be a continuous",
        ),
        ('admissible = "above"', 'admissible = "left"', "'claims[0].admissible' must be one of 'above', 'below'"),
        ('panel = "exponential, rho"', 'panel = "x"', "'claims[0].panel' must be made of 'exponential, rho', "),
        ('easier_than = "exponential, rho"', 'easier_than = "x"', "'claims[4].easier_than' must be made of "),
    ],
)
def test_qds_mistakes(old, new, message):
    assert old in QDS
    with pytest.raises(db.FormatError) as caught:
        parse_study(QDS.replace(old, new, 1), source="qds.toml")
    assert str(caught.value).startswith(f"qds.toml: {message}")


RANDOM = """
study = "random-arms"
horizon = 20
problems = 2
seed = 1
[random]
law = "multinomial"
arms = 2
values = [0.0, 1.0]
[[policies]]
policy = "RDS"
"""


def test_random_arms_are_read():
    study = parse_study(RANDOM, "coins.toml")
    assert (study.title, study.n_arms, study.objective) == ("coins", 2, None)
    assert study.policies == {"RDS": db.RDS()}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('law = "multinomial"', 'law = "magic"', "'random.law' must be one of 'multinomial', 'clipped-mixture'"),
        ("arms = 2", "", "'random.arms' is missing"),
        ("arms = 2", "arms = 1", "'arms' must be an integer of at least 2"),
        ("values = [0.0, 1.0]", "values = [0.0]", "'random.values' must be at least two numbers"),
        ("problems = 2", "", "'problems' is missing"),
        ("problems = 2", "problems = 0", "'problems' must be an integer of at least 1"),
        ("seed = 1", "seed = 1\nreplications = 3", "'replications' is not a key"),
        ('policy = "RDS"', 'policy = "Magic"', "'policies[0].policy' must be the name of a policy"),
        (
            'law = "multinomial"\narms = 2\nvalues = [0.0, 1.0]',
            'law = "clipped-mixture"\narms = 2\nmodes = 2\nmeans = [1.0, 0.0]\nstds = [0.0, 0.1]',
            "'random.means' must be two numbers of at least 0, the smaller first",
        ),
    ],
)
def test_mistakes_in_random_arms_are_named(old, new, message):
    with pytest.raises(db.FormatError, match=re.escape(message)):
        parse_study(RANDOM.replace(old, new), "coins.toml")
