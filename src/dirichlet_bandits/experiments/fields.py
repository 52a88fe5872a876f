"""Read TOML tables field by field; errors name a field by its path in the file."""

from collections.abc import Collection, Mapping
from typing import Any

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.specs import FieldError


def text(name: str, value: object) -> str:
    """Return the value if it is a text, else raise an error.

    >>> text("title", 3)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'title' must be a text (got 3)
    """
    if not isinstance(value, str):
        raise ArgumentError(name, "a text", value)
    return value


def name_list(name: str, value: object, known: Collection[str] | None = None) -> list[str]:
    """Return the value if it is a list of known names, else raise an error.

    >>> name_list("policies", ["RDS", "RSD"], known=["RDS", "BDS"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'policies' must be made of 'RDS', 'BDS' (got 'RSD')
    """
    if not isinstance(value, list | tuple) or not value or not all(isinstance(entry, str) for entry in value):
        raise ArgumentError(name, "a list of names", value)
    for entry in value:
        if known is not None and entry not in known:
            raise ArgumentError(name, "made of " + one_of(known).removeprefix("one of "), entry)
    return list(value)


def only_known(prefix: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse keys that are not known."""
    for key in table:
        if key not in known:
            raise FieldError(f"'{prefix}{key}' is not a key of an experiment (known here: {', '.join(known)})")


def required(content: Mapping[str, Any], keys: Collection[str], prefix: str = "") -> None:
    """Refuse content that lacks a key."""
    for key in keys:
        if key not in content:
            raise FieldError(f"'{prefix}{key}' is missing")


def tables(content: Mapping[str, Any], key: str, kind: str) -> list[dict[str, Any]]:
    """Return the tables ``[[key]]``, each of which describes a ``kind``."""
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise ArgumentError(key, f"tables written [[{key}]], each with its {kind}", found)
    return found


def names(where: str, given: list[dict[str, Any]], defaults: list[str]) -> list[str]:
    """Return the names of tables, all different."""
    found: list[str] = []
    for k, (table, default) in enumerate(zip(given, defaults, strict=True)):
        name = table.get("name", default)
        if not isinstance(name, str) or not name:
            raise ArgumentError(f"{where}[{k}].name", "a text that is not empty", name)
        if name in found:
            raise ArgumentError(f"{where}[{k}].name", "different from the names before it", name)
        found.append(name)
    return found
