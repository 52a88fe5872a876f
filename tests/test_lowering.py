"""Arrays that belong to the caller are not counted, all others are: nothing is freed early, nothing leaks."""

import gc
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.lowering import Lower
from numba.core.runtime import _nrt_python as _nrt
from numba.core.runtime import rtsys
from numba.core.typed_passes import NativeLowering

from dirichlet_bandits.compilation import jit


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@jit
def part(pair):
    return pair.second[1:]


@jit
def grown(pair, n):
    if n > pair.first.size:
        longer = np.zeros(n)
        for i in range(pair.first.size):
            longer[i] = pair.first[i]
        pair = Pair(longer, pair.second)
    return pair


@jit
def grow_and_keep_old(pair, turns):
    """The argument's variable comes to own new arrays while windows on old ones live on."""
    total = 0.0
    for i in range(turns):
        old = pair.first[:1]
        pair = grown(pair, pair.first.size + i)
        pair.first[-1] += 1.0
        mixed = Pair(old, pair.first)
        for x in mixed.second:
            total += x
        total += mixed.first[0]
    return total, pair


@jit
def sums(pair, which):
    """Windows, iterators and tuples of what the caller owns."""
    a, b = pair
    chosen = a if which else b
    both = (chosen[::2], a)
    total = 0.0
    for x in both[0]:
        total += x
    return total + both[1].sum() + len(both)


@jit
def late(x, n):
    """A variable that only some turns of a loop assign."""
    for i in range(n):
        if i > 1:
            window = x[i:]
        if i > 2:
            x[0] += window[0]
    return x


@jit
def swap(pair, turns):
    """Borrowed variables that change places."""
    a, b = pair.first, pair.second
    for _ in range(turns):
        a, b = b, a
    return Pair(a, b)


def pair():
    return Pair(np.arange(4.0), np.arange(10.0, 14.0))


CALLS = {
    "part": (part, lambda: (pair(),)),
    "grown": (grown, lambda: (pair(), 9)),
    "not grown": (grown, lambda: (pair(), 2)),
    "grow_and_keep_old": (grow_and_keep_old, lambda: (pair(), 7)),
    "sums": (sums, lambda: (pair(), True)),
    "late": (late, lambda: (np.arange(5.0), 5)),
    "swap": (swap, lambda: (pair(), 3)),
}


@pytest.fixture
def counted_allocations():
    """Let Numba's memory system count; garbage of before stays, a second's look for it too."""
    was_on = _nrt.memsys_stats_enabled()
    _nrt.memsys_enable_stats()
    gc.freeze()
    yield
    gc.unfreeze()
    if not was_on:
        _nrt.memsys_disable_stats()


@pytest.mark.usefixtures("counted_allocations")
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_python_and_nothing_leaks(name):
    function, arguments = CALLS[name]
    np.testing.assert_equal(function(*arguments()), function.py_func(*arguments()))  # compiled now
    gc.collect()
    before = rtsys.get_allocation_stats()
    for _ in range(5):
        kept = function(*arguments())
        noise = [np.full(9, -1.0) for _ in range(50)]  # overwrites what was freed too early
        np.testing.assert_equal(kept, function.py_func(*arguments()))
        del kept, noise
    gc.collect()
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


def test_numba_is_left_as_it_was():
    jit(lambda x: x + 1.0)(1.0)
    assert NativeLowering().lowering_class is Lower
    assert numba.njit(lambda x: x[1:].sum())(np.arange(3.0)) == 3.0


def test_an_error_while_compiling_leaves_numba_as_it_was():
    with pytest.raises(numba.TypingError):
        jit(lambda x: x.unknown)(np.arange(3.0))
    assert NativeLowering().lowering_class is Lower
