"""Compiling ahead happens in other processes, and their mistakes come back; what is compiled is not compiled again."""

import os
import subprocess
import sys

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.simulation.compile_ahead import compile_ahead, is_compiled

BANDIT = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])


def test_compiling_ahead_reaches_the_simulation_of_every_pair():
    pairs = [(BANDIT, db.UCB1(0.5)), (BANDIT, db.NPTS(upper=0.5))]
    with pytest.raises(db.ArgumentError, match="fit for rewards in"):  # what simulate says of the last one
        compile_ahead(pairs, workers=1, progress=False)


EMPTY = """
import dirichlet_bandits as db
from dirichlet_bandits.simulation.compile_ahead import is_compiled
bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
print(is_compiled(bandit, db.UCB1(0.5)), is_compiled(bandit, db.UCB1(0.5)))
"""


def test_whether_something_is_compiled_is_found_out_without_compiling(tmp_path):
    db.simulate(BANDIT, db.UCB1(0.5), horizon=20, replications=1, seed=0)
    assert is_compiled(BANDIT, db.UCB1(0.5))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", EMPTY]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"
    assert not list(tmp_path.rglob("*.nbi"))
