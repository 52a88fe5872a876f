"""Validate arguments: turn them into numbers and arrays, or raise an error that names the wrong one."""

import math
import numbers
import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dirichlet_bandits.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from dirichlet_bandits.types import Floats

T = TypeVar("T")

SMALLEST_SCALE: Final = 1e-100
LARGEST_SCALE: Final = 1e100
"""Between these limits, sums of squares and ratios of squares neither underflow nor overflow."""

LARGEST_COUNT: Final = 10**11
"""Pulls of a game, or games of a simulation: more would take days, or more memory than there is."""

_SCALE: Final = f"from {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}: choose another unit"


def finite_number(name: str, x: object, flags: bool = False) -> float:
    """Return the argument as a float; refuse NaN, infinities and everything that is not a number, such as booleans.

    With ``flags``, True counts as 1 and False as 0.

    >>> finite_number("target", 3)
    3.0
    >>> finite_number("target", float("nan"))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'target' must be a finite number (got nan)
    """
    if type(x) is float and math.isfinite(x):  # nearly always
        return x
    plain: Any = x
    if getattr(plain, "shape", None) == ():  # a number of NumPy's
        plain = plain.item()
    if not isinstance(plain, numbers.Real) or (isinstance(plain, bool) and not flags):
        raise ArgumentError(name, "a finite number", x)
    try:
        number = float(plain)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError(name, "a finite number", x)
    return number


def reward_number(name: str, x: object) -> float:
    """Return a reward as a float; True is 1 and False is 0.

    >>> reward_number("reward", True), reward_number("reward", 3)
    (1.0, 3.0)
    """
    return finite_number(name, x, flags=True)


def number_between(name: str, x: object, low: float, high: float) -> float:
    """Return the argument as a float strictly between two limits.

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


def number_within(name: str, x: object, low: float, high: float) -> float:
    """Return the argument unchanged if it is an int or a float from ``low`` to ``high``, both included.

    >>> number_within("ph", 7, 2, 11)
    7
    >>> number_within("ph", 12, 2, 11)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'ph' must be a number from 2 to 11 (got 12)
    """
    if isinstance(x, bool) or not isinstance(x, int | float) or not low <= x <= high:
        raise ArgumentError(name, f"a number from {low:g} to {high:g}", x)
    return x


def positive_number(name: str, x: object) -> float:
    """Return the argument as a float above zero.

    >>> positive_number("sigma", 0)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'sigma' must be a positive number (got 0)
    """
    number = finite_number(name, x)
    if number <= 0.0:
        raise ArgumentError(name, "a positive number", x)
    return number


def reward_scale(name: str, x: object) -> float:
    """Return a standard deviation or another scale of rewards as a float whose square neither under- nor overflows.

    >>> reward_scale("sigma", 1e-170)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'sigma' must be from 1e-100 to 1e+100: choose another unit (got 1e-170)
    """
    number = positive_number(name, x)
    if not SMALLEST_SCALE <= number <= LARGEST_SCALE:
        raise ArgumentError(name, _SCALE, x)
    return number


def reward_bound(name: str, x: object) -> float:
    """Return a bound of rewards as a float: zero, or a number whose square neither underflows nor overflows.

    >>> reward_bound("upper", 0), reward_bound("lower", -5)
    (0.0, -5.0)
    >>> reward_bound("upper", 9e160)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'upper' must be 0 or of a size from 1e-100 to 1e+100: choose another ...
    """
    number = finite_number(name, x)
    if number != 0.0 and not SMALLEST_SCALE <= abs(number) <= LARGEST_SCALE:
        raise ArgumentError(name, f"0 or of a size {_SCALE}", x)
    return number


def true_or_false(name: str, x: object) -> bool:
    """Return the argument if it is a bool.

    >>> true_or_false("binary", 1)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'binary' must be True or False (got 1)
    """
    if not isinstance(x, bool):
        raise ArgumentError(name, "True or False", x)
    return x


def reward_array(name: str, values: "ArrayLike") -> "Floats":
    """Return rewards as :func:`finite_array` does; True is 1 and False is 0.

    >>> reward_array("values", [True, False])
    array([1., 0.])
    """
    return finite_array(name, values, "biufO")


def finite_array(name: str, values: "ArrayLike", kinds: str = "iufO") -> "Floats":
    """Return the argument as a contiguous one-dimensional array of floats: not empty, no NaN, no infinity.

    >>> finite_array("values", [1, 2])
    array([1., 2.])
    >>> finite_array("values", [1.0, float("inf")])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'values' must be finite numbers (got inf at position 1)
    """
    import numpy as np

    expected = "a non-empty, one-dimensional sequence of numbers"
    try:
        raw: NDArray[Any] = np.asarray(values)
        if raw.dtype.kind not in kinds:  # text, booleans, dates and complex numbers convert silently, or in part
            raise ArgumentError(name, expected, values)
        array = np.ascontiguousarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(name, expected, values) from error
    if raw.ndim != 1 or array.size == 0:
        raise ArgumentError(name, expected, Phrase(f"shape {raw.shape}"))
    finite = np.isfinite(array)
    if not finite.all():
        position = int(np.argmin(finite))
        raise ArgumentError(name, "finite numbers", Phrase(f"{array[position]} at position {position}"))
    if not array.flags.writeable:  # a read-only array has another type in Numba, so it would compile again
        array = array.copy()
    return array


def positive_weights(name: str, weights: "ArrayLike | None", size: int) -> "Floats":
    """Return one positive weight per observation; None gives an empty array, which means that all weights are 1.

    >>> positive_weights("weights", [1, 0.5], 2)
    array([1. , 0.5])
    >>> positive_weights("weights", None, 2)
    array([], dtype=float64)
    >>> positive_weights("weights", [1, 0], 2)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'weights' must be positive numbers (got 0.0 at position 1)
    """
    import numpy as np

    if weights is None:
        return np.empty(0)
    array = finite_array(name, weights)
    if array.size != size:
        raise ArgumentError(name, f"as many as the values, {size}", Phrase(str(array.size)))
    if array.min() <= 0.0:
        position = int(np.argmax(array <= 0.0))
        raise ArgumentError(name, "positive numbers", Phrase(f"{array[position]} at position {position}"))
    return array


class Phrase(str):
    """Text that an error message shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def whole_number(name: str, x: object, at_least: int, at_most: int | None = None) -> int:
    """Return the argument as an int, at least ``at_least`` and, if given, at most ``at_most``.

    >>> whole_number("horizon", -3, at_least=2)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'horizon' must be an integer of at least 2 (got -3)
    >>> whole_number("day", 366, at_least=1, at_most=365)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'day' must be an integer from 1 to 365 (got 366)
    """
    if type(x) is int and at_least <= x and (at_most is None or x <= at_most):  # nearly always
        return x
    expected = f"an integer of at least {at_least}" if at_most is None else f"an integer from {at_least} to {at_most}"
    if isinstance(x, bool) or not isinstance(x, numbers.Integral):
        raise ArgumentError(name, expected, x)
    if int(x) < at_least or (at_most is not None and int(x) > at_most):
        raise ArgumentError(name, expected, x)
    return int(x)


def large_count(name: str, x: object, at_least: int) -> int:
    """Return a number of pulls or of games as an int, at least ``at_least`` and at most 10^11.

    >>> large_count("horizon", 2**62, at_least=2)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'horizon' must be an integer from 2 to 100000000000 (got \
4611686018427387904)
    """
    return whole_number(name, whole_number(name, x, at_least), at_least, LARGEST_COUNT)


def text_like(name: str, x: object, pattern: str, expected: str) -> str:
    """Return the argument if it is text that matches the whole pattern; ``expected`` describes the pattern in words.

    >>> text_like("station", "Florida", "[A-Z]{4}", "four capital letters")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'station' must be four capital letters (got 'Florida')
    """
    if not isinstance(x, str) or not re.fullmatch(pattern, x):
        raise ArgumentError(name, expected, x)
    return x


def tuple_of(name: str, x: object, kind: type[T], at_least: int, at_most: int) -> tuple[T, ...]:
    """Return the argument if it is a tuple of ``at_least`` to ``at_most`` objects of one class.

    >>> tuple_of("months", (1, 2), int, 12, 12)
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'months' must be a tuple of 12 int (got (1, 2))
    """
    if not isinstance(x, tuple) or not at_least <= len(x) <= at_most or not all(isinstance(item, kind) for item in x):
        count = f"{at_least}" if at_least == at_most else f"{at_least} to {at_most}"
        raise ArgumentError(name, f"a tuple of {count} {kind.__name__}", x)
    return x
