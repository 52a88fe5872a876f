"""The one door to Numba: typed decorators, so that compiled functions are type-checked like any other."""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")

_COMPILED_ROOMS = ("numerics", "arms", "policies", "simulation", "seeding.py")


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile in nopython mode, without the GIL; x/0 is an infinity or NaN, as in NumPy, not an exception.

    Not cached: only entry points are (see :func:`entry`).
    """
    return cast(Callable[P, R], numba.njit(nogil=True, error_model="numpy")(function))


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`jit` and keep the machine code on disk for the next process.

    Numba's cache looks only at the file that defines the function. An entry point that calls code from
    other files must close over a fingerprint of them, or it would be answered from a stale cache.
    """
    return cast(Callable[P, R], numba.njit(nogil=True, error_model="numpy", cache=True)(function))


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
