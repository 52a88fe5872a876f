"""The studies that a service has open: one object per study, shared by all threads of the process."""

import copy
import threading

from dirichlet_bandits.errors import (
    ArgumentError,
    ConflictError,
    DirichletBanditsError,
    NotFoundError,
    ReplacedError,
)
from dirichlet_bandits.live import Study, load_study
from dirichlet_bandits.live.following import has_done, is_stored_as
from dirichlet_bandits.live.happened import MOST_ACTS, Done, done
from dirichlet_bandits.storage import Storage


class OpenStudies:
    """Studies by name, opened when first needed; each study reads what other processes write."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._open: dict[str, Study] = {}
        self.expected: str | None = None  # the identity that the caller expects

    def expecting(self, identity: str | None) -> "OpenStudies":
        """Return the same studies for a caller who expects this identity, or any identity if it is None."""
        seen = copy.copy(self)
        seen.expected = identity
        return seen

    def study(self, name: str) -> Study:
        """Return the study of this name."""
        found = self._open.get(name)
        if found is None:
            found = self._load(name)
        if self.expected not in (None, found.identity):
            raise ReplacedError(f"the study {name!r} was replaced by another one of this name: load it again", name)
        return found

    def _load(self, name: str) -> Study:
        if self.storage.settings(name) is None:
            raise NotFoundError(f"no study {name!r}")  # without the storage's URL, which callers must not see
        try:
            loaded = load_study(name, self.storage)
        except ArgumentError:
            raise ConflictError(f"the study {name!r} has a custom policy, which no service can load") from None
        return self.keep(loaded)

    def rename(self, old: str, new: str, token: str | None = None) -> None:
        """Rename a study, here and in the storage, unless a call with this token has done so before."""
        if token is not None and self._has_done(new, token):
            return
        study = self.study(old)
        study.rename(new, token=token)
        if study.name != old:
            self.forget(old)
            self.keep(study)

    def _has_done(self, name: str, token: str) -> bool:
        try:
            return has_done(self.study(name), token)
        except DirichletBanditsError:  # no such study, or not the expected one
            return False

    def acts(self) -> list[Done]:
        """Return what was done to studies as a whole, newest first, also to those that were deleted."""
        return [done(act) for act in self.storage.acts(MOST_ACTS)]

    def forget(self, name: str) -> None:
        """Drop a study from the cache."""
        with self._lock:
            self._open.pop(name, None)

    def refresh(self, name: str) -> bool:
        """Drop a study from the cache if it is no longer the stored one, and return whether it was dropped."""
        found, stored = self._open.get(name), self.storage.settings(name)
        if found is None or (stored is not None and is_stored_as(found, stored)):
            return False
        self.forget(name)
        return True

    def keep(self, study: Study) -> Study:
        """Keep a study open, and return it, or the object that was open first if both are the same study."""
        with self._lock:
            first = self._open.get(study.name)
            if first is None or first.identity != study.identity:
                self._open[study.name] = first = study
            return first
