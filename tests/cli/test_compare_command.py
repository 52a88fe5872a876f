"""``dirichlet-bandits compare``, called in this process."""

import importlib
import json

import pytest
from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app
from tests.environments.problems import coins_in_a_file

SIMULATE = importlib.import_module("dirichlet_bandits.simulation.simulate")  # the function hides its module
FEW = ("--horizon", "60", "--replications", "5", "--workers", "1", "--policy", "UCB1", "--policy", "RUCBLT")


def call(*arguments):
    return CliRunner().invoke(app, ["compare", *arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "past.csv").write_text("date,yield\nMay,4\nMay,5.5\nMay,3.5\nJune,5\nJune,6\nJune,6.5\n")
    (tmp_path / "wide.csv").write_text("May,June\n4,5\n5.5,6\n3.5,6.5\n")
    (tmp_path / "bad.csv").write_text("date,yield\nMay,4\nMay,good\n")
    return tmp_path


def test_ranks_says_what_is_left_out_and_draws(folder):
    answer = call("past.csv", *FEW, "--policy", "NPTS", "--sigma", "1", "--out", "regret.png")
    assert answer.exit_code == 0, answer.output
    assert "2 arms: May (mean 4.333, 3 rewards); June (mean 5.833, 3 rewards)" in answer.stdout
    assert "past: regret after 60 pulls" in answer.stdout
    assert "1. UCB1" in answer.stdout
    assert "2. RUCBLT" in answer.stdout
    assert "best here: UCB1(sigma=1.0)\nit assumes: sub-Gaussian rewards with known sigma\n" in answer.stdout
    assert "needs an upper bound of the rewards (--bounds)" in answer.stdout
    assert max(map(len, answer.stdout.splitlines())) <= 80
    assert (folder / "regret.png").read_bytes().startswith(b"\x89PNG")


def test_one_file_in_three_forms_is_one_answer(folder):
    (folder / "arms.toml").write_text(
        '[[arms]]\nname = "May"\nlaw = "Empirical"\nvalues = [4, 5.5, 3.5]\n'
        '[[arms]]\nname = "June"\nlaw = "Empirical"\nvalues = [5, 6, 6.5]\n'
    )
    given = [["past.csv", "--arm", "date", "--reward", "yield"], ["wide.csv", "--wide"], ["arms.toml"]]
    answers = [call(*file, *FEW, "--sigma", "1", "--json") for file in given]
    assert [answer.exit_code for answer in answers] == [0, 0, 0]
    told = [json.loads(answer.stdout) for answer in answers]
    assert told[0] == told[1] == told[2]
    assert [place["policy"] for place in told[0]["ranking"]] == ["UCB1", "RUCBLT"]


def test_csv_and_advice_for_the_command_line(folder):
    answer = call("past.csv", *FEW, "--sigma", "1", "--csv")
    lines = answer.stdout.splitlines()
    assert lines[0] == "policy,mean,difference,low,high,tied,replications,parameters"
    assert [line.partition(",")[0] for line in lines[1:]] == ["UCB1", "RUCBLT"]
    none = call("past.csv", "--horizon", "9", "--policy", "NPTS")
    assert none.stderr.startswith("error: '--policy' must be at least one that applies: NPTS needs an upper bound of")
    assert "(--bounds)" in none.stderr
    (folder / "wide2.csv").write_text("May,June\n4,5\n5,6\n")
    assert "Then say --wide" in call("wide2.csv", *FEW).stderr


CHANGING = 'delay = { law = "Geometric", p = 0.2 }\n' + coins_in_a_file((1, 0.2, 0.7), (31, 0.9, 0.1))


def test_worlds_of_files_and_options_are_those_of_python(folder):
    (folder / "changing.toml").write_text(CHANGING)
    answer = call("changing.toml", *FEW, "--sigma", "0.5", "--batch", "4", "--window", "9", "--late", "0", "--json")
    assert answer.exit_code == 0, answer.output
    told = json.loads(answer.stdout)
    coins = [db.Bernoulli(0.2), db.Bernoulli(0.7)]
    world = db.Piecewise({1: coins, 31: [db.Bernoulli(0.9), db.Bernoulli(0.1)]})
    feedback = {"delay": db.Geometric(0.2), "window": 9, "late": 0, "batch": 4}
    want = db.compare_policies(
        world, horizon=60, replications=5, policies=["UCB1", "RUCBLT"], sigma=0.5, seed=0, workers=1, **feedback
    )
    assert told["ranking"] == want.as_json()["ranking"]
    assert told["breakpoints"] == [31]
    assert told["feedback"] == {"delay": "Geometric(p=0.2)", "batch": 4, "window": 9, "late": 0.0}
    assert call("changing.toml", *FEW, "--sigma", "0.5", "--delay", "0", "--json").stdout != answer.stdout


def test_past_periods_become_segments(folder):
    (folder / "years.csv").write_text(
        "date,yield,year\nMay,4,1\nMay,5,1\nJune,6,1\nJune,7,1\nMay,8,2\nMay,9,2\nJune,3,2\nJune,2,2\n"
    )
    answer = call("years.csv", *FEW, "--sigma", "1", "--period", "year", "--delay", "Geometric(0.5)")
    assert answer.exit_code == 0, answer.output
    assert "2 arms: May, June, which change at pulls 31\ndelay: Geometric(p=0.5)\n" in answer.stdout
    assert "1. UCB1" in answer.stdout
    (folder / "gap.csv").write_text("date,yield,year\nMay,4,1\nMay,5,1\nJune,6,1\nJune,7,1\nMay,8,2\nMay,9,2\n")
    missing = call("gap.csv", *FEW, "--period", "year")
    assert missing.stderr == "error: gap.csv: arm 'June' has no reward in the period '2'\n"


def test_policies_may_have_parameters(folder):
    answer = call("past.csv", *FEW, "--policy", "UCB1(sigma=3)", "--json")
    told = json.loads(answer.stdout)
    assert {place["policy"] for place in told["ranking"]} == {"RUCBLT", "UCB1(sigma=3)"}
    assert told["left_out"] == {"UCB1": "needs the standard deviation of the rewards (sigma)"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.csv", *FEW], "no file of rewards at 'none.csv'"),
        (["none.toml", *FEW], "no experiment at 'none.toml'"),
        (["bad.csv", *FEW], "bad.csv, line 3: column 'yield' must be a finite number (got 'good')"),
        (["past.csv", *FEW, "--reward", "money"], "past.csv, line 1: there must be one column 'money'"),
        (["past.csv", *FEW, "--wide", "--arm", "date"], "'--wide' must be omitted if columns are named"),
        (
            ["past.csv", *FEW, "--bounds", "0", "5"],
            "'--bounds' must be around all rewards, from 3.5 to 6.5 (got (0.0, 5.0))",
        ),
        (["past.csv", *FEW, "--level", "2"], "'--level' must be a number above 0, at most 1 (got 2.0)"),
        (["past.csv", *FEW, "--out", "a.doc"], "'--out' must be a file that ends in .png, .pdf"),
        (["past.csv", "--horizon", "1"], "'--horizon' must be an integer of at least 2 (got 1)"),
        (["past.csv", "--horizon", "9", "--policy", "Magic"], "'--policy' must be the name of a policy (got 'Magic')"),
        (["past.csv", "--horizon", "9", "--policy", "UCB1(width=1)"], "'--policy' must be a policy such as RDS"),
        (["arms.toml", *FEW, "--wide"], "'--wide' must be omitted"),
        (["arms.toml", *FEW, "--period", "year"], "'--period' must be omitted"),
        (["past.csv", *FEW, "--period", "year"], "past.csv, line 1: there must be one column 'year'"),
        (["past.csv", *FEW, "--period", "date", "--wide"], "'--wide' must be omitted if a column has periods"),
        (["past.csv", *FEW, "--sigma", "1", "--delay", "-1"], "'--delay' must be a number of pulls, at least 0"),
        (["past.csv", *FEW, "--delay", "Geometric(2)"], "'--delay: p' must be a number from 0 to 1 (got 2)"),
        (
            ["past.csv", *FEW, "--delay", "Geometric(p=0.1, p=0.2)"],
            "'--delay' must be a number of pulls, or a distribution",
        ),
        (["past.csv", *FEW, "--delay", "exit()"], "'--delay' must be a number of pulls, or a distribution such as"),
        (["past.csv", *FEW, "--sigma", "1", "--window", "0"], "'--window' must be an integer of at least 1 (got 0)"),
        (["past.csv", *FEW, "--late", "soon"], "'--late' must be 'abandon' or a reward (got 'soon')"),
        (["past.csv", *FEW, "--sigma", "1", "--late", "0"], "'--window' must be a number of pulls, because 'late'"),
        (["past.csv", *FEW, "--sigma", "1", "--batch", "61"], "'--batch' must be"),
        (["past.csv", *FEW, "--sigma", "1", "--batch", "1.5"], "'--batch' must be"),
        (["past.csv", *FEW, "--sigma", "1", "--batch", "30,20"], "'--batch' must be sizes that add up"),
        (
            ["past.csv", *FEW, "--sigma", "1", "--batch", "large"],
            "'--batch' must be a size, a list of sizes, 'geometric'",
        ),
    ],
)
def test_mistakes_are_one_line_and_nothing_runs(folder, monkeypatch, arguments, message):
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: pytest.fail("it ran"))
    answer = call(*arguments)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stderr.count("\n") == 1


def test_interrupted_before_anything_was_done(folder, monkeypatch):
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: False)
    answer = call("past.csv", *FEW, "--out", "regret.png")
    assert answer.exit_code == 130
    assert answer.stderr == "interrupted before two replications were finished: nothing to rank\n"
    assert not (folder / "regret.png").exists()


def test_interrupted_later_ranks_what_is_done(folder, monkeypatch):
    whole = SIMULATE.run_all

    def cut(units, *others):
        units = list(units)
        return whole([unit for unit in units if unit.row == 0], *others) and False

    monkeypatch.setattr(SIMULATE, "run_all", cut)
    answer = call("past.csv", *FEW, "--sigma", "1")
    assert answer.exit_code == 130
    assert "1. UCB1" in answer.stdout
    assert "was interrupted before enough of its replications were finished" in " ".join(answer.stdout.split())
    assert answer.stderr.endswith("interrupted: the ranking uses the finished replications\n")
