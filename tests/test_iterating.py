"""Loops and powers that are written down in few instructions are those of Python and of Numba."""

import numba
import numpy as np
import pytest

from dirichlet_bandits.compilation import jit


def visited(start, stop):
    seen = np.full(20, -99)
    k = 0
    for i in range(start, stop):
        seen[k] = i
        k += 1
    for i in range(stop):
        seen[k] = i
        k += 1
    return seen[:k]


def visited_by_steps(start, stop, step):
    seen = np.full(20, -99)
    k = 0
    for i in range(start, stop, step):
        seen[k] = i
        k += 1
    return seen[:k]


def powers(x):
    return x**2, x**3, x**4, x**5, x**-1, x**2.5


COMPILED, STEPPED = jit(visited), jit(visited_by_steps)
OURS, NUMBAS = jit(powers), numba.njit(powers)


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (-3, 4), (4, 4), (7, 2), (-5, -9), (-9, -5)])
def test_a_loop_over_a_range(start, stop):
    assert COMPILED(start, stop).tolist() == [*range(start, stop), *range(stop)]


@pytest.mark.parametrize(("start", "stop", "step"), [(0, 7, 2), (7, 0, -3), (0, 7, -1), (3, 3, 1)])
def test_a_loop_with_a_step(start, stop, step):
    assert STEPPED(start, stop, step).tolist() == list(range(start, stop, step))


def test_a_step_of_zero_is_an_error():
    with pytest.raises(ValueError, match="must not be zero"):
        STEPPED(0, 3, 0)


@pytest.mark.parametrize("x", [0.1, 3.7, 1e-200, -1.1, np.inf])
def test_powers_are_those_of_numba_to_the_last_bit(x):
    np.testing.assert_array_equal(OURS(x), NUMBAS(x))
