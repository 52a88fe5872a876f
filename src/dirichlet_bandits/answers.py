"""Answers of operations as JSON, and back: NamedTuples, dataclasses, lists, times and numbers."""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

from dirichlet_bandits.declared import Check, Declared


class Null(NamedTuple):
    """What null stands for in a number of an answer, if not NaN: ``Annotated[float, Null(math.inf)]``."""

    value: float


def written(x: Any) -> Any:
    """Return an answer as JSON holds it: objects by field, times as text, null for NaN and infinities.

    >>> written([1.5, math.nan, (1, "a")])
    [1.5, None, [1, 'a']]
    """
    if isinstance(x, float):
        return float(x) if math.isfinite(x) else None
    if x is None or isinstance(x, str | int):
        return x
    if isinstance(x, datetime):
        return x.astimezone(UTC).isoformat()
    if isinstance(x, Declared):
        return x.as_json()
    if hasattr(x, "_asdict"):
        return {name: written(value) for name, value in x._asdict().items()}
    if dataclasses.is_dataclass(x):
        return {field.name: written(getattr(x, field.name)) for field in dataclasses.fields(x)}
    if isinstance(x, Mapping):
        return {str(name): written(value) for name, value in x.items()}
    if isinstance(x, Sequence):
        return [written(value) for value in x]
    return written(x.item())  # a number of NumPy


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def read_as(hint: Any, x: Any) -> Any:
    """Return an answer of this type from JSON; the inverse of :func:`written`.

    >>> class Row(NamedTuple):
    ...     arm: str
    ...     high: Annotated[float, Null(math.inf)]
    >>> read_as(list[Row], [{"arm": "red", "high": None}])
    [Row(arm='red', high=inf)]
    """
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is Annotated:
        null = next((mark.value for mark in hint.__metadata__ if isinstance(mark, Null)), None)
        return null if x is None and null is not None else read_as(parts[0], x)
    if kind in (typing.Union, types.UnionType):
        inner = [part for part in parts if part is not types.NoneType]
        return None if x is None and len(inner) < len(parts) else read_as(inner[0], x) if len(inner) == 1 else x
    if hint is float:
        return math.nan if x is None else float(x)
    if hint is datetime:
        return datetime.fromisoformat(x)
    if hint is tuple or kind is tuple:
        return tuple(read_as(parts[0], value) for value in x)
    if kind in (list, Sequence):
        return [read_as(parts[0], value) for value in x]
    if kind in (dict, Mapping):
        return {name: read_as(parts[1], value) for name, value in x.items()}
    if isinstance(hint, type) and issubclass(hint, Declared):
        return hint.of_json(x, served=False)
    if isinstance(hint, type) and (hasattr(hint, "_fields") or dataclasses.is_dataclass(hint)):
        hints = _hints(hint)
        return hint(**{name: read_as(hints[name], value) for name, value in x.items() if name in hints})
    return x


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the JSON schema of an answer of this type."""
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is Annotated:
        checks = [mark for mark in hint.__metadata__ if isinstance(mark, Check)]
        return dict(checks[0].schema) if checks else schema_of(parts[0])
    if kind in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if kind is Literal:
        return {"enum": list(parts)}
    if kind in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(parts[0])}
    if kind in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if isinstance(hint, type) and issubclass(hint, Declared):
        return hint.schema()
    if isinstance(hint, type) and (hasattr(hint, "_fields") or dataclasses.is_dataclass(hint)):
        names = getattr(hint, "_fields", None) or [field.name for field in dataclasses.fields(hint)]
        return {"type": "object", "properties": {name: schema_of(_hints(hint)[name]) for name in names}}
    return dict(_PLAIN.get(hint, {}))


_PLAIN: Final[dict[Any, dict[str, Any]]] = {
    float: {"anyOf": [{"type": "number"}, {"type": "null"}]},  # null where there is no finite number
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    types.NoneType: {"type": "null"},
}
