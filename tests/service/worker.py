"""A client of a service: as ``tests/storage/worker.py``, what was acknowledged is written down, line by line.

The service may vanish at any moment; the client waits for it, and no error is shown.
"""

import numpy as np

import dirichlet_bandits as db
from tests.storage.worker import ask_and_tell


def main(url, key, seed, trials, path):
    rng = np.random.default_rng(seed)
    with db.connect(url, key, patience=300.0) as service, path.open("a", buffering=1) as log:
        study = service.load_study("s")
        for _ in range(trials):
            ask_and_tell(study, rng, log)
