"""The command: what it writes, and one line for what the user can put right."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dirichlet_bandits import crops
from dirichlet_bandits.cli import app
from dirichlet_bandits.crops.dssat import Model

runner = CliRunner()


def test_show_shipped() -> None:
    done = runner.invoke(app, ["crops", "show"])
    assert done.exit_code == 0
    assert all(label in done.stdout for label in crops.yields())


def test_show_for_programs() -> None:
    rows = json.loads(runner.invoke(app, ["crops", "show", "--json"]).stdout)
    assert [row["date"] for row in rows] == list(crops.yields())
    assert rows[0]["largest"] == crops.load().yields[0].max()
    assert runner.invoke(app, ["crops", "show", "--csv"]).stdout.startswith(
        "day,date,seasons,mean,stderr,std,zeros,largest\n57,"
    )
    told = json.loads(runner.invoke(app, ["crops", "show", "--json", "--provenance"]).stdout)
    assert told["dates"] == rows
    assert "command" in told["provenance"]


@pytest.mark.parametrize("command", ["sample", "show", "case"])
def test_help_has_no_markup(command: str) -> None:
    said = runner.invoke(app, ["crops", command, "--help"]).stdout
    assert "dirichlet-bandits crops " + command in said
    assert "[bold]" not in said
    assert "\\" not in said


def test_sample_show_and_again(model: Model, tmp_path: Path) -> None:
    out = tmp_path / "yields.npz"
    done = runner.invoke(
        app, ["crops", "sample", "--seasons", "5", "--dates", "57,87", "--workers", "1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    samples = crops.load(out)
    assert samples.provenance["command"] == (
        "dirichlet-bandits crops sample --seasons 5 --dates 57,87 --seed 0 --out yields.npz"
    )
    assert (samples.yields == crops.load().yields[[0, 2], :5]).all()
    done = runner.invoke(app, ["crops", "show", str(out), "--provenance"])
    assert done.exit_code == 0
    assert "28 Mar" in done.stdout
    assert "sha256" in done.stdout


def test_case_file(model: Model, tmp_path: Path) -> None:
    case, out = tmp_path / "case.toml", tmp_path / "yields.npz"
    case.write_text("density = 5.0\n")
    done = runner.invoke(app, ["crops", "case", str(case)])
    assert json.loads(done.stdout)["density"] == 5.0
    words = ["sample", "--seasons", "2", "--dates", "87", "--case", str(case), "--cultivar", "PC0001"]
    done = runner.invoke(app, ["crops", *words, "--out", str(out)])
    assert done.exit_code == 0, done.output
    told = crops.load(out).provenance
    assert (told["case"]["density"], told["case"]["cultivar"]) == (5.0, "PC0001")
    assert "--case case.toml" in told["command"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sample", "--seasons", "0"], "'--seasons' must be"),
        (["sample", "--dates", "march"], "'--dates' must be 'all', 'spring'"),
        (["sample", "--dates", "12"], "from 56 to 300"),
        (["sample", "--cultivar", "corn"], "'--cultivar' must be"),
        (["sample", "--case", "none.toml"], "'--case' must be"),
        (["show", "none.npz"], "none.npz"),
    ],
)
def test_errors_are_one_line(words: list[str], says: str) -> None:
    done = runner.invoke(app, ["crops", *words])
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
