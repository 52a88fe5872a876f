"""What Numba leaves out for most functions is done for those that need it, and errors still say where they happened."""

from functools import reduce

import numpy as np
import pytest
from numba.core.errors import TypingError

from dirichlet_bandits.compilation import jit


def closure(x):
    def square(y):
        return y * y

    return square(x[0])


def comprehension(x):
    return np.array([2.0 * y for y in x])


def constants(x):
    return np.array([1.0, x[1], 3.0])


def operators(x):
    return (x + 1.0) * -x


def of_elements(x):
    return np.exp(x)


def reduction(x):
    return reduce(lambda a, b: a + b, x)


def product(x):
    return np.dot(x, x)


@pytest.mark.parametrize("function", [closure, comprehension, constants, operators, of_elements, reduction, product])
def test_seldom_passes_run_where_they_are_needed(function):
    x = np.linspace(0.5, 2.0, 4)
    np.testing.assert_allclose(jit(function)(x), function(x), rtol=1e-15)


def test_an_error_says_where_it_happened():
    def wrong(x):
        return x.no_such_thing

    with pytest.raises(TypingError, match=rf"test_frontend.py \({wrong.__code__.co_firstlineno + 1}\)"):
        jit(wrong)(np.ones(3))
