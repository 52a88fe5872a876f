"""Experiments are checked key by key; messages name the file and the path of the key."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.experiments import Claim, Panel, Printed, example_text, parse, read, shipped_text
from dirichlet_bandits.experiments.reading import LAWS

GOOD = """
title = "Coins"
horizon = 100
replications = 3
seed = 7

[[arms]]
law = "Bernoulli"
p = 0.4

[[arms]]
name = "bell"
law = "Gaussian"
mean = 0.5
std = 1.0

[[policies]]
policy = "UCB1"
sigma = 0.5

[plot]
log_time = true
reward_unit = "coins"
"""


def test_a_good_file_says_everything(tmp_path):
    file = tmp_path / "coins.toml"
    file.write_text(GOOD)
    experiment = read(file)
    assert experiment.title == "Coins"
    assert experiment.bandit.names == ("arm 0", "bell")
    assert experiment.bandit.arms == (db.Bernoulli(0.4), db.Gaussian(0.5, 1.0))
    assert experiment.policies == {"UCB1": db.UCB1(sigma=0.5)}
    assert (experiment.horizon, experiment.replications, experiment.seed) == (100, 3, 7)
    assert (experiment.plot.log_time, experiment.plot.reward_unit) == (True, "coins")


def test_it_runs_like_simulate():
    experiment = parse(GOOD)
    direct = db.simulate(experiment.bandit, {"UCB1": db.UCB1(0.5)}, horizon=100, replications=3, seed=7)
    assert experiment.run(workers=1).data.identical(direct.data)


def test_a_byte_order_mark_is_ignored(tmp_path):
    file = tmp_path / "coins.toml"
    file.write_text(GOOD, encoding="utf-8-sig")
    assert read(file).title == "Coins"


def test_title_is_optional():
    assert parse(GOOD.replace('title = "Coins"', ""), source="some/coins.toml").title == "coins"


def test_policies_of_one_class_are_told_apart():
    more = '[[policies]]\npolicy = "UCB1"\nsigma = 1.0\n\n[plot]'
    assert list(parse(GOOD.replace("[plot]", more)).policies) == ["UCB1(sigma=0.5)", "UCB1(sigma=1.0)"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("horizon = 100", "", "'horizon' is missing"),
        ("horizon = 100", "horizon = 1", "'horizon' must be an integer of at least 2 (got 1)"),
        ("horizon = 100", 'horizon = "long"', "'horizon' must be an integer of at least 2 (got 'long')"),
        ("horizon = 100", "horizon = 100\nhorizn = 2", "'horizn' is not a key of an experiment (known here: title, "),
        ("replications = 3", "replications = 0", "'replications' must be an integer of at least 1 (got 0)"),
        ("seed = 7", "seed = -1", "'seed' must be an integer of at least 0 (got -1)"),
        ('title = "Coins"', "title = 3", "'title' must be a text (got 3)"),
        ('law = "Bernoulli"', "", "'arms[0].law' is missing: one of 'Bernoulli', "),
        ('law = "Bernoulli"', 'law = "Cauchy"', "'arms[0].law' must be one of 'Bernoulli', "),
        ('law = "Bernoulli"', "law = 1", "'arms[0].law' must be one of 'Bernoulli', "),
        ("std = 1.0", "", "'arms[1].std' is missing: Gaussian needs it"),
        ("std = 1.0", "std = -1.0", "'arms[1].std' must be a positive number (got -1.0)"),
        ("std = 1.0", 'std = "wide"', "'arms[1].std' must be a finite number (got 'wide')"),
        ("std = 1.0", "sdt = 1.0", "'arms[1].sdt' is not a parameter of Gaussian (its parameters: mean, std)"),
        ('name = "bell"', "name = 3", "'arms[1].name' must be a text that is not empty (got 3)"),
        ('name = "bell"', 'name = "arm 0"', "'arms[1].name' must be different from the names before it (got 'arm 0')"),
        (
            'policy = "UCB1"',
            'policy = "UCB9"',
            "'policies[0].policy' must be the name of a policy; did you mean 'UUCB'",
        ),
        ("sigma = 0.5", "sigma = 0", "'policies[0].sigma' must be a positive number (got 0)"),
        ("sigma = 0.5", "rho = 1", "'policies[0].rho' is not a parameter of UCB1 (its parameters: sigma)"),
        ("sigma = 0.5", "", "'policies[0].sigma' is missing: UCB1 needs it"),
        ('policy = "UCB1"\nsigma = 0.5', 'policy = "RDS"\nrho = ["log"]', "'policies[0]"),
        ("log_time = true", "log_tim = true", "'plot.log_tim' is not a key of an experiment (known here: log_time, "),
        ("log_time = true", "log_time = 1", "'plot.log_time' must be true or false (got 1)"),
        ('reward_unit = "coins"', "reward_unit = 1", "'plot.reward_unit' must be a text (got 1)"),
        ('reward_unit = "coins"', 'lower_bound = "low"', "'plot.lower_bound' must be a finite number (got 'low')"),
        ("seed = 7", "seed = = 7", "not a TOML file: "),
        ("seed = 7", "seed = 7\nx = " + "[" * 5000 + "]" * 5000, "not a TOML file: nested too deeply"),
        ("horizon = 100", "horizon = " + "9" * 5000, "not a TOML file: "),
        ("horizon = 100", "horizon = " + "9" * 4000, "'horizon' must be an integer from 2 to 100000000000 (got 999"),
        ("horizon = 100", f"horizon = {2**62}", "'horizon' must be an integer from 2 to 100000000000 (got 4611686"),
        (
            "replications = 3",
            "replications = 999999999999",
            "'replications' must be an integer from 1 to 100000000000 (got 9",
        ),
    ],
)
def test_every_mistake_has_its_message(old, new, message):
    assert old in GOOD
    with pytest.raises(db.FormatError) as caught:
        parse(GOOD.replace(old, new), source="coins.toml")
    assert str(caught.value).startswith(f"coins.toml: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arms = 3\npolicies = []", "'arms' must be tables written [[arms]], each with its law (got 3)"),
        ("arms = []\npolicies = []", "'arms' must be at least two tables [[arms]] (got 0)"),
        ("arms = [1, 2]\npolicies = []", "'arms' must be tables written [[arms]], each with its law (got [1, 2])"),
    ],
)
def test_arms_are_tables(text, message):
    with pytest.raises(db.FormatError) as caught:
        parse("horizon = 9\nreplications = 1\nseed = 0\n" + text, source="x.toml")
    assert str(caught.value) == f"x.toml: {message}"


def test_no_policies():
    with pytest.raises(db.FormatError, match=r"'policies' must be at least one table \[\[policies\]\] \(got 0\)"):
        parse("policies = []\n" + GOOD.split("[[policies]]")[0])


def test_plot_is_a_table():
    with pytest.raises(db.FormatError, match=r"'plot' must be a table, written \[plot\] \(got 1\)"):
        parse("plot = 1\n" + GOOD.split("[plot]")[0])


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no experiment at"):
        read(tmp_path / "none.toml")


def test_binary_file(tmp_path):
    file = tmp_path / "picture.toml"
    file.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(db.FormatError, match="not a TOML file"):
        read(file)


def test_policy_that_does_not_fit_the_arms_is_refused_before_anything_runs():
    experiment = parse(GOOD.replace('policy = "UCB1"\nsigma = 0.5', 'policy = "NPTS"\nupper = 1.0'))
    with pytest.raises(db.ArgumentError, match="fit for rewards in"):
        experiment.run()


MORE = (
    GOOD
    + """
[[figures]]
name = "one"
title = "only one"
policies = ["UCB1"]

[paper]
place = "section 5"
about = "Coins."
[paper.printed]
UCB1 = { mean = 1.0, std = 2.0, q05 = 3.0, q95 = 4 }

[[claims]]
says = "UCB1 is below itself."
lower = ["UCB1"]
than = ["UCB1"]
times = 1.5
"""
)


def test_what_a_report_shows_is_read_too():
    experiment = parse(MORE)
    assert experiment.figures == (Panel("one", "only one", ["UCB1"]),)
    assert experiment.paper.printed == {"UCB1": Printed(1.0, 2.0, 3.0, 4)}
    assert experiment.claims == (Claim("UCB1 is below itself.", ["UCB1"], ["UCB1"], 1.5),)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('policies = ["UCB1"]', 'policies = ["UCB2"]', "'figures[0].policies' must be made of 'UCB1' (got 'UCB2')"),
        ('policies = ["UCB1"]', "policies = []", "'figures[0].policies' must be a list of names (got [])"),
        ('title = "only one"', "", "'figures[0].title' is missing: a figure needs it"),
        ('lower = ["UCB1"]', 'lower = ["x"]', "'claims[0].lower' must be made of 'UCB1' (got 'x')"),
        ('than = ["UCB1"]', 'than = ["x"]', "'claims[0].than' must be made of 'UCB1' (got 'x')"),
        ("times = 1.5", "times = 0", "'claims[0].times' must be a positive number (got 0)"),
        ("times = 1.5", 'statistic = "median"', "'claims[0].statistic' must be one of 'mean', 'std', "),
        ("times = 1.5", "time = 1.5", "'claims[0].time' is not a parameter of a claim (its parameters: says, lower, "),
        ("says =", "say =", "'claims[0].say' is not a parameter of a claim"),
        ("mean = 1.0, std = 2.0", "std = 2.0", "'paper.printed.UCB1.mean' is missing: a printed row needs it"),
        ("UCB1 = {", "UCB9 = {", "'paper.printed' must be made of 'UCB1' (got 'UCB9')"),
        ("q95 = 4 }", 'q95 = "4" }', "'paper.printed.UCB1.q95' must be a finite number (got '4')"),
        ('place = "section 5"', "place = 5", "'paper.place' must be a text (got 5)"),
    ],
)
def test_mistakes_in_what_a_report_shows(old, new, message):
    assert old in MORE
    with pytest.raises(db.FormatError) as caught:
        parse(MORE.replace(old, new), source="coins.toml")
    assert str(caught.value).startswith(f"coins.toml: {message}")


PROBLEM = """
horizon = 100
replications = 3
seed = 7
[problem]
name = "maize_planting"
dates = "spring"
[[policies]]
policy = "RDS"
"""


def test_a_problem_brings_its_arms():
    assert parse(PROBLEM).bandit.names == ("26 Feb", "13 Mar", "28 Mar", "12 Apr")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"maize_planting"', '"rice"', "'problem.name' must be one of 'maize_planting' (got 'rice')"),
        ('"spring"', '"winter"', "'problem.dates' must be one of 'all', 'spring' (got 'winter')"),
        ("dates =", "days =", "'problem.days' is not a parameter of maize_planting (its parameters: dates)"),
        ("[[policies]]", "[[arms]]\nlaw='Bernoulli'\np=0.5\n[[policies]]", "'problem' defines all the arms"),
    ],
)
def test_mistakes_in_a_problem(old, new, message):
    with pytest.raises(db.FormatError) as caught:
        parse(PROBLEM.replace(old, new), source="maize.toml")
    assert str(caught.value).startswith(f"maize.toml: {message}")


def test_an_objective_goes_with_a_problem_and_with_arms():
    goal = '[objective]\nname = "CVaR"\nlevel = 0.2\n'
    maize = parse(PROBLEM + goal).bandit
    assert (maize.objective, maize.best) == (db.CVaR(0.2), "12 Apr")
    example = example_text().replace("# [objective]", "[objective]").replace("# name =", "name =")
    farms = parse(example.replace("# level =", "level =")).bandit
    assert (farms.objective, farms.best, parse(example_text()).bandit.objective.name) == (
        db.CVaR(0.2),
        "manure",
        "mean",
    )
    assert parse(PROBLEM + '[objective]\nname = "mean"\n').bandit.best == "28 Mar"
    for old, new, message in (
        ("CVaR", "VaR", "'objective.name' must be one of 'mean', 'CVaR' (got 'VaR')"),
        ("0.2", "2", "'objective.level' must be a number above 0, at most 1 (got 2)"),
        ("level = 0.2", "", "'objective.level' is missing: CVaR needs it"),
        ("level", "share", "'objective.share' is not a parameter of CVaR (its parameters: level)"),
    ):
        with pytest.raises(db.FormatError) as caught:
            parse(PROBLEM + goal.replace(old, new), source="maize.toml")
        assert str(caught.value) == f"maize.toml: {message}"


def test_example_explains_every_law():
    text = example_text()
    assert [law for law in LAWS if law not in text] == []
    assert parse(text).bandit.best == "nitrogen"


def test_every_law_of_the_library_can_be_named():
    public = {name for name in db.__all__ if hasattr(getattr(db, name), "rvs")}
    assert set(LAWS) == public - {"Geometric", "Pareto"}  # laws of delays


def test_a_study_is_no_experiment():
    with pytest.raises(db.FormatError, match="a file with 'study' is not a simulation of regret"):
        parse(shipped_text("kinf"))
