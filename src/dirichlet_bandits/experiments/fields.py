"""Read TOML tables field by field; errors name a field by its path in the file."""

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, ParamSpec, TypeVar

from dirichlet_bandits.errors import ArgumentError, name_of, one_of

P = ParamSpec("P")
T = TypeVar("T")


class FieldError(Exception):
    """A key is missing, unknown or invalid; ``reading`` turns this into a FormatError that names the file."""


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


def one_table(content: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    """Return the table ``[key]``, or None if it is missing."""
    table = content.get(key)
    if table is not None and not isinstance(table, dict):
        raise ArgumentError(key, f"a table, written [{key}]", table)
    return table


def tables(content: Mapping[str, Any], key: str, kind: str) -> list[dict[str, Any]]:
    """Return the tables ``[[key]]``, each of which describes a ``kind``."""
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(table, dict) for table in found):
        raise ArgumentError(key, f"tables written [[{key}]], each with its {kind}", found)
    return found


MANY = 16
"""If there are more names than this, an error suggests the most similar ones instead of listing all."""


def choose(where: str, kind: str, known: Mapping[str, Callable[..., T]], table: Mapping[str, Any]) -> T:
    """Make what ``table[kind]`` names, with the table's other keys as parameters, except "name"."""
    if kind not in table:
        raise FieldError(f"'{where}.{kind}' is missing: {one_of(known)}")
    if not isinstance(table[kind], str) or table[kind] not in known:
        expected = one_of(known) if len(known) <= MANY else name_of(f"a {kind}", known, table[kind])
        raise ArgumentError(f"{where}.{kind}", expected, table[kind])
    parameters = {key: value for key, value in table.items() if key not in ("name", kind)}
    return make(where, known[table[kind]], parameters, called=table[kind])


def make(where: str, maker: Callable[..., T], parameters: Mapping[str, Any], called: str) -> T:
    """Call ``maker`` after checking that no parameter is unknown or missing."""
    signature = inspect.signature(maker).parameters
    for key in parameters:
        if key not in signature:
            has = ", ".join(signature) if signature else "none"
            raise FieldError(f"'{where}.{key}' is not a parameter of {called} (its parameters: {has})")
    for key, parameter in signature.items():
        if parameter.default is parameter.empty and key not in parameters:
            raise FieldError(f"'{where}.{key}' is missing: {called} needs it")
    try:
        return under(where, maker, **parameters)
    except TypeError as error:  # a value of a type that the class does not expect, such as a list for a word
        raise FieldError(f"'{where}' does not fit {called}: {error}") from error


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


def under(where: str, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call ``act``, and let its argument errors name the path in the file."""
    try:
        return act(*args, **kwargs)
    except ArgumentError as error:
        name, expected, got = error.args
        raise ArgumentError(f"{where}.{name}", expected, got) from error
