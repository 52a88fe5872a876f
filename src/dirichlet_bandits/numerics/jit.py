"""The one door to Numba: typed decorators, so that compiled functions are type-checked like any other."""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core import types
from numba.core.types.npytypes import NumPyRandomGeneratorType
from numba.extending import intrinsic, overload

P = ParamSpec("P")
R = TypeVar("R")

OPTIONS: Any = {"nogil": True, "error_model": "numpy"}
_COMPILED_ROOMS = ("numerics", "arms", "policies", "simulation", "seeding.py")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile in nopython mode, without the GIL; x/0 is an infinity or NaN, as in NumPy, not an exception.

    Not cached: only entry points are (see :func:`entry`).
    """
    return cast(Callable[P, R], numba.njit(**OPTIONS)(function))


def jit_inline(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit`, always into its caller.

    For a step of a hot loop that takes many arrays, if it is called in one place: handing them over costs more than
    the step.
    """
    return cast(Callable[P, R], numba.njit(**OPTIONS, inline="always")(function))


def jit_sum(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` a loop over finite numbers whose sums may be taken in any order, several at a time.

    Only a loop over indices, not one over the values themselves, becomes vector instructions.
    """
    freedoms = {"reassoc", "nsz", "nnan"}
    return cast(Callable[P, R], numba.njit(**OPTIONS, fastmath=freedoms)(function))


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` and keep the machine code on disk for the next process.

    Numba's cache looks only at the file that defines the function. An entry point that calls code from
    other files must close over a fingerprint of them, or it would be answered from a stale cache.
    """
    return cast(Callable[P, R], numba.njit(**OPTIONS, cache=True)(function))


def borrowed(value: R) -> R:
    """The same arrays, generators or tuples of them, without the counting of references, which costs as much as a duel.

    For arguments of a function only: its caller owns them until it returns, so they are not freed before.
    """
    return value


@intrinsic
def _borrow(typing_context, value):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return _without_owner(context, builder, value, arguments[0])

    return value(value), generate


@overload(borrowed)
def _borrowed(value):  # type: ignore[no-untyped-def]
    return lambda value: _borrow(value)  # type: ignore[call-arg]


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        parts = [
            _without_owner(context, builder, member, builder.extract_value(value, i))
            for i, member in enumerate(members)
        ]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array | NumPyRandomGeneratorType):
        fields = context.make_helper(builder, kind, value=value)
        fields.meminfo = fields.meminfo.type(None)
        return fields._getvalue()
    return value


@functools.cache
def fingerprint(*folders: Path) -> str:
    """Hash of every Python source below the folders: the closure of an entry point.

    By default those rooms of this package that hold compiled code.

    >>> len(fingerprint())
    16
    """
    digest = hashlib.blake2b(digest_size=8)
    for folder in folders or [Path(__file__).parents[1] / room for room in _COMPILED_ROOMS]:
        for source in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            digest.update(source.read_bytes())
    return digest.hexdigest()
