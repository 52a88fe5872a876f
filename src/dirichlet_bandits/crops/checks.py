"""Checks of the fields of a case: each names the field, what it may be, and what came."""

import math
import re

from dirichlet_bandits.errors import ArgumentError


def number(name: str, value: object, low: float, high: float) -> None:
    """Refuse what is not a finite number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ArgumentError(name, f"a number from {low:g} to {high:g}", value)
    if not low <= value <= high:
        raise ArgumentError(name, f"a number from {low:g} to {high:g}", value)


def whole(name: str, value: object, low: int, high: int) -> None:
    """Refuse what is not a whole number from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ArgumentError(name, f"a whole number from {low} to {high}", value)


def code(name: str, value: object, pattern: str, expected: str) -> None:
    """Refuse what is not a text of the pattern."""
    if not isinstance(value, str) or not re.fullmatch(pattern, value):
        raise ArgumentError(name, expected, value)


def tuple_of(name: str, value: object, kind: type, low: int, high: int) -> None:
    """Refuse what is not a tuple of ``low`` to ``high`` of that class."""
    right = isinstance(value, tuple) and all(isinstance(item, kind) for item in value)
    if not right or not low <= len(value) <= high:  # type: ignore[arg-type]
        count = f"{low}" if low == high else f"{low} to {high}"
        raise ArgumentError(name, f"a tuple of {count} {kind.__name__}", value)
