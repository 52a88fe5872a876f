"""The studies that a service has open: one object per study, shared by all threads of the process."""

import copy
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from dirichlet_bandits.errors import AccessError, ArgumentError, ConflictError, NotFoundError, ReplacedError
from dirichlet_bandits.live import Study, load_study
from dirichlet_bandits.live.local import is_stored_as, local_of, renamed_before
from dirichlet_bandits.live.operation import Operation
from dirichlet_bandits.live.readings import MOST_ENTRIES, AuditEntry, audit_entry
from dirichlet_bandits.service.calls import ServiceCall
from dirichlet_bandits.service.keys import MANAGE, NO_KEY, READ, WRITE, Key
from dirichlet_bandits.storage import Storage
from dirichlet_bandits.storage.events import RENAMED

R = TypeVar("R")


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
        """Return the studies for the holder of a key, who does something that needs a role; refuse one without it."""
        if not key.may(needed):
            raise AccessError(may_only(WRITE if key.may(WRITE) else READ))
        seen = copy.copy(self)
        seen._key, seen._needed = key, needed
        return seen

    def expecting(self, identity: str | None) -> "OpenStudies":
        """Return the same studies for a caller who expects this identity, or any identity if it is None."""
        seen = copy.copy(self)
        seen.expected = identity
        return seen

    def do(self, operation: Operation[Any], name: str, token: str | None) -> Any:
        """Carry out an operation of the study of this name, or of the service."""
        if isinstance(operation, ServiceCall):
            return self.retried(lambda: operation.carry_out(self, name, token))
        return self.retried(lambda: local_of(self.study(name)).do(operation, token))

    def retried(self, act: Callable[[], R]) -> R:
        """Act, and act again with the study as it is stored now if the open study has been replaced."""
        try:
            return act()
        except ReplacedError as error:
            if not self.is_outdated(error):
                raise
        return act()  # the first attempt has changed nothing

    def is_outdated(self, error: ReplacedError) -> bool:
        """Whether the study that was replaced was an open one, which is then dropped."""
        return error.study is not None and self.refresh(error.study)

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

    def check_found(self, name: str, asked: str) -> None:
        """Refuse a key that may not read the study that it asked for by the name that others have given it since."""
        if self._key.role(name) is None:
            raise NotFoundError(f"no study {asked!r} any more")

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

    def rename(self, old: str, new: str, token: str | None = None) -> str:
        """Rename a study, unless a call with this token did so before, and return the name that it has now."""
        self.check(old)
        self.check_new(new)
        now = self._renamed_before(old, new, token)
        if now is None:
            try:
                study = self.study(old)
                study.rename(new, token=token)
            except (NotFoundError, ReplacedError):  # another attempt of this call may have been faster
                now = self._renamed_before(old, new, token)
                if now is None:
                    raise
            else:
                self.forget(old)
                now = self.keep(study).name
        self.check_found(now, old)
        return now

    def _renamed_before(self, old: str, new: str, token: str | None) -> str | None:
        """Return the present name of the study if a call with this token has renamed it, whatever others did since.

        A caller who expects no identity means the study that such a call took this name from.
        """
        identity = self.expected
        if identity is None and token is not None:
            renamed = (entry for entry in self.storage.audit_log(MOST_ENTRIES) if entry.what == RENAMED)
            identity = next((entry.identity for entry in renamed if (entry.study, entry.note) == (old, new)), None)
        return None if identity is None else renamed_before(self.storage, identity, new, token)

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
        if found is None or (stored is not None and is_stored_as(local_of(found), stored)):
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
