"""Studies in this process only, for experiments and tests."""

import copy
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice

from dirichlet_bandits.errors import NotFoundError
from dirichlet_bandits.storage import events as stored
from dirichlet_bandits.storage.events import AuditRecord, Row, Settings, actor, fresh_locks_in_children


class MemoryStorage:
    """Events in lists, which are lost when the process ends. Threads may share it."""

    url = "memory://"

    def __init__(self) -> None:
        self._renew_lock()
        self._studies: dict[str, _Kept] = {}
        self._audit_log: list[AuditRecord] = []
        fresh_locks_in_children(self)

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()

    def create(self, name: str, settings: Settings, events: Iterable[Row]) -> bool:
        """Add a study, unless one of this name exists."""
        with self._lock:
            token = settings.get("token")
            if name in self._studies or (token is not None and self.created_by(token, name) is not None):
                return False
            self._studies[name] = _Kept(copy.deepcopy(settings), list(events))
            self._record(stored.CREATED, name, token)
            return True

    def created_by(self, token: str, name: str) -> str | None:
        """Return the identity of the study that a call with this token created by this name; it may be gone."""
        found = (entry for entry in list(self._audit_log) if entry.what == stored.CREATED)
        return next((entry.identity for entry in found if (entry.note, entry.study) == (token, name)), None)

    def named(self, identity: str, name: str) -> str | None:
        """Return the name that the study with this identity has now; an older one, without, is found by its name."""
        here = [(one, kept) for one, kept in list(self._studies.items()) if identity or one == name]
        return next((one for one, kept in here if kept.identity == identity), None)

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of all studies that are archived, or of those that are not."""
        return [name for name, kept in list(self._studies.items()) if kept.archived == archived]

    def settings(self, name: str) -> Settings | None:
        """Return the settings of a study."""
        return copy.deepcopy(self._studies[name].settings) if name in self._studies else None

    def read(self, name: str, after: int = -1, data: bool = False) -> list[Row]:
        """Return the events with numbers above ``after``."""
        return self._found(name).events[after + 1 :]

    def newest(self, name: str, limit: int, below: int | None = None, trial: int | None = None) -> list[Row]:
        """Return the newest events of a study, or of one of its trials, newest first."""
        earlier = reversed(self._found(name).events[:below])
        return list(islice((event for event in earlier if trial is None or event.trial == trial), limit))

    def audit_log(self, limit: int, name: str | None = None) -> list[AuditRecord]:
        """Return what was done to studies, or to one of them, newest first."""
        identity = self._studies[name].identity if name in self._studies else ""
        whole, found = name is None, self._audit_log
        found = [one for one in found if whole or (one.identity == identity if identity else one.study == name)]
        return found[::-1][:limit]

    def _record(self, what: str, name: str, note: str | None = None) -> None:
        self._audit_log.append(AuditRecord(time.time(), what, name, self._studies[name].identity, note, actor()))

    @contextmanager
    def transaction(self, name: str) -> Iterator["_MemoryTransaction"]:
        """Hold the lock; keep what was appended only if no exception is raised."""
        with self._lock:
            draft = _MemoryTransaction(self, self._found(name), name)
            yield draft
            for change in draft.changes:
                change()

    def _found(self, name: str) -> "_Kept":
        if name not in self._studies:
            raise NotFoundError(f"no study {name!r}")
        return self._studies[name]

    def _rename(self, old: str, new: str) -> None:
        self._record(stored.RENAMED, old, new)
        self._studies = {new if name == old else name: kept for name, kept in self._studies.items()}

    def _archive(self, name: str, at: float | None) -> None:
        self._record(stored.UNARCHIVED if at is None else stored.ARCHIVED, name)
        self._studies[name].archived = at is not None

    def _delete(self, name: str) -> None:
        self._record(stored.DELETED, name)
        del self._studies[name]


@dataclass
class _Kept:
    settings: Settings
    events: list[Row]
    archived: bool = False

    @property
    def identity(self) -> str:
        return str(self.settings.get("identity", ""))


class _MemoryTransaction:
    def __init__(self, storage: MemoryStorage, kept: _Kept, name: str) -> None:
        self.storage, self.kept, self.name = storage, kept, name
        self.changes: list[Callable[[], object]] = []

    def read(self, after: int) -> list[Row]:
        return self.kept.events[after + 1 :]

    def settings(self) -> Settings:
        return copy.deepcopy(self.kept.settings)

    def append(self, events: Iterable[Row]) -> None:
        self.changes.append(partial(self.kept.events.extend, list(events)))

    def rename(self, name: str) -> bool:
        if name in self.storage._studies:
            return False
        self.changes.append(partial(self.storage._rename, self.name, name))
        return True

    def archive(self, at: float | None) -> None:
        self.changes.append(partial(self.storage._archive, self.name, at))

    def record(self, what: str, note: str) -> None:
        self.changes.append(partial(self.storage._record, what, self.name, note))

    def delete(self) -> None:
        self.changes.append(partial(self.storage._delete, self.name))
