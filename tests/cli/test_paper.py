"""``dirichlet-bandits paper``, called in this process."""

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app
from dirichlet_bandits.experiments import SHIPPED, runner
from dirichlet_bandits.experiments.random_arms import RandomArms
from dirichlet_bandits.simulation import compile_ahead

SIMULATE = importlib.import_module("dirichlet_bandits.simulation.simulate")  # the function hides its module


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "QUICK", 3)
    monkeypatch.setattr(compile_ahead, "in_processes", lambda *_, **__: None)  # tested by itself; slow
    (tmp_path / "file").write_text("mine")
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(app, ["paper", *arguments])


def page_of(folder, *arguments):
    """The page of a report that succeeds."""
    answer = call(*arguments)
    assert answer.exit_code == 0, answer.output
    return (folder / "report/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "yield"], "'--only' must be one of " + ", ".join(f"'{name}'" for name in SHIPPED)),
        (["--which", "mine"], "'--which' must be one of 'dirichlet', 'readings', 'sda', 'cvar', 'lbsda' (got 'mine')"),
        (["--which", "sda", "--only", "yields"], "'--only' must be one of 'bernoulli-high', "),
        (["--out", "file"], "'--out' must be a folder, which may exist (got 'file')"),
        (["--workers", "0"], "'--workers' must be an integer of at least 1 (got 0)"),
        (["--workers", "2", "--dask", "tcp://x:1"], "'--workers' must be omitted with a Dask cluster, which has its"),
        (["--dask", "nonsense"], "'--dask' must be that of a Dask scheduler, like tcp://host:8786 ("),
        (["--seed", "-1"], "'--seed' must be an integer of at least 0 (got -1)"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(folder, arguments, message):
    answer = call(*arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stderr.count("\n") == 1
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_a_report_of_some(folder):
    answer = call("--only", "sensitivity", "--only", "qds-condition", "--seed", "5", "--quiet")
    assert answer.exit_code == 0, answer.output
    assert "Processor time by policy" in answer.stdout
    assert answer.stdout.rstrip().endswith("report: report/index.html")
    page = (folder / "report/index.html").read_text(encoding="utf-8")
    assert "quick run: 3 replications" in page
    assert "dirichlet-bandits paper --only sensitivity --only qds-condition --seed 5" in page
    assert "Maize" not in page
    result = db.load("report/data/quick/sensitivity.zarr")
    assert result.data.sizes["replication"] == 3
    assert '"entropy": 5' in result.data.attrs["seed"]
    again = call("--only", "sensitivity", "--seed", "5", "--quiet")  # finds everything done
    assert again.exit_code == 0
    assert "so it is replaced" not in again.stdout
    other = call("--only", "sensitivity", "--seed", "6", "--quiet")
    assert "sensitivity.zarr is of another version or seed of this experiment, so it is replaced" in other.stdout
    assert '"entropy": 6' in db.load("report/data/quick/sensitivity.zarr").data.attrs["seed"]


def test_a_claim_that_fails_is_read_in_other_ways(folder):
    page = page_of(folder, "--only", "qds-condition", "--quiet")
    assert page.count("read in other ways</a>") == 1
    assert "dirichlet-bandits paper --which readings" in page
    page = page_of(folder, "--only", "qds-condition", "--only", "qds-equal-rho", "--quiet")
    assert "read in other ways</a>" not in page
    assert "Supported by: rho = 1 for both; rho = 8 for both." in page
    assert "--which readings" not in page


@pytest.mark.slow
def test_a_report_of_another_paper(folder):
    page = page_of(folder, "--which", "sda", "--only", "clipped-wide", "--quiet")
    assert "Baudry, Kaufmann and Maillard, Sub-sampling" in page
    assert "dirichlet-bandits paper --which sda --only clipped-wide" in page
    assert "Saux" not in page
    header = (folder / "report/tables/clipped-wide.csv").read_text().splitlines()[0]
    assert header == "policy,mean,stderr,std,q05,q95,paper_mean,paper_std"


def test_a_report_on_risk_says_at_which_level(folder):
    page = page_of(folder, "--which", "cvar", "--only", "maize-20", "--only", "multinomial-10", "--quiet")
    for words in (
        "Baudry, Gautron, Kaufmann and Maillard, Optimal Thompson Sampling",
        "quick run: 3 replications",
        "runs as many as the paper, 1040 on four planting dates",
        "CVaR regret at 20 % (kg/ha) after",
        "A vertical line marks the CVaR at 20 %, the average over the darker part",
        "Values of the arms (kg/ha): CVaR at 20 %.",
        "mean CVaR regret at 20 %, B-CVTS",
        "CVaR regret at 10 % after",
        "3 random problems of",
        "The distributions of the rewards of the first problem",
    ):
        assert words in page, words
    frame = pd.read_csv(folder / "report/tables/maize-20-arms.csv", index_col="arm")
    assert list(frame["paper_value"]) == [448, 627, 1059, 1515]
    np.testing.assert_allclose(frame["value"], db.crops.maize_planting("spring", objective=db.CVaR(0.2)).values)
    assert list(pd.read_csv(folder / "report/tables/multinomial-10.csv")["policy"])[-1] == "M-CVTS"
    assert not (folder / "report/tables/multinomial-10-arms.csv").exists()  # of which problem?


@pytest.mark.slow
def test_a_report_on_arms_that_change(folder):
    page = page_of(folder, "--which", "lbsda", "--only", "changing-gaussian", "--quiet")
    assert "The value of each arm over time; dotted lines mark the changes." in page
    assert "dirichlet-bandits paper --which lbsda --only changing-gaussian" in page
    frame = pd.read_csv(folder / "report/tables/changing-gaussian.csv", index_col="policy")
    assert frame["paper_mean"].to_list() == [272, 336, 357, 343, 360, 774]
    result = db.load("report/data/quick/changing-gaussian.zarr")
    assert result.breakpoints == (2501, 4501, 7001)
    assert result.values.sel(time=[2500, 2501], arm="arm 1").values.tolist() == [0.5, 0.8]


def test_random_problems_are_kept_when_they_are_done(folder, monkeypatch):
    words = ("--which", "cvar", "--only", "multinomial-10", "--quiet")
    assert call(*words).exit_code == 0
    table = (folder / "report/tables/multinomial-10.csv").read_bytes()
    monkeypatch.setattr(RandomArms, "run", None)
    assert call(*words).exit_code == 0
    assert (folder / "report/tables/multinomial-10.csv").read_bytes() == table
    assert call(*words, "--seed", "5").exit_code != 0  # other problems: they would have to be run


def test_python_does_what_the_command_does(folder):
    assert call("--only", "sensitivity", "--seed", "5", "--quiet", "--out", "there").exit_code == 0
    lines = []
    made = db.experiments.reproduce("here", only=["sensitivity"], seed=5, progress=False, say=lines.append)
    assert (made.page, [chapter.name for chapter in made.chapters]) == (Path("here/index.html"), ["sensitivity"])
    assert lines[-1].startswith(f"{made.chapters[0].title}: claims {made.chapters[0].count('supported')} supported, ")
    files = sorted(path.relative_to("here") for path in Path("here/tables").iterdir())
    assert files == sorted(path.relative_to("there") for path in Path("there/tables").iterdir())
    assert all(Path("here", file).read_bytes() == Path("there", file).read_bytes() for file in files)


def test_python_calls_arguments_by_their_names(folder):
    for mistake in ({"only": "kinf"}, {"only": ["coins"]}, {"out": "file"}, {"workers": 0}, {"seed": -1}):
        with pytest.raises(db.ArgumentError) as caught:
            db.experiments.reproduce(**mistake)
        assert [caught.value.name] == list(mistake)
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_interrupted(folder, monkeypatch):
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: False)
    answer = call("--only", "sensitivity", "--quiet")
    assert answer.exit_code == 130
    assert answer.stderr == "interrupted: run the same command again to continue\n"
    assert not (folder / "report/index.html").exists()
    with pytest.raises(KeyboardInterrupt):
        db.experiments.reproduce(only=["sensitivity"], progress=False)


def test_a_folder_that_is_not_ours_is_left_alone(folder):
    theirs = folder / "report/data/quick/sensitivity.zarr/thesis.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("precious")
    answer = call("--only", "sensitivity", "--quiet")
    assert answer.exit_code == 2
    assert "is not a readable zarr folder" in answer.stderr
    assert theirs.read_text() == "precious"


def test_an_experiment_of_the_paper_can_be_copied(folder):
    answer = CliRunner().invoke(app, ["example", "mine.toml", "--paper", "mixtures"])
    assert answer.exit_code == 0
    assert db.experiments.read("mine.toml").title == "Two Gaussian mixtures"
    wrong = CliRunner().invoke(app, ["example", "other.toml", "--paper", "kinf"])
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("error: '--paper' must be one of 'yields', ")


def test_simulate_judges_the_claims_of_a_file(folder):
    CliRunner().invoke(app, ["example", "mine.toml"])
    claims = ['lower = ["UCB1, sigma 1"]\nthan = ["RDS"]\ntimes = 100', 'lower = ["RDS"]\nthan = ["RDS"]']
    text = (folder / "mine.toml").read_text() + "".join(f'[[claims]]\nsays = "So."\n{claim}\n' for claim in claims)
    (folder / "mine.toml").write_text(text)
    options = ["--out", "runs.zarr", "--replications", "5", "--horizon", "100"]
    answer = CliRunner().invoke(app, ["simulate", "mine.toml", *options])
    assert answer.exit_code == 0, answer.output
    assert "\nsupported: So. Mean regret, " in answer.stdout
    assert "\nundecided: So. Mean regret, " in answer.stdout
