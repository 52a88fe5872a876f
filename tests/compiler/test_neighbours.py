"""What we compile changes neither the results nor the caches of other people's functions in the same process.

Each test failed when this package compiled with its own version of Numba's compiler.
"""

import pickle

import pytest

from tests.compiler.processes import PARAMETERLESS, cached, printed, run, write

THEIRS = """
from numba import njit

@njit(cache=True)
def half(x):
    return x / 2.0
"""
OURS = """
from dirichlet_bandits.compiler import entry_point
from theirs import half

@entry_point
def quarter(x):
    return half(half(x))
"""


def test_a_cache_that_we_filled_is_read_by_plain_numba(tmp_path):
    write(tmp_path, theirs=THEIRS, ours=OURS)
    assert printed(tmp_path, "from ours import quarter; print(quarter(4.0))") == "1.0\n"
    assert any(name.startswith("theirs.half") for name in cached(tmp_path))
    alone = "import sys; from theirs import half; print(half(4.0), half.stats.cache_hits.total())"
    assert printed(tmp_path, f"{alone}; print('dirichlet_bandits' in sys.modules)") == "2.0 1\nFalse\n"


def test_a_cache_that_plain_numba_filled_is_read_by_us(tmp_path):
    write(tmp_path, theirs=THEIRS, ours=OURS)
    assert printed(tmp_path, "from theirs import half; print(half(4.0))") == "2.0\n"
    code = "from ours import quarter; from theirs import half; print(quarter(4.0), half.stats.cache_hits.total())"
    assert printed(tmp_path, code) == "1.0 1\n"


TUPLES = """
import numpy as np
from numba import njit
from dirichlet_bandits.engine.tally import Tally

@njit
def pulls(tally):
    return tally.pulls.sum()

tally = Tally(np.array([2, 3]), *(np.zeros(2) for _ in range(5)))
print(pulls(tally))  # compiled before us
import dirichlet_bandits as db
from dirichlet_bandits.compiler import jit

state = db.UCB1(sigma=1.0).init(2)
print(jit(lambda tally: pulls(tally) + 1)(tally))
print(njit(lambda tally: pulls(tally) + 2)(tally))
"""


def test_our_tuples_are_passed_as_numba_passes_tuples(tmp_path):
    assert printed(tmp_path, TUPLES) == "5\n6\n7\n"


GENERATORS = """
from itertools import islice
import numba
from numba import njit
from numba.experimental import jitclass
from dirichlet_bandits.compiler import jit

@njit
def evens(n):
    for i in range(n):
        yield 2 * i

@jit
def total(n):
    s = k = 0
    for v in evens(n):
        s += v
        k += 1
        if k > 20:
            return -1
    return s

print(total(4), list(islice(evens(4), 8)))

@jitclass([("n", numba.int64)])
class Counter:
    def __init__(self):
        self.n = 0

@njit
def both(a, b):
    a.n += 50
    return a.n + 7 * b.n

@jit
def count(c):
    for _ in range(5):
        c.n += 2
    return c.n

@jit
def twice(c):
    return both(c, c)

c = Counter()
print(count(c), c.n, twice(c), c.n)
"""


def test_generators_and_classes_that_our_functions_use_keep_their_state(tmp_path):
    assert printed(tmp_path, GENERATORS) == "12 [0, 2, 4, 6]\n10 10 480 60\n"


POLICY = f"""{PARAMETERLESS}
from numba import njit
from dirichlet_bandits.engine.verbs import implements, select

@njit
def arms_of(n):
    for i in range(n):
        yield i

@implements(select, MineParams)
def last(policy, state, rng):
    found = 0
    for arm in arms_of(state.pulls.size):
        found = arm
    return found
"""
PLAY = """
import dirichlet_bandits as db
from policy import Mine
bandit = db.Bandit([db.Bernoulli(0.5)] * 3)
print(db.simulate(bandit, Mine(), horizon=20, replications=1, seed=0).pulls.values.ravel())
"""


def test_a_policy_that_uses_a_generator_pulls_the_right_arm(tmp_path):
    write(tmp_path, policy=POLICY)
    assert printed(tmp_path, PLAY) == "[ 1  1 18]\n"


STUMPY = """
import sys, threading
import numpy as np

def theirs():
    from stumpy import core
    for function, arguments in (
        (core._sliding_dot_product, (np.arange(3.0), np.arange(9.0))),
        (core._count_diagonal_ndist, (np.arange(4), 3, 9, 9)),
    ):
        function.enable_caching()
        print(function(*arguments))

def ours():
    def offset(x, n):
        y = np.empty(x.size + n)
        for i in range(x.size):
            y[i] = x[i] + n
        return y
    def first(x):
        return offset(x, 1)[0]
    offset, first = decorate(offset), decorate_for_python(first)
    first(np.ones(3))

import numba
if sys.argv[2] == "numba":
    OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    decorate = numba.njit(**OPTIONS, no_cpython_wrapper=True)
    decorate_for_python = numba.njit(**OPTIONS)
elif sys.argv[2] == "ours":
    from dirichlet_bandits.compiler import entry_point as decorate_for_python, jit as decorate
if sys.argv[2] == "none":
    theirs()
elif sys.argv[1] == "before":
    theirs(), ours()
elif sys.argv[1] == "after":
    ours(), theirs()
else:
    other = threading.Thread(target=ours)
    other.start(), theirs(), other.join()
"""


def machine_code(folder):
    """Object code and bitcode of the functions in a cache."""
    return {name: pickle.loads(content)[0] for name, content in cached(folder, "core*.nbc").items()}


@pytest.mark.slow  # the tests of caches above, and that nothing of Numba is replaced, always run
@pytest.mark.parametrize("order", ["after", "before", "in a thread"])
def test_another_package_gets_the_results_and_the_cache_that_it_would_get_without_us(tmp_path, order):
    """Numba numbers the functions and types of a process, so a cache depends on what was compiled before: the process
    to compare with compiles the same functions by plain Numba, and the numbers of types are left out."""
    folders = {who: tmp_path / who for who in ("none", "numba", "ours")}
    said = {}
    for who, folder in folders.items():
        folder.mkdir()
        said[who] = printed(folder, STUMPY, order, who)
    assert said["none"] == said["numba"] == said["ours"] != ""
    if order != "in a thread":  # which comes first there is a matter of chance
        assert machine_code(folders["ours"]) == machine_code(folders["numba"]) != {}
    if order == "before":
        assert machine_code(folders["ours"]) == machine_code(folders["none"])
        assert cached(folders["ours"], "core*").keys() == cached(folders["none"], "core*").keys()
    assert printed(folders["ours"], STUMPY, order, "none") == said["none"]  # read back without us


UNTOUCHED = """
import sys
import numba, numba.core.typed_passes, numba.core.caching, numba.np.arrayobj
numba.njit(lambda x: x + 1)(1)

def parts():
    found = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("numba", "llvmlite") and module is not None:
            for key, value in list(vars(module).items()):
                if callable(value):
                    found[name, key] = value
                if isinstance(value, type) and value.__module__ == name:
                    found.update({(name, key, inner): part for inner, part in vars(value).items() if callable(part)})
    return found

before = parts()
import dirichlet_bandits as db
heard = []

def look(frame, event, argument):
    now = parts()
    heard.extend(key for key, part in before.items() if now.get(key) is not part)

import numba.core.event as event

class Listener(event.Listener):
    def on_start(self, happened):
        look(None, None, None)
    def on_end(self, happened):
        look(None, None, None)

event.register("numba:compile", Listener())
state = db.UCB1(sigma=1.0).init(2)
study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), seed=0)
look(None, None, None)
import gc
print(sorted(set(heard)), gc.isenabled())
"""


def test_nothing_in_numba_is_replaced_not_even_while_we_compile(tmp_path):
    assert run(tmp_path, UNTOUCHED).stdout == "[] True\n"
