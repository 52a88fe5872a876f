"""Typed decorators around :func:`numba.njit`, and entry points whose compiled code is kept on disk."""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from numba import config, njit

from dirichlet_bandits.compiler import announcements as _announcements  # noqa: F401 - reports compilations
from dirichlet_bandits.compiler.cache import StampedCache
from dirichlet_bandits.compiler.internals import supported
from dirichlet_bandits.errors import DirichletBanditsError

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER_OPTIONS: Any = {**OPTIONS, "no_cpython_wrapper": True}  # for functions that only compiled code calls

if cast(Any, config).DISABLE_JIT:
    raise DirichletBanditsError("policies run as compiled code only: unset NUMBA_DISABLE_JIT")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile in nopython mode, without the GIL; x/0 is an infinity or NaN, as in NumPy, not an exception.

    The code is not kept on disk: only that of entry points is (see :func:`entry_point`).
    """
    return cast(Callable[P, R], njit(function, **OPTIONS))


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit`, always into the caller: for a step of a hot loop that takes many arrays."""
    return cast(Callable[P, R], njit(function, **OPTIONS, inline="always"))


def jit_sum(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` a loop over finite numbers whose sums may be taken in any order, several at a time.

    Only a loop over indices, not one over the values themselves, becomes vector instructions.
    """
    return cast(Callable[P, R], njit(function, **OPTIONS, fastmath={"reassoc", "nsz", "nnan"}))


def entry_point(function: Callable[P, R], *sources: str) -> Callable[P, R]:
    """Compile for calls from Python, and keep the compiled code on disk for later processes.

    ``sources`` are files that the code comes from besides those that the function's module imports.
    """
    function = getattr(function, "py_func", function)
    if not supported():
        return cast(Callable[P, R], njit(function, cache=True, **OPTIONS))
    compiled: Any = njit(function, **OPTIONS)
    compiled._cache = StampedCache(function, *sources)
    return cast(Callable[P, R], compiled)


def named_entry_point(function: Any, suffix: str, *classes: type, sources: Iterable[str] = ()) -> Callable[..., Any]:
    """Make an entry point of its own for arguments of these classes, with files of its own in the cache.

    A class that a later process cannot import must not spoil the compiled code for others. Nothing is kept for a class
    that was defined at a prompt.
    """
    own = FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    own.__module__, own.__qualname__ = function.__module__, f"{function.__name__}_{suffix}"
    return jit(own) if any(kind.__module__ == "__main__" for kind in classes) else entry_point(own, *sources)
