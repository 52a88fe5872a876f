"""Typed decorators around :func:`numba.njit`, and entry points whose compiled code is kept on disk."""

import functools
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from numba import config, njit, typeof
from numba.extending import typeof_impl

from dirichlet_bandits.compiler import announcements as _announcements  # noqa: F401 - reports compilations
from dirichlet_bandits.compiler.cache import StampedCache
from dirichlet_bandits.compiler.internals import check_internals
from dirichlet_bandits.errors import DirichletBanditsError

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER_OPTIONS: Any = {**OPTIONS, "no_cpython_wrapper": True}  # for functions that only compiled code calls

if cast(Any, config).DISABLE_JIT:
    raise DirichletBanditsError("policies run as compiled code only: unset NUMBA_DISABLE_JIT")


class Compiled:
    """A function for compiled callers; if Python calls it, it is compiled once more, as an entry point.

    Numba would add a wrapper for calls from Python to every function, which often takes longer than the function.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._options = function, options

    @functools.cached_property
    def _inner(self) -> Any:
        return njit(self.py_func, **INNER_OPTIONS, **self._options)

    def type_for_callers(self) -> Any:
        """Return the type that the function has in compiled code."""
        return typeof(self._inner)

    @functools.cached_property
    def _from_python(self) -> Callable[..., Any]:
        return entry_point(self.py_func, **self._options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._from_python(*args, **kwargs)


typeof_impl.register(Compiled)(lambda function, context: function.type_for_callers())


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function in nopython mode, without the GIL; x/0 is infinite or NaN, as in NumPy, not an exception."""
    return cast(Callable[P, R], Compiled(function))


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function like :func:`jit`, always into the caller: for a step of a hot loop that takes many arrays."""
    return cast(Callable[P, R], njit(function, **OPTIONS, inline="always"))


def jit_sum(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop over array indices like :func:`jit`, for sums of finite numbers in any order."""
    return cast(Callable[P, R], Compiled(function, fastmath={"reassoc", "nsz", "nnan"}))


def entry_point(function: Callable[P, R], *sources: str, **options: Any) -> Callable[P, R]:
    """Compile a function for calls from Python, and keep it on disk; ``sources`` are files its module does not name."""
    function = getattr(function, "py_func", function)
    check_internals()
    compiled: Any = njit(function, **OPTIONS, **options)
    compiled._cache = StampedCache(function, *sources)
    return cast(Callable[P, R], compiled)


class Direct:
    """An entry point for arguments of exactly the same types at each call, which only the first call checks.

    Finding the types of a generator, or of a NamedTuple with one in it, takes longer than most calls.
    """

    def __init__(self, find: Callable[[], Any]) -> None:
        self._find = find
        self._code: Callable[..., Any] | None = None

    @property
    def is_compiled(self) -> bool:
        """Whether a call compiles nothing, and skips the search for the types of its arguments."""
        return self._code is not None

    def __call__(self, *args: Any) -> Any:
        if self._code is None:
            compiled = self._find()
            kinds = tuple(compiled.typeof_pyval(arg) for arg in args)
            compiled.compile(kinds)
            self._code = compiled.overloads[kinds].entry_point
        return self._code(*args)


def named_entry_point(function: Any, suffix: str, *classes: type, sources: Iterable[str] = (), **options: Any) -> Any:
    """Make a separate entry point for arguments of these classes, with its own files in the cache.

    A class that a later process cannot import must not spoil the code for others; none is kept for one from a prompt.
    """
    own = FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    own.__module__, own.__qualname__ = function.__module__, f"{function.__name__}_{suffix}"
    prompt = any(kind.__module__ == "__main__" for kind in classes)
    return njit(own, **OPTIONS, **options) if prompt else entry_point(own, *sources, **options)
