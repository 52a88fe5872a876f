"""``dirichlet-bandits compile`` leaves nothing to compile."""

import os
import subprocess
import sys

from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app
from dirichlet_bandits.policies.registry import all_policies

USE = """
import logging
import dirichlet_bandits as db

logging.basicConfig(level=logging.INFO)
bandit = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(1.0, 1.0), db.Exponential(1.0)])
db.simulate(bandit, db.UCB1(sigma=2.0), horizon=100, replications=20, seed=0)
study = db.create_study("s", arms=["a", "b", "c"], policy=db.UCB1(sigma=2.0), seed=0)
for trial in study.ask(3):
    study.tell(trial.id, 1.0)
study.ask()
"""


def test_what_was_compiled_is_found_by_simulations_and_live_studies(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "dirichlet_bandits", "compile", "UCB1", "--workers", "1"]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert made.stdout.startswith("compiled for simulations and live studies, in ")
    assert made.stdout.endswith(": UCB1\n")
    used = subprocess.run([sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True)
    assert used.stderr == ""


def test_an_unknown_name_is_refused():
    answer = CliRunner().invoke(app, ["compile", "RDS", "RDX"])
    assert answer.exit_code == 2
    assert "'POLICY' must be the name of a policy; did you mean 'RDS'" in answer.output
    assert "(got 'RDX')" in answer.output


def test_every_policy_can_be_compiled_by_its_name():
    for name, kind in all_policies().items():
        policy = kind.example()
        assert type(policy) is getattr(db, name)
        assert len(policy.params)
    assert db.RDS.example() == db.RDS()
