"""Locks in a forked child: whoever held them is not there."""

import os
import weakref
from typing import Final, Protocol


class Locked(Protocol):
    """Something with a lock of its own, to be shared by threads."""

    def _renew_lock(self) -> None:
        """Make a new lock, which nobody holds."""


_ALL: Final[weakref.WeakSet[Locked]] = weakref.WeakSet()


def fresh_locks_in_children(owner: Locked) -> None:
    """Give the owner a new lock whenever the process forks. What the lock guards must be whole at any moment."""
    _ALL.add(owner)


def _after_fork() -> None:
    for owner in _ALL:
        owner._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
