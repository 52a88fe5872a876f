"""Fields of a case that declare their allowed values, which are checked whenever a case is made.

A field is declared in the body of a dataclass, ``albedo: float = number(0.01, 0.99, default=0.15)``, and
``__post_init__`` calls :func:`check_fields`.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.validation import number_within, text_like, tuple_of, whole_number

Check = Callable[[str, Any], Any]


def number(low: float, high: float, **default: Any) -> Any:
    """Declare a field that is a number from ``low`` to ``high``."""
    return _field(lambda name, value: number_within(name, value, low, high), default)


def whole(low: int, high: int, **default: Any) -> Any:
    """Declare a field that is a whole number from ``low`` to ``high``."""
    return _field(lambda name, value: whole_number(name, value, at_least=low, at_most=high), default)


def code(pattern: str, expected: str, **default: Any) -> Any:
    """Declare a field that is text of this pattern, which messages call ``expected``."""
    return _field(lambda name, value: text_like(name, value, pattern, expected), default)


def several(kind: type, low: int, high: int, **default: Any) -> Any:
    """Declare a field that is a tuple of ``low`` to ``high`` objects of this class."""
    return _field(lambda name, value: tuple_of(name, value, kind, low, high), default)


def part(kind: type) -> dict[str, Check]:
    """Return the metadata of a field that is an object of this class, made by a ``default_factory``."""

    def check(name: str, value: object) -> object:
        if not isinstance(value, kind):
            raise ArgumentError(name, f"a {kind.__name__}", value)
        return value

    return {"check": check}


def _field(check: Check, default: dict[str, Any]) -> Any:
    return dataclasses.field(metadata={"check": check}, **default)


def check_fields(item: Any, prefix: str = "") -> None:
    """Refuse an object if a field is not what it is declared to be; ``prefix`` names where the object belongs."""
    for field in dataclasses.fields(item):
        checked = field.metadata["check"](prefix + field.name, getattr(item, field.name))
        object.__setattr__(item, field.name, checked)
