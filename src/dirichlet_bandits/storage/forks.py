"""Locks in a forked child, where the threads that held them do not exist."""

import os
import weakref
from typing import Final, Protocol


class Locked(Protocol):
    """An object with its own lock, to be shared by threads."""

    def _renew_lock(self) -> None:
        """Make a new lock, which no thread holds."""


_ALL: Final[weakref.WeakSet[Locked]] = weakref.WeakSet()


def fresh_locks_in_children(owner: Locked) -> None:
    """Give the owner a new lock whenever the process forks. What the lock guards must be consistent at any moment."""
    _ALL.add(owner)


def _after_fork() -> None:
    for owner in _ALL:
        owner._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
