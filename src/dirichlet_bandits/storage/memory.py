"""Studies in this process only: for trying things out and for tests."""

import copy
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from dirichlet_bandits.storage.events import Event, Settings
from dirichlet_bandits.storage.forks import fresh_lock_in_children


class MemoryStorage:
    """Events in lists; gone with the process. Threads may share it."""

    url = "memory://"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._settings: dict[str, Settings] = {}
        self._events: dict[str, list[Event]] = {}
        fresh_lock_in_children(self)

    def create(self, name: str, settings: Settings, events: Iterable[Event]) -> bool:
        """Add a study, unless there is one of this name."""
        with self._lock:
            if name in self._settings:
                return False
            self._settings[name], self._events[name] = copy.deepcopy(settings), list(events)
            return True

    def names(self) -> list[str]:
        """All studies."""
        return list(self._settings)

    def settings(self, name: str) -> Settings | None:
        """The settings of a study."""
        return copy.deepcopy(self._settings.get(name))

    def read(self, name: str, after: int = -1, data: bool = False) -> list[Event]:
        """Later events."""
        return self._events[name][after + 1 :]

    @contextmanager
    def transaction(self, name: str) -> Iterator["_Transaction"]:
        """Hold the lock; what was appended counts only if nothing went wrong."""
        with self._lock:
            draft = _Transaction(self._events[name])
            yield draft
            self._events[name].extend(draft.added)


class _Transaction:
    def __init__(self, events: list[Event]) -> None:
        self.events, self.added = events, list[Event]()

    def read(self, after: int) -> list[Event]:
        return self.events[after + 1 :]

    def append(self, events: Iterable[Event]) -> None:
        self.added.extend(events)
