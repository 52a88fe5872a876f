"""Parts of a library that are ours for a while."""

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def replaced(owner: Any, name: str, ours: Any) -> Iterator[None]:
    """An attribute of a class or a module, ours until the block ends.

    >>> class Greeting:
    ...     word = "hello"
    >>> with replaced(Greeting, "word", "servus"):
    ...     print(Greeting.word)
    servus
    >>> Greeting.word
    'hello'
    """
    own = name in vars(owner)
    kept = vars(owner).get(name)
    setattr(owner, name, ours)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, kept)
        else:
            delattr(owner, name)
