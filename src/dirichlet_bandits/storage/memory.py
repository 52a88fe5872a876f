"""Studies in this process only, for experiments and tests."""

import copy
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice

from dirichlet_bandits.errors import NotFoundError
from dirichlet_bandits.storage.events import (
    ARCHIVED,
    CREATED,
    DELETED,
    RENAMED,
    UNARCHIVED,
    AuditRecord,
    Row,
    Settings,
    actor,
    fresh_locks_in_children,
)


class MemoryStorage:
    """Events in lists, which are lost when the process ends. Threads may share it."""

    url = "memory://"

    def __init__(self) -> None:
        self._renew_lock()
        self._settings: dict[str, Settings] = {}
        self._events: dict[str, list[Row]] = {}
        self._archived: set[str] = set()
        self._audit_log: list[AuditRecord] = []
        fresh_locks_in_children(self)

    def _renew_lock(self) -> None:
        self._lock = threading.RLock()

    def create(self, name: str, settings: Settings, events: Iterable[Row]) -> bool:
        """Add a study, unless one of this name exists."""
        with self._lock:
            token = settings.get("token")
            if name in self._settings or (token is not None and self.created_by(token, name) is not None):
                return False
            self._settings[name], self._events[name] = copy.deepcopy(settings), list(events)
            self._record(CREATED, name, token)
            return True

    def created_by(self, token: str, name: str) -> str | None:
        """Return the identity of the study that a call with this token created by this name; it may be gone."""
        found = (entry for entry in list(self._audit_log) if entry.what == CREATED)
        return next((entry.identity for entry in found if (entry.note, entry.study) == (token, name)), None)

    def named(self, identity: str, name: str) -> str | None:
        """Return the name that the study with this identity has now; an older one, without, is found by its name."""
        here = [name] if not identity else list(self._settings)
        found = (one for one in here if self._settings.get(one, {"identity": None}).get("identity", "") == identity)
        return next(found, None)

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of all studies that are archived, or of those that are not."""
        return [name for name in list(self._settings) if (name in self._archived) == archived]

    def settings(self, name: str) -> Settings | None:
        """Return the settings of a study."""
        return copy.deepcopy(self._settings.get(name))

    def read(self, name: str, after: int = -1, data: bool = False) -> list[Row]:
        """Return the events with numbers above ``after``."""
        return self._found(name)[after + 1 :]

    def newest(self, name: str, limit: int, below: int | None = None, trial: int | None = None) -> list[Row]:
        """Return the newest events of a study, or of one of its trials, newest first."""
        earlier = reversed(self._found(name)[:below])
        return list(islice((event for event in earlier if trial is None or event.trial == trial), limit))

    def audit_log(self, limit: int, name: str | None = None) -> list[AuditRecord]:
        """Return what was done to studies, or to one of them, newest first."""
        identity = self._settings.get(name, {}).get("identity", "") if name is not None else ""
        found = [
            entry
            for entry in self._audit_log
            if name is None or (entry.identity == identity if identity else entry.study == name)
        ]
        return found[::-1][:limit]

    def _record(self, what: str, name: str, note: str | None = None) -> None:
        identity = str(self._settings[name].get("identity", ""))
        self._audit_log.append(AuditRecord(time.time(), what, name, identity, note, actor()))

    @contextmanager
    def transaction(self, name: str) -> Iterator["_MemoryTransaction"]:
        """Hold the lock; keep what was appended only if no exception is raised."""
        with self._lock:
            draft = _MemoryTransaction(self, self._found(name), name)
            yield draft
            draft.events.extend(draft.added)
            for change in draft.changes:
                change()

    def _found(self, name: str) -> list[Row]:
        if name not in self._events:
            raise NotFoundError(f"no study {name!r}")
        return self._events[name]

    def _rename(self, old: str, new: str) -> None:
        self._record(RENAMED, old, new)
        self._settings = {new if name == old else name: settings for name, settings in self._settings.items()}
        self._events[new] = self._events.pop(old)
        if old in self._archived:
            self._archived = {*self._archived - {old}, new}

    def _archive(self, name: str, at: float | None) -> None:
        self._record(UNARCHIVED if at is None else ARCHIVED, name)
        self._archived.discard(name) if at is None else self._archived.add(name)

    def _delete(self, name: str) -> None:
        self._record(DELETED, name)
        self._archived.discard(name)
        del self._settings[name], self._events[name]


class _MemoryTransaction:
    def __init__(self, storage: MemoryStorage, events: list[Row], name: str) -> None:
        self.storage, self.events, self.name = storage, events, name
        self.added: list[Row] = []
        self.changes: list[Callable[[], object]] = []

    def read(self, after: int) -> list[Row]:
        return self.events[after + 1 :]

    def settings(self) -> Settings:
        return copy.deepcopy(self.storage._settings[self.name])

    def append(self, events: Iterable[Row]) -> None:
        self.added.extend(events)

    def rename(self, name: str) -> bool:
        if name in self.storage._settings:
            return False
        self.changes.append(partial(self.storage._rename, self.name, name))
        return True

    def archive(self, at: float | None) -> None:
        self.changes.append(partial(self.storage._archive, self.name, at))

    def record(self, what: str, note: str) -> None:
        self.changes.append(partial(self.storage._record, what, self.name, note))

    def delete(self) -> None:
        self.changes.append(partial(self.storage._delete, self.name))
