"""Let threads of one process that change the same study at the same time share a commit.

The slow parts of a change are locking the study in the storage and committing. So a thread that has drafted its events
leaves the transaction open if another one is waiting to write, and waits; the last of them stores the events of all
with one commit. Each thread returns only after that commit, so whatever was returned is stored.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final

from dirichlet_bandits.errors import DirichletBanditsError, StorageError
from dirichlet_bandits.storage.events import Row, Transaction

MOST: Final = 32
"""Threads that share a commit; more would let the first of them wait for too long."""

_LOOK_AGAIN: Final = 1.0  # seconds after which a thread sees to the commit itself, should the last one have been killed


class Group:
    """An open transaction, and what its threads have drafted so far."""

    def __init__(self, transaction: AbstractContextManager[Transaction]) -> None:
        self._open = ExitStack()
        self.transaction = self._open.enter_context(transaction)
        self.members = 0
        self._drafted: list[Row] = []
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def add(self, events: list[Row]) -> None:
        """Add the events of one more thread."""
        self._drafted += events
        self.members += 1

    def read(self, after: int) -> Sequence[Row]:
        """Return the events with numbers above ``after``, including those that were drafted."""
        self._write()
        return self.transaction.read(after)

    def _write(self) -> None:
        """Write what was drafted, so that the transaction can read it; nothing is committed."""
        events, self._drafted = self._drafted, []
        self.transaction.append(events)

    def commit(self) -> bool:
        """Store everything, and return whether that succeeded."""
        try:
            with self._open:
                self._write()
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()
        return self._error is None

    def fail(self, error: BaseException) -> None:
        """Abort the transaction and notify all threads."""
        self._error = error
        try:
            self._open.__exit__(type(error), error, error.__traceback__)
        except BaseException as translated:  # the driver's in our words
            self._error = translated
            raise
        finally:
            self._ended.set()

    def wait(self, settle: Callable[[], None]) -> None:
        """Return when the events are stored, or raise the error that occurred."""
        while not self._ended.wait(_LOOK_AGAIN):
            settle()
        if self._error is None:
            return
        if isinstance(self._error, DirichletBanditsError):
            raise type(self._error)(*self._error.args) from self._error  # each thread has its own
        raise StorageError(f"the commit was broken off, it may have been written: {self._error!r}") from self._error
