"""A client in a process of its own: asks and tells, and writes down what was acknowledged, line by line.

``python -m tests.storage.worker URL SEED TRIALS FILE``; a line is written and flushed after a call has returned.
It goes on when the storage fails under it, as a real client would. Any other error ends it with a traceback.
"""

import sys

import numpy as np

import dirichlet_bandits as db


def main(url: str, seed: int, trials: int, path: str) -> None:
    rng = np.random.default_rng(seed)
    study = db.load_study("s", url)
    with open(path, "a", buffering=1) as log:
        for _ in range(trials):
            try:
                for trial in [study.ask()] if rng.random() < 0.8 else study.ask(3):
                    log.write(f"ask {trial.id} {trial.arm}\n")
                    reward = float(rng.random())
                    if rng.random() < 0.05:
                        study.abandon(trial.id)
                        log.write(f"abandon {trial.id}\n")
                    else:
                        study.tell(trial.id, reward)
                        log.write(f"tell {trial.id} {reward!r}\n")
            except db.StorageError as error:
                log.write(f"failed {error}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
