"""Functions compiled our way and Numba's way call each other, and errors find their way out of both."""

import numba
import numpy as np
import pytest

from dirichlet_bandits.compiler import address_of, by_address, jit, shared
from dirichlet_bandits.numerics.arrays import sum_of


@jit
def refuse(x, limit):
    if x[0] > limit:
        raise ValueError("too large")
    return (x[:1], x[0], x[0] > 1.0)


@jit
def caught(x, limit):
    """A result of an error is not used, but the variable that should hold it is there."""
    total = 0.0
    for _ in range(3):
        try:
            window, first, above = refuse(x, limit)
            total += window[0] + first + above
        except Exception:
            total -= 1.0
    return total


@jit
def handed_on(x, limit):
    window, first, _ = refuse(x, limit)
    return window[0] + first


@numba.njit
def of_numba(x):
    return sum_of(x[1:]) + x[0]


def test_errors_are_caught_or_handed_on():
    x = np.array([2.0, 3.0])
    assert (caught(x, 5.0), caught(x, 1.0)) == (15.0, -3.0)
    assert handed_on(x, 5.0) == 4.0
    with pytest.raises(ValueError, match="too large"):
        handed_on(x, 1.0)


def test_numba_calls_us_and_we_call_numba():
    x = np.arange(4.0)
    assert of_numba(x) == 6.0
    assert jit(lambda x: of_numba(x) + sum_of(x))(x) == 12.0


@jit
def elements(x, y, i, flags):
    """Elements from both ends, of arrays of one and two dimensions, contiguous or not, of numbers and truth values."""
    y[i, -1] = x[-1] + x[i]
    y[-1, i] += 1
    flags[i] = y[i, -1] > 4.0
    return y[i, -1], flags[i], flags[-1]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("i", [0, 1, -2])
def test_elements_are_those_of_numpy(order, step, i):
    def arguments():
        return np.arange(6.0)[::step], np.zeros((3, 3), order=order), i, np.array([True, False, True])

    ours, theirs = arguments(), arguments()
    assert elements(*ours) == elements.py_func(*theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@jit
def windows(x, y, i, j):
    """Parts of arrays of one and two dimensions, as far as they go."""
    return x[i:j], x[:j], x[i:], y[i % 3], y[i % 3, :j], y[i:j, 1], y[i:, :j], y[i:j]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_windows_are_those_of_numpy(order, step):
    x, y = np.arange(6.0)[::step], np.arange(12.0).reshape(3, 4, order=order)
    for i in range(-8, 9):
        for j in range(-8, 9):
            for ours, theirs in zip(windows(x, y, i, j), windows.py_func(x, y, i, j), strict=True):
                np.testing.assert_array_equal(ours, theirs)
                assert ours.strides == theirs.strides or ours.size == 0


def test_an_unsigned_index_is_not_taken_from_the_end():
    assert jit(lambda x, i: x[i])(np.arange(3.0), np.uint64(2)) == 2.0


@shared
def refuse_or_double(x):
    if x[0] < 0.0:
        raise ValueError("negative")
    x[0] *= 2.0


def test_errors_come_back_from_an_address():
    numbers = numba.float64[::1]
    change = by_address(numbers)
    address, call = address_of(refuse_or_double, (numbers,)), jit(lambda address, x: change(address, x))
    x = np.ones(1)
    call(address, x)
    assert x[0] == 2.0
    with pytest.raises(ValueError, match="negative"):
        call(address, -x)
    with pytest.raises(TypeError, match="compiled code only"):
        change(address, x)
