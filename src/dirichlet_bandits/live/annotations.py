"""Notes and attributes that users add to trials. No decision depends on them."""

import json
import numbers
from collections.abc import Mapping
from typing import Any, Final

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.validation import finite_number

LONGEST_NOTE: Final = 1000
MOST_ATTRIBUTES: Final = 50

LARGEST_INTEGER: Final = 10**300
"""Integers from it on are refused: a reader of JSON need not take more digits than the largest doubles have."""

Attributes = Mapping[str, str | int | float | bool | None]


def annotation(note: str | None, attributes: Attributes | None) -> dict[str, Any]:
    """Check a note and attributes and return what is to be stored; empty if there is nothing.

    >>> annotation("hail in May", {"plot": 7, "irrigated": True})
    {'note': 'hail in May', 'attributes': {'plot': 7, 'irrigated': True}}
    >>> annotation(None, {"plot": [1]})
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'attributes['plot']' must be a text, a number, True, False or None (got [1])
    """
    said: dict[str, Any] = {}
    if note is not None:
        said["note"] = _text("note", note)
    if attributes is not None:
        said["attributes"] = checked_attributes("attributes", attributes)
    return said


def checked_attributes(field: str, given: object) -> dict[str, Any]:
    """Check attributes and return them as they are stored."""
    if not isinstance(given, Mapping) or len(given) > MOST_ATTRIBUTES:
        raise ArgumentError(field, f"at most {MOST_ATTRIBUTES} values by name", given)
    return {checked_name(field, key): _value(key, x) for key, x in given.items()}


def merged(known: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotation after an update: a new note replaces the old one, and None removes an attribute."""
    attributes = {**known.get("attributes", {}), **said.get("attributes", {})}
    attributes = {key: value for key, value in attributes.items() if value is not None}
    note = said.get("note", known.get("note"))
    return {**({} if note is None else {"note": note}), **({"attributes": attributes} if attributes else {})}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two annotations are written in the same way, where 1, 1.0 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def written(attributes: Mapping[str, Any] | None) -> str | None:
    """Return attributes as one text, for tables and files."""
    return None if not attributes else json.dumps(attributes, ensure_ascii=False, sort_keys=True)


def _value(key: str, x: object) -> str | int | float | bool | None:
    if x is None or isinstance(x, bool):
        return x
    if isinstance(x, str):
        return _text(f"attributes[{key!r}]", x)
    if isinstance(x, numbers.Integral):
        if abs(int(x)) >= LARGEST_INTEGER:
            raise ArgumentError(f"attributes[{key!r}]", "an integer of at most 300 digits", "one of more")
        return int(x)  # a float would round those beyond 2**53
    try:
        return finite_number(f"attributes[{key!r}]", x)
    except ArgumentError:
        raise ArgumentError(f"attributes[{key!r}]", "a text, a number, True, False or None", x) from None


def _text(name: str, x: object) -> str:
    good = isinstance(x, str) and 0 < len(x) <= LONGEST_NOTE and all(c.isprintable() or c in "\n\t" for c in x)
    if not isinstance(x, str) or not good:
        raise ArgumentError(name, f"a text of 1 to {LONGEST_NOTE} characters", x)
    return x
