"""Compiling ahead happens in other processes, and their mistakes come back."""

import pytest

import dirichlet_bandits as db
from dirichlet_bandits.simulation.precompile import compile_ahead


def test_compiling_ahead_reaches_the_simulation_of_every_pair():
    bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    pairs = [(bandit, db.UCB1(0.5)), (bandit, db.NPTS(upper=0.5))]
    with pytest.raises(db.ArgumentError, match="fit for rewards in"):  # what simulate says of the last one
        compile_ahead(pairs, workers=1, progress=False)
