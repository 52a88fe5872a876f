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
    case: Case = _made(Case, PUBLISHED, values, "")
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


def _made(kind: type, base: object, values: object, where: str) -> Any:
    """Return an object of a class from a table; fields that it leaves out are those of ``base``, if there is one."""
    if not isinstance(values, Mapping):
        raise ArgumentError(where, "a table", values)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    given = {} if base is None else {name: getattr(base, name) for name in fields}
    for key, value in values.items():
        path = f"{where}.{key}".removeprefix(".")
        if key not in fields:
            raise ArgumentError(path, one_of(fields), value)
        if item := _ITEMS.get((kind, key)):
            if not isinstance(value, list | tuple):
                raise ArgumentError(path, "a list of tables", value)
            value = tuple(_made(item, None, one, path) for one in value)
        elif dataclasses.is_dataclass(old := given.get(key)):
            value = _made(type(old), old, value, path)
        given[key] = value
    for name, field in fields.items():
        if name not in given and field.default is dataclasses.MISSING:
            raise ArgumentError(f"{where}.{name}", "given", "nothing")
    return kind(**given)
