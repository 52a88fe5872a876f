"""Typed decorators around :func:`numba.njit`, and entry points whose compiled code is kept on disk."""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit

from dirichlet_bandits.compiler import announcements as _announcements  # noqa: F401 - reports compilations
from dirichlet_bandits.compiler.internals import supported

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER_OPTIONS: Any = {**OPTIONS, "no_cpython_wrapper": True}
"""For functions that only compiled code calls."""


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile in nopython mode, without the GIL; x/0 is an infinity or NaN, as in NumPy, not an exception.

    The code is not kept on disk: only that of entry points is (see :func:`entry_point`).
    """
    return cast(Callable[P, R], njit(function, **OPTIONS))


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit`, always into the caller.

    For a step of a hot loop that takes many arrays and is called in one place: passing them costs more than the step.
    """
    return cast(Callable[P, R], njit(function, **OPTIONS, inline="always"))


def jit_sum(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` a loop over finite numbers whose sums may be taken in any order, several at a time.

    Only a loop over indices, not one over the values themselves, becomes vector instructions.
    """
    return cast(Callable[P, R], njit(function, **OPTIONS, fastmath={"reassoc", "nsz", "nnan"}))


def entry_point(function: Callable[P, R], *sources: str) -> Callable[P, R]:
    """Compile for calls from Python, and keep the compiled code on disk for later processes.

    ``sources`` are files that the code comes from besides those that the function's module imports. A function that is
    compiled already is compiled once more, by itself.

    >>> @entry_point
    ... def twice(x: float) -> float:
    ...     return 2.0 * x
    >>> twice(1.5)
    3.0
    """
    return cast(Callable[P, R], kept(function, OPTIONS, *sources))


def kept(function: Any, options: Any, *sources: str) -> Any:
    """Compile with these options, and keep the compiled code on disk."""
    function = getattr(function, "py_func", function)
    if not supported():
        return njit(function, cache=True, **options)
    from dirichlet_bandits.compiler.cache import StampedCache

    compiled: Any = njit(function, **options)
    compiled._cache = StampedCache(function, *sources)
    return compiled


def named_entry_point(function: Any, suffix: str, *classes: type, sources: Iterable[str] = ()) -> Callable[..., Any]:
    """Make an entry point of its own for arguments of these classes, with files of its own in the cache.

    A class that a later process cannot import must not spoil the compiled code for others. Nothing is kept for a class
    that was defined at a prompt.
    """
    own = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__module__ = function.__module__
    own.__qualname__ = f"{function.__name__}_{suffix}"
    return jit(own) if any(kind.__module__ == "__main__" for kind in classes) else entry_point(own, *sources)


def interpreted(function: Callable[P, R]) -> Callable[P, R]:
    """Return a compiled function as Python runs it, with those that it calls: for what a process calls a few times.

    Nothing is compiled or loaded for it; x/0 is an error, as always in Python.

    >>> interpreted(jit(lambda x: 2.0 * x))(1.5)
    3.0
    """
    plain: Any = getattr(function, "py_func", function)
    names = plain.__globals__
    called = {name: interpreted(names[name]) for name in plain.__code__.co_names if hasattr(names.get(name), "py_func")}
    made = FunctionType(plain.__code__, {**names, **called}, plain.__name__, plain.__defaults__, plain.__closure__)
    return cast(Callable[P, R], made)
