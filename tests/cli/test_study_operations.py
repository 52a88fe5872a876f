"""Derived commands: each operation that changes a study has one, and the example in its help can be run."""

import re
import shlex

import pytest

from dirichlet_bandits.cli.study_operations import PRINTED, first_sentence, sentences
from dirichlet_bandits.live.operation import OPERATIONS, READ


def test_every_operation_that_changes_a_study_has_a_command():
    """Their names and sentences come from the source files, because importing these takes too long for a list."""
    wanted = {name.replace("_", "-"): kind for name, kind in OPERATIONS.items()}
    wanted = {name: kind for name, kind in wanted.items() if kind.role != READ or name in PRINTED}
    assert sentences() == {name: first_sentence(str(kind.__doc__)) for name, kind in wanted.items()}
    assert set(PRINTED) <= set(sentences())


BEFORE = {"void": ["tell maize 0 1"], "correct": ["tell maize 0 1"], "reopen": ["abandon maize 0"]}


@pytest.mark.parametrize("command", sorted({*sentences(), "create"} - {"add-trials"}))
def test_the_example_in_the_help_of_a_command_can_be_run(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    said = run(command, "--help")
    example = re.findall(rf"dirichlet-bandits study ({command} maize(?:.*\\\n)*.*)\n", said)[0]
    words = shlex.split(example.replace("\\\n", " "))
    assert max(map(len, said.splitlines())) <= 80
    monkeypatch.delenv("DIRICHLET_BANDITS_STORAGE")
    if command != "create":
        kept = ["--storage", "sqlite:///maize.db"]
        arms = ["--arm", "13 Mar"] + ([] if command == "add-arm" else ["--arm", "26 Feb"])
        run("create", "maize", *arms, *kept)
        run("ask", "maize", "-n", 2, *kept)
        for before in BEFORE.get(command, []):
            run(*before.split(), *kept)
    assert run(*words) != ""
