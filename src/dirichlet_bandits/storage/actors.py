"""Who acts: the key with which a service was called. Every event and every change of a study is stored with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_ACTOR: Final[ContextVar[str]] = ContextVar("actor", default="")


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Let everything that this thread or task does be stored under the name of a key.

    >>> with acting_as("field app"):
    ...     actor()
    'field app'
    >>> actor()
    ''
    """
    before = _ACTOR.set(name)
    try:
        yield
    finally:
        _ACTOR.reset(before)


def actor() -> str:
    """Return the name of the key that is being used; an empty text if there is none."""
    return _ACTOR.get()
