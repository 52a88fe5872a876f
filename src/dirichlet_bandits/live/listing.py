"""List all studies of a storage."""

from typing import NamedTuple

from dirichlet_bandits.errors import NotFoundError, ReplacedError
from dirichlet_bandits.live import frames
from dirichlet_bandits.live.opening import load_study
from dirichlet_bandits.live.reading import LEVEL
from dirichlet_bandits.storage import Storage, open_storage


class Listed(NamedTuple):
    """One study: its policy as text, its numbers of arms, trials and pending trials, and its best arm, if any."""

    study: str
    policy: str
    arms: int
    trials: int
    pending: int
    best: str | None


def list_studies(storage: str | Storage, *, archived: bool = False) -> list[Listed]:
    """Return the studies that are not archived, or those that are; each is read once, without building tables.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("maize", arms=["early", "late"], seed=1)
    >>> list_studies(study.storage)
    [Listed(study='maize', policy="RDS(rho='sqrt-log', level=None)", arms=2, trials=0, pending=0, best=None)]
    """
    place = open_storage(storage)
    found = []
    for name in place.names(archived):
        try:
            study = load_study(name, place)
            journal = study._read()
        except (NotFoundError, ReplacedError):  # deleted or renamed in the meantime
            continue
        best = frames.best(journal, study.policy, LEVEL, study._direction, study._limits).arm
        counts = len(journal.active_arms()), len(journal.arm_of), len(journal.pending)
        found.append(Listed(name, repr(study.policy), *counts, best))
    return found
