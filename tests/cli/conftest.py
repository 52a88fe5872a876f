"""Run ``dirichlet-bandits study`` in a folder of its own."""

import pytest
from typer.testing import CliRunner

from dirichlet_bandits.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIRICHLET_BANDITS_STORAGE", "sqlite:///s.db")
    monkeypatch.setenv("COLUMNS", "160")

    def call(*words, code=0):
        answer = CliRunner().invoke(app, ["study", *map(str, words)])
        assert answer.exit_code == code, answer.output
        return answer.output

    return call
