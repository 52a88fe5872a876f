"""A store knows how long its chunks took; this is no result, and damage to it does no harm."""

import numpy as np

import dirichlet_bandits as db
from dirichlet_bandits.results.store import Store


def test_time_is_kept_by_policy(tmp_path):
    bandit = db.Bandit([db.Bernoulli(0.4), db.Bernoulli(0.6)])
    policies = {"short": db.UCB1(0.5), "long": db.UCB1(0.6)}
    options = {"horizon": 20_000, "replications": 8, "seed": 0, "store": tmp_path / "runs.zarr"}
    first = db.simulate(bandit, policies, **options)
    store = Store(tmp_path / "runs.zarr")
    kept = store.seconds()
    assert kept.shape == (2,)
    assert (kept > 0).all()
    assert db.simulate(bandit, policies, **options).data.identical(first.data)
    assert np.array_equal(store.seconds(), kept)  # nothing was done again
    (tmp_path / "runs.zarr/seconds/c/0/0").write_bytes(b"garbage")
    assert np.isnan(store.seconds()).all()
    assert db.load(tmp_path / "runs.zarr").data.identical(first.data)
