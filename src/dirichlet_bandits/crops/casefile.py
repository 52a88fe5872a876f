"""Read a case from plain data or a TOML file; fields that are left out keep their published values."""

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dirichlet_bandits.crops.climate import Climate, Month
from dirichlet_bandits.crops.season import PUBLISHED, Case, Fertilizer
from dirichlet_bandits.crops.soil import Soil, SoilLayer
from dirichlet_bandits.errors import ArgumentError, one_of

_ITEMS: dict[tuple[type, str], type] = {
    (Soil, "layers"): SoilLayer,
    (Climate, "months"): Month,
    (Case, "fertilizer"): Fertilizer,
}


def case_from_mapping(values: Mapping[str, Any]) -> Case:
    """Return a case from plain data; fields that are left out keep their published values.

    >>> case_from_mapping({"cultivar": "PC0001", "soil": {"runoff_curve": 80.0}}).soil.runoff_curve
    80.0
    >>> case_from_mapping({"soil": {"color": "red"}})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'soil.color' must be one of 'name', 'albedo', ...
    """
    case = _override(PUBLISHED, values, "")
    assert isinstance(case, Case)
    return case


def case_from_toml(path: str | Path) -> Case:
    """Read a case from a TOML file with the fields of :class:`Case`; lists (``[[fertilizer]]``) are replaced entirely.

    A file that contains only ``cultivar = "PC0001"`` changes only the cultivar.
    """
    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except FileNotFoundError:
        raise ArgumentError("case", "the path of a TOML file", str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError("case", f"a TOML file ({error})", str(path)) from None
    return case_from_mapping(values)


def _override(base: Any, values: Mapping[str, Any], prefix: str) -> Any:
    """Return a dataclass with some fields changed, in nested tables too; refuse unknown keys, naming their path."""
    names = [field.name for field in dataclasses.fields(base)]
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in names:
            raise ArgumentError(prefix + key, one_of(names), value)
        old = getattr(base, key)
        if (type(base), key) in _ITEMS:
            changes[key] = _items(_ITEMS[type(base), key], value, prefix + key)
        elif dataclasses.is_dataclass(old):
            if not isinstance(value, Mapping):
                raise ArgumentError(prefix + key, "a table", value)
            changes[key] = _override(old, value, f"{prefix}{key}.")
        else:
            changes[key] = value
    return dataclasses.replace(base, **changes)


def _items(kind: type, values: object, name: str) -> tuple[Any, ...]:
    """Return a list of tables as objects of a class."""
    if not isinstance(values, list | tuple):
        raise ArgumentError(name, "a list of tables", values)
    return tuple(_item(kind, value, name) for value in values)


def _item(kind: type, value: object, name: str) -> Any:
    """Return one table as an object of a class."""
    if not isinstance(value, Mapping):
        raise ArgumentError(name, "a list of tables", value)
    names = [field.name for field in dataclasses.fields(kind)]
    for key in value:
        if key not in names:
            raise ArgumentError(f"{name}.{key}", one_of(names), value[key])
    needed = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
    for key in needed:
        if key not in value:
            raise ArgumentError(f"{name}.{key}", "given", "nothing")
    return kind(**value)
