"""Small array operations written as loops, because Numba needs up to two seconds to compile NumPy's own."""

from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum
from dirichlet_bandits.types import Floats


@jit
def copy_into(place: Any, values: Any) -> None:
    """Assign place[:] = values, from the first to the last."""
    for i in range(values.size):
        place[i] = values[i]


@jit
def set_all(place: Any, value: float) -> None:
    """Assign place[:] = value."""
    for i in range(place.size):
        place[i] = value


@jit
def scaled(values: Floats, factor: float) -> Floats:
    """Return a new array, factor * values.

    >>> scaled(np.array([0.25, 0.5]), -1.0)
    array([-0.25, -0.5 ])
    """
    result = np.empty(values.size)
    for i in range(values.size):
        result[i] = factor * values[i]
    return result


@jit
def shifted(values: Floats, by: float) -> Floats:
    """Return a new array, values + by.

    >>> shifted(np.array([0.25, 0.5]), 1.0)
    array([1.25, 1.5 ])
    """
    result = np.empty(values.size)
    for i in range(values.size):
        result[i] = values[i] + by
    return result


@jit
def sum_of(values: Any) -> float:
    """Return the sum of the values, added from the first to the last.

    >>> sum_of(np.array([0.25, 0.5]))
    0.75
    """
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@jit
def max_of(values: Any) -> Any:
    """Return the largest of the values.

    >>> max_of(np.array([0.25, 0.5]))
    0.5
    """
    largest = values[0]
    for i in range(1, values.size):
        largest = values[i] if values[i] > largest else largest
    return largest


@jit
def min_of(values: Any) -> Any:
    """Return the smallest of the values.

    >>> min_of(np.array([0.25, 0.5]))
    0.25
    """
    smallest = values[0]
    for i in range(1, values.size):
        smallest = values[i] if values[i] < smallest else smallest
    return smallest


@jit
def argmax_of(values: Any) -> int:
    """Return the position of the first of the largest values.

    >>> argmax_of(np.array([0.25, 0.5, 0.5]))
    1
    """
    best = 0
    for i in range(1, values.size):
        best = i if values[i] > values[best] else best
    return best


@jit_sum
def mean_of(values: Floats) -> float:
    """Return the mean of the values; equal values give exactly that value.

    >>> mean_of(np.array([0.25, 0.5, 0.75]))
    0.5
    """
    total = 0.0
    for i in range(values.size):
        total += values[i] - values[0]
    return values[0] + total / values.size


@jit
def sort(x: Floats) -> None:
    """Sort in place, in ascending order, by Shell's method, because NumPy's sort takes long to compile.

    >>> x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    >>> sort(x)
    >>> x
    array([1., 2., 3., 4., 5.])
    """
    gap = 1
    while 3 * gap < x.size:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, x.size):
            value, place = x[i], i
            while place >= gap and x[place - gap] > value:
                x[place] = x[place - gap]
                place -= gap
            x[place] = value
        gap //= 3


@jit
def partition(x: Floats, k: int) -> None:
    """Put the k smallest values first, in place, followed by the next larger one; k = 0 and k = n change nothing.

    >>> x = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    >>> partition(x, 2)
    >>> float(x[:2].max()), float(x[2])
    (2.0, 3.0)

    Reference: Hoare (1961), Algorithm 65: Find.
    """
    first, last = 0, x.size - 1
    while first < last and 0 < k < x.size:
        pivot, i, j = x[(first + last) // 2], first, last
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if k <= j:
            last = j
        elif k >= i:
            first = i
        else:
            break


@jit
def with_last(values: Floats, last: float) -> Floats:
    """Return a copy of the values with one more at the end.

    >>> with_last(np.array([0.25, 0.5]), 1.0)
    array([0.25, 0.5 , 1.  ])
    """
    longer = np.empty(values.size + 1)
    for i in range(values.size):
        longer[i] = values[i]
    longer[-1] = last
    return longer


@jit
def without(values: Floats, k: int) -> Floats:
    """Return a copy of all values but the k-th.

    >>> without(np.array([0.25, 0.5, 1.0]), 1)
    array([0.25, 1.  ])
    """
    shorter = np.empty(values.size - 1)
    for i in range(k):
        shorter[i] = values[i]
    for i in range(k + 1, values.size):
        shorter[i - 1] = values[i]
    return shorter


@jit
def interval(edges: Any, v: float, low: int, high: int) -> int:
    """Return the i from low to high - 1 with edges[i] <= v < edges[i + 1], or the nearest one; edges ascend.

    >>> edges = np.array([0.0, 1.0, 1.0, 3.0])
    >>> [interval(edges, v, 0, 3) for v in (-1.0, 0.5, 1.0, 4.0)]
    [0, 0, 2, 2]
    """
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= v:
            low = middle
        else:
            high = middle
    return low
