"""Results with known answers."""

import numpy as np
import xarray as xr

import dirichlet_bandits as db


def result(final, half=None):
    """A result whose policies have these regrets at the horizon 100, and at time 50."""
    names = list(final)
    last = np.array([final[name] for name in names], float)
    before = last / 2 if half is None else np.array([half[name] for name in names], float)
    regret = np.stack([before, last], axis=-1)
    data = xr.Dataset(
        {
            "regret": (("policy", "replication", "time"), regret),
            "pulls": (("policy", "replication", "arm"), np.full((*last.shape, 2), 50)),
            "reward": (("policy", "replication"), -last),
        },
        coords={"policy": np.array(names, dtype=object), "time": [50, 100], "arm": ["a", "b"]},
    )
    return db.Result(data)
