"""The commands, called in this process."""

import importlib
import io
import json
import logging

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app

SIMULATE = importlib.import_module("dirichlet_bandits.simulation.simulate")  # the function hides its module


@pytest.fixture
def folder(coins, monkeypatch):
    monkeypatch.chdir(coins())
    return coins()


def call(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_simulate_prints_saves_and_draws(folder):
    answer = call("simulate", "coins.toml", "--out", "runs.zarr", "--plot", "regret.png")
    assert answer.exit_code == 0, answer.output
    assert "coins: regret after 50 pulls" in answer.stdout
    assert "UCB1 [half]" in answer.stdout
    assert db.load("runs.zarr").data.sizes["replication"] == 4
    assert (folder / "regret.png").read_bytes().startswith(b"\x89PNG")


def test_options_replace_what_the_file_says(folder):
    options = ["--replications", "2", "--horizon", "30", "--seed", "5", "--workers", "1", "--quiet"]
    answer = call("simulate", "coins.toml", "--out", "runs.zarr", *options)
    assert (answer.exit_code, answer.output) == (0, "")
    result = db.load("runs.zarr")
    assert (result.horizon, result.data.sizes["replication"]) == (30, 2)
    assert '"entropy": 5' in result.data.attrs["seed"]


def test_an_older_result_is_replaced(folder):
    for replications in ("2", "3"):
        call("simulate", "coins.toml", "--out", "runs.zarr", "--replications", replications, "--quiet")
    assert db.load("runs.zarr").data.sizes["replication"] == 3


def test_a_store_goes_on_and_is_not_replaced(folder):
    assert call("simulate", "coins.toml", "--store", "runs.zarr").stdout.endswith("saved: runs.zarr\n")
    again = call("simulate", "coins.toml", "--store", "runs.zarr", "--out", "copy.zarr", "--quiet")
    assert (again.exit_code, again.output) == (0, "")
    assert db.load("copy.zarr").data.identical(db.load("runs.zarr").data)
    other = call("simulate", "coins.toml", "--store", "runs.zarr", "--seed", "1")
    assert other.exit_code == 2
    assert "a store of the same simulation (got 'runs.zarr: other seed')" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.toml", "--out", "runs.zarr"], "no experiment at 'none.toml'"),
        (["coins.toml"], "'--out' must be given, or --store (got None)"),
        (["coins.toml", "--out", "mine"], "'mine' is not a readable zarr folder"),
        (["coins.toml", "--store", "mine"], "'mine' is not a readable zarr folder"),
        (["coins.toml", "--out", "coins.toml"], "'coins.toml' is not a readable zarr folder"),
        (["coins.toml", "--out", "no/runs.zarr"], "'--out' must be in a folder that exists and can be written"),
        (["coins.toml", "--out", "runs.zarr", "--plot", "a.doc"], "'--plot' must be a file that ends in .png, .pdf"),
        (["coins.toml", "--out", "runs.zarr", "--plot", "no/a.png"], "'--plot' must be in a folder that exists"),
        (
            ["coins.toml", "--out", "runs.zarr", "--horizon", "1"],
            "'--horizon' must be an integer of at least 2 (got 1)",
        ),
        (
            ["coins.toml", "--out", "runs.zarr", "--workers", "0"],
            "'--workers' must be an integer of at least 1 (got 0)",
        ),
    ],
)
def test_mistakes_are_one_line_and_nothing_runs(folder, monkeypatch, arguments, message):
    (folder / "mine").mkdir()
    (folder / "mine" / "thesis.txt").write_text("precious")
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: pytest.fail("it ran"))
    answer = call("simulate", *arguments)
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith(f"error: {message}")
    assert answer.stderr.count("\n") == 1
    assert (folder / "mine" / "thesis.txt").read_text() == "precious"


def test_interrupted_before_anything_was_done(folder, monkeypatch):
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: False)
    answer = call("simulate", "coins.toml", "--out", "runs.zarr")
    assert answer.exit_code == 130
    assert "nothing saved" in answer.stderr
    assert not (folder / "runs.zarr").exists()


def test_policies_fit_80_columns_and_no_word_is_split():
    answer = call("policies")
    assert answer.exit_code == 0
    assert max(map(len, answer.stdout.splitlines())) <= 80
    first_words = {line.split()[0] for line in answer.stdout.splitlines() if line.strip()}
    assert set(db.policies.registry.all_policies()) <= first_words
    shown = set(answer.stdout.split())
    for row in json.loads(call("policies", "--json").stdout):
        assert {word for cell in row.values() for word in cell.split()} <= shown


def test_tables_are_also_json_and_csv(folder):
    answers = {form: call("simulate", "coins.toml", "--out", "runs.zarr", form) for form in ("--json", "--csv")}
    assert [answer.stderr for answer in answers.values()] == ["saved: runs.zarr\n"] * 2
    (row,) = json.loads(answers["--json"].stdout)
    expected = db.load("runs.zarr").summary().loc["UCB1 [half]"]
    assert row["policy"] == "UCB1 [half]"
    assert {key: row[key] for key in expected.index} == expected.to_dict()
    assert pd.read_csv(io.StringIO(answers["--csv"].stdout)).to_dict("records") == [row]
    assert json.loads(call("simulate", "coins.toml", "--out", "runs.zarr", "--json", "--quiet").stdout) == [row]
    both = call("simulate", "coins.toml", "--out", "runs.zarr", "--json", "--csv")
    assert (both.exit_code, both.stderr) == (2, "error: '--csv' must be omitted with --json (got True)\n")


def test_a_row_that_is_too_wide_becomes_lines(folder):
    name = "a name that takes more than half of all the columns of a terminal"
    text = (folder / "coins.toml").read_text()
    (folder / "coins.toml").write_text(text.replace("UCB1 [half]", name))
    lines = call("simulate", "coins.toml", "--out", "runs.zarr").stdout.splitlines()
    assert name in lines
    assert max(map(len, lines)) <= 80
    assert f"  mean regret  {db.load('runs.zarr').summary()['mean'].iloc[0]:.4g}" in lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulat"], "no such command 'simulat'. Did you mean 'simulate'? (help: dirichlet-bandits --help)"),
        (["simulate"], "missing argument 'experiment' (help: dirichlet-bandits simulate --help)"),
        (["study", "list"], "missing option '--storage' (env var: 'DIRICHLET_BANDITS_STORAGE') (help: "),
        (["crops", "show", "--seed", "1"], "no such option: --seed (help: dirichlet-bandits crops show --help)"),
        (["compile", "--workers", "many"], "invalid value for '--workers': "),
    ],
)
def test_what_the_parser_refuses_is_one_line_too(words, message):
    answer = CliRunner().invoke(app, words, prog_name="dirichlet-bandits")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.lower().startswith(f"error: {message}".lower())
    assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [["--verbose", "simulate"], ["simulate", "--verbose"]])
def test_verbose_says_what_is_stored(folder, words):
    logger = logging.getLogger("dirichlet_bandits")
    before = logger.handlers[:], logger.level
    try:
        answer = call(*words, "coins.toml", "--store", "runs.zarr", "--quiet")
    finally:
        logger.handlers[:], logger.level = before
    assert (answer.exit_code, answer.stdout) == (0, "")
    assert "'runs.zarr': 0 of 4 chunks are done" in answer.stderr


def test_example_is_written_once_and_can_be_read(folder):
    assert call("example", "mine.toml").exit_code == 0
    assert db.experiments.read("mine.toml").title == "Three fertilizers"
    again = call("example", "mine.toml")
    assert again.exit_code == 2
    assert again.stderr == "error: 'path' must be a file that does not exist yet (got 'mine.toml')\n"


@pytest.mark.parametrize("command", ["simulate", "compare", "example", "policies", "paper"])
def test_help_has_an_example(command):
    answer = call(command, "--help")
    assert answer.exit_code == 0
    assert f"dirichlet-bandits {command}" in answer.stdout


def every_command(command, words=()):
    """The words of all commands and groups."""
    yield words
    for name, inside in getattr(command, "commands", {}).items():
        yield from every_command(inside, (*words, name))


@pytest.mark.parametrize("words", list(every_command(typer.main.get_command(app))), ids=" ".join)
def test_every_help_fits_80_columns_and_has_no_markup(words):
    said = CliRunner().invoke(app, [*words, "--help"], prog_name="dirichlet-bandits").stdout
    assert said.startswith("Usage: dirichlet-bandits")
    assert max(map(len, said.splitlines())) <= 80
    for markup in ("[bold]", "[/", "``", ":func:", ":class:", "\b"):
        assert markup not in said


def test_version():
    assert call("--version").stdout == f"dirichlet-bandits {db.__version__}\n"


def test_errors_that_are_not_ours_are_not_hidden(folder, monkeypatch):
    monkeypatch.setattr(SIMULATE, "run_all", lambda *_: 1 / 0)
    assert isinstance(call("simulate", "coins.toml", "--out", "runs.zarr").exception, ZeroDivisionError)
