"""Type names for the arrays used throughout the package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]
Records = NDArray[Any]  # of a structured type with named fields


def record_type(fields: type) -> np.dtype[np.void]:
    """Return the structured type of records with these fields, given as a protocol whose attributes are int or float.

    >>> from typing import Protocol
    >>> class Point(Protocol):
    ...     number: int
    ...     x: float
    >>> record_type(Point)
    dtype([('number', '<i8'), ('x', '<f8')])
    """
    return np.dtype([(name, np.int64 if kind is int else np.float64) for name, kind in fields.__annotations__.items()])
