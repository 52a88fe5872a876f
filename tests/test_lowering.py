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
    numbers: np.ndarray


class Ours(NamedTuple):
    """As if it were defined in the package: functions get its address."""

    first: np.ndarray
    second: np.ndarray
    numbers: np.ndarray


Ours.__module__ = "dirichlet_bandits.ours"


def functions(kind):
    """Functions of one kind of tuples."""

    @jit
    def part(pair):
        return pair.second[1:]

    @jit
    def grown(pair, n):
        if n > pair.first.size:
            longer = np.zeros(n)
            for i in range(pair.first.size):
                longer[i] = pair.first[i]
            pair = kind(longer, pair.second, pair.numbers)
        return pair

    @jit
    def grow_and_keep_old(pair, turns):
        """The argument's variable comes to own new arrays while windows on old ones live on."""
        total = 0.0
        for i in range(turns):
            old = pair.first[:1]
            pair = grown(pair, pair.first.size + i)
            pair.first[-1] += 1.0
            mixed = kind(old, pair.first, pair.numbers)
            for x in mixed.second:
                total += x
            total += mixed.first[0]
        return total, pair

    @jit
    def before_and_after(pair, turns):
        """Old tuples, given to functions after new ones have taken their variable."""
        total = 0.0
        for i in range(turns):
            old = pair
            pair = grown(old, old.first.size + i)
            both = grown(old, 1), grown(pair, 1)
            total += part(old)[0] + both[0].first.size + 10.0 * both[1].first.size + of_numba(old) - of_numba(pair)
        return total, grown(pair, 2 * turns)

    @jit
    def last_use(pair, n):
        """A variable that is given up before a function gets what it held."""
        longer = grown(pair, n)
        total = 0.0
        for i in range(n):
            total += longer.first[i]
        same = longer
        return total + size(same)

    @jit
    def size(pair):
        return pair.first.size + pair.second.size

    @numba.njit
    def of_numba(pair):
        return part(pair).sum() + grown(pair, pair.first.size + 1).first.size

    @jit
    def sums(pair, which):
        """Windows, iterators and tuples of what the caller owns."""
        a, b, _ = pair
        chosen = a if which else b
        both = (chosen[::2], a)
        total = 0.0
        for x in both[0]:
            total += x
        return total + both[1].sum() + len(both)

    @jit
    def swap(pair, turns):
        """Borrowed variables that change places."""
        a, b = pair.first, pair.second
        for _ in range(turns):
            a, b = b, a
        return kind(a, b, pair.numbers)

    def pair():
        return kind(np.arange(4.0), np.arange(10.0, 14.0), np.arange(3))

    return {
        "part": (part, lambda: (pair(),)),
        "grown": (grown, lambda: (pair(), 9)),
        "not grown": (grown, lambda: (pair(), 2)),
        "grow_and_keep_old": (grow_and_keep_old, lambda: (pair(), 7)),
        "before_and_after": (before_and_after, lambda: (pair(), 4)),
        "last_use": (last_use, lambda: (pair(), 9)),
        "sums": (sums, lambda: (pair(), True)),
        "swap": (swap, lambda: (pair(), 3)),
    }


@jit
def late(x, n):
    """A variable that only some turns of a loop assign."""
    for i in range(n):
        if i > 1:
            window = x[i:]
        if i > 2:
            x[0] += window[0]
    return x


CALLS = {
    **functions(Pair),
    **{f"{name}, by address": call for name, call in functions(Ours).items()},
    "late": (late, lambda: (np.arange(5.0), 5)),
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
