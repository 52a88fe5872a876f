"""The types of a compiled function's arguments, as text and as the classes in them."""

from typing import Any

from numba import types


def classes_in(kinds: Any) -> list[type]:
    """Return the classes of all NamedTuples among these types, at any depth."""
    found: list[type] = []
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            found += [kind.instance_class] if hasattr(kind, "instance_class") else []
            found += classes_in(kind)
    return found


def spelled(signature: Any) -> str:
    """Write a signature as text, with the modules of its classes: two classes may share a name.

    >>> spelled((types.float64, types.int64))
    '(float64, int64)'
    """
    kinds = getattr(signature, "args", signature)
    return " ".join([str(signature), *(f"{kind.__module__}.{kind.__qualname__}" for kind in classes_in(kinds))])
