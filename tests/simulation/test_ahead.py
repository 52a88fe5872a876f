"""Compiling ahead happens in other processes, and their mistakes come back."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.simulation.ahead import compile_ahead


def test_compiling_ahead_runs_in_other_processes():
    bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    compile_ahead([(bandit, db.UCB1(0.5))], workers=1, progress=False)
    with pytest.raises(db.ArgumentError, match="fit for rewards in"):  # so it did reach the simulation
        compile_ahead([(bandit, db.NPTS(upper=0.5))], workers=1, progress=False)
