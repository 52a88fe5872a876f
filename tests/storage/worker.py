"""A client: asks and tells, and writes down what was acknowledged; a line is flushed after a call has returned.

It goes on when the storage fails under it, as a real client would. Any other error ends it with a traceback.
"""

from pathlib import Path
from typing import Any, TextIO

import numpy as np

import dirichlet_bandits as db


def ask_and_tell(study: Any, rng: np.random.Generator, log: TextIO) -> None:
    """One ask, for one trial or three, and what becomes of them."""
    for trial in [study.ask()] if rng.random() < 0.8 else study.ask(3):
        log.write(f"ask {trial.id} {trial.arm}\n")
        reward = float(rng.random())
        if rng.random() < 0.05:
            study.abandon(trial.id)
            log.write(f"abandon {trial.id}\n")
        else:
            study.tell(trial.id, reward)
            log.write(f"tell {trial.id} {reward!r}\n")


def main(url: str, seed: int, trials: int, path: Path) -> None:
    rng = np.random.default_rng(seed)
    study = db.load_study("s", url)
    with path.open("a", buffering=1) as log:
        for _ in range(trials):
            try:
                ask_and_tell(study, rng, log)
            except db.StorageError as error:
                log.write(f"failed {error}\n")
