"""The studies that a service has open: one object per study, shared by all threads of the process."""

import copy
import threading

from dirichlet_bandits.errors import (
    AccessError,
    ArgumentError,
    ConflictError,
    DirichletBanditsError,
    NotFoundError,
    ReplacedError,
)
from dirichlet_bandits.live import Study, load_study
from dirichlet_bandits.live.audit import MOST_ENTRIES, AuditEntry, audit_entry
from dirichlet_bandits.live.study_state import has_done, is_stored_as
from dirichlet_bandits.service.keys import MANAGE, NO_KEY, READ, Key
from dirichlet_bandits.storage import Storage
from dirichlet_bandits.storage.events import RENAMED


def may_only(role: str) -> str:
    """Return the refusal of a key whose role is too low."""
    return "this key may only read" if role == READ else "this key may ask and tell, but not manage studies"


class OpenStudies:
    """Studies by name, opened when first needed; each study reads what other processes write."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = threading.Lock()
        self._open: dict[str, Study] = {}
        self.expected: str | None = None  # the identity that the caller expects
        self._key, self._needed = NO_KEY, READ

    def seen_by(self, key: Key, needed: str) -> "OpenStudies":
        """Return the studies for the holder of a key, who does something that needs a role."""
        seen = copy.copy(self)
        seen._key, seen._needed = key, needed
        return seen

    def expecting(self, identity: str | None) -> "OpenStudies":
        """Return the same studies for a caller who expects this identity, or any identity if it is None."""
        seen = copy.copy(self)
        seen.expected = identity
        return seen

    def check(self, name: str) -> None:
        """Refuse a key that lacks the role; a study that it may not read is not found, whether it exists or not."""
        role = self._key.role(name)
        if role is None:
            raise NotFoundError(f"no study {name!r}")
        if not self._key.may(self._needed, name):
            raise AccessError(may_only(role))

    def check_new(self, name: str) -> None:
        """Refuse a key that may not create a study of this name, whether it exists or not."""
        if not self._key.may(MANAGE, name):
            raise AccessError("this key may not create a study of this name")

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that the key may read, oldest first."""
        return [name for name in self.storage.names(archived) if self._key.role(name) is not None]

    def study(self, name: str) -> Study:
        """Return the study of this name."""
        self.check(name)
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
        self.check(old)
        self.check_new(new)
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

    def audit_log(self, name: str | None = None) -> list[AuditEntry]:
        """Return what was done to studies, or to one of them, newest first, as far as the key may read their names."""
        if name is None:
            found = [audit_entry(entry) for entry in self.storage.audit_log(MOST_ENTRIES)]
        else:
            found = self.study(name).audit_log()
        named = [(entry, [entry.study, *([str(entry.note)] if entry.what == RENAMED else [])]) for entry in found]
        return [entry for entry, names in named if all(map(self._key.role, names))]

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
