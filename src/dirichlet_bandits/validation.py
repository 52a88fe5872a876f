"""What a public function does first: turn its arguments into numbers and arrays or say which one is wrong."""

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats


def finite_number(name: str, x: object) -> float:
    """The argument as a float; NaN, infinities, booleans and everything that is not a number are refused.

    >>> finite_number("target", 3)
    3.0
    >>> finite_number("target", float("nan"))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'target' must be a finite number (got nan)
    """
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if not isinstance(x, numbers.Real) or isinstance(x, bool):
        raise ArgumentError(name, "a finite number", x)
    try:
        number = float(x)
    except OverflowError:
        raise ArgumentError(name, "a finite number", x) from None
    if not math.isfinite(number):
        raise ArgumentError(name, "a finite number", x)
    return number


def number_between(name: str, x: object, low: float, high: float) -> float:
    """The argument as a float strictly between two limits.

    >>> number_between("alpha", 0.05, 0, 1)
    0.05
    >>> number_between("alpha", 1, 0, 1)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'alpha' must be a number strictly between 0 and 1 (got 1)
    """
    number = finite_number(name, x)
    if not low < number < high:
        raise ArgumentError(name, f"a number strictly between {low} and {high}", x)
    return number


def positive_number(name: str, x: object) -> float:
    """The argument as a float above zero.

    >>> positive_number("sigma", 0)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'sigma' must be a positive number (got 0)
    """
    number = finite_number(name, x)
    if number <= 0.0:
        raise ArgumentError(name, "a positive number", x)
    return number


def finite_array(name: str, values: ArrayLike) -> Floats:
    """The argument as a contiguous one-dimensional array of floats: not empty, no NaN, no infinity.

    >>> finite_array("values", [1, 2])
    array([1., 2.])
    >>> finite_array("values", [1.0, float("inf")])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'values' must be finite numbers (got inf at position 1)
    """
    expected = "a non-empty, one-dimensional sequence of numbers"
    try:
        raw: NDArray[Any] = np.asarray(values)
        if raw.dtype.kind not in "iufO":  # text, booleans, dates and complex numbers convert silently, or half
            raise ArgumentError(name, expected, values)
        array = np.ascontiguousarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(name, expected, values) from error
    if raw.ndim != 1 or array.size == 0:
        raise ArgumentError(name, expected, _Words(f"shape {raw.shape}"))
    finite = np.isfinite(array)
    if not finite.all():
        position = int(np.argmin(finite))
        raise ArgumentError(name, "finite numbers", _Words(f"{array[position]} at position {position}"))
    if not array.flags.writeable:  # a read-only array is another type to Numba, hence another compilation
        array = array.copy()
    return array


def positive_weights(name: str, weights: ArrayLike | None, size: int) -> Floats:
    """One positive weight an observation; nothing at all gives an empty array, which stands for weights of 1.

    >>> positive_weights("weights", [1, 0.5], 2)
    array([1. , 0.5])
    >>> positive_weights("weights", None, 2)
    array([], dtype=float64)
    >>> positive_weights("weights", [1, 0], 2)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'weights' must be positive numbers (got 0.0 at position 1)
    """
    if weights is None:
        return np.empty(0)
    array = finite_array(name, weights)
    if array.size != size:
        raise ArgumentError(name, f"as many as the values, {size}", _Words(str(array.size)))
    if array.min() <= 0.0:
        position = int(np.argmax(array <= 0.0))
        raise ArgumentError(name, "positive numbers", _Words(f"{array[position]} at position {position}"))
    return array


class _Words(str):
    """Text that an error message shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def whole_number(name: str, x: object, at_least: int) -> int:
    """The argument as an int, not below a least value.

    >>> whole_number("horizon", -3, at_least=2)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'horizon' must be an integer of at least 2 (got -3)
    """
    if isinstance(x, bool) or not isinstance(x, numbers.Integral) or x < at_least:
        raise ArgumentError(name, f"an integer of at least {at_least}", x)
    return int(x)
