"""A client of a service in a process of its own: ``python -m tests.service.worker URL KEY SEED TRIALS FILE``.

As ``tests/storage/worker.py``: what was acknowledged is written down, line by line. The service may vanish at any
moment; the client waits for it, and no error is shown.
"""

import sys

import numpy as np

import dirichlet_bandits as db
from tests.storage.worker import ask_and_tell


def main(url: str, key: str, seed: int, trials: int, path: str) -> None:
    rng = np.random.default_rng(seed)
    with db.connect(url, key, patience=300.0) as service, open(path, "a", buffering=1) as log:
        study = service.load_study("s")
        for _ in range(trials):
            ask_and_tell(study, rng, log)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
