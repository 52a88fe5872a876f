"""Machine code kept on disk, for as long as the sources are what they were.

Numba's own cache looks only at the file that defines a function, and would answer from stale code when a file that it
calls has changed. Here a function's code is tied to a hash of its file and of all files of this package that it
imports, directly or not. What is found is loaded without what Numba needs to compile.
"""

import contextlib
import functools
import hashlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from numba.core import environment
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.runtime import nrtdynmod
from numba.core.runtime.nrt import rtsys

from dirichlet_bandits.patches import replaced

_LOADED = time.time()
_PACKAGE = __name__.partition(".")[0]
_IMPORTS = re.compile(rf"^[ \t]*(?:from|import) ({_PACKAGE}[\w.]*)(?: import ([\w, ]+))?", re.MULTILINE)


class NotCached(Exception):  # noqa: N818 - no error: an answer
    """Something would have to be compiled."""


class _Asked(threading.local):
    """What this thread may do."""

    only_cached = False


_asked = _Asked()


@contextlib.contextmanager
def only_cached() -> Iterator[None]:
    """Let this thread compile no entry point: one that is not in the cache raises :class:`NotCached`."""
    _asked.only_cached = True
    try:
        yield
    finally:
        _asked.only_cached = False


def cache_of(function: Any, *sources: str) -> "_StampedCache | NullCache":
    """Where the machine code of a function is kept.

    Nothing is kept of what was typed at a prompt, nor while somebody edits: the code may be older than its file.
    """
    files = _with_imports([function.__code__.co_filename, *sources])
    if not files or max(os.stat(file).st_mtime for file in files) >= _LOADED:
        return NullCache()
    return _StampedCache(function, _hash_of(files))


class _StampedCache(FunctionCache):
    """Numba's cache of one function, void as soon as the stamp of its sources is another one."""

    def __init__(self, function: Callable[..., Any], stamp: str) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        files: Any = _CacheFile
        self._cache_file = files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types, without all that Numba would need to compile: half a second's imports."""
        with replaced(nrtdynmod, "compile_nrt_functions", _runtime):
            rtsys.initialize(target_context)
        found = None
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None and _asked.only_cached:
            raise NotCached
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for these types, without the listing of all its variables' types."""
        super().save_overload(sig, data._replace(type_annotation=""))  # type: ignore[no-untyped-call]

    def load(self, codegen: Any) -> Any:
        """What was kept of a library that is no function; None if nothing was."""
        with self._guard_against_spurious_io_errors():
            return self._cache_file.load(codegen.magic_tuple())
        return None  # another process has the file

    def save(self, codegen: Any, library: Any) -> None:
        """Keep a library that is no function."""
        with self._guard_against_spurious_io_errors():
            self._cache_file.save(codegen.magic_tuple(), library.serialize_using_object_code())


class _CacheFile(IndexDataCacheFile):
    """Numba's files of one function, read without an import of the modules whose functions it was compiled with.

    Some of Numba's import a part of SciPy that takes as long as Numba itself.
    """

    def _load_data(self, name: str) -> Any:
        with replaced(environment, "_rebuild_env", _environment):
            return super()._load_data(name)  # type: ignore[no-untyped-call]


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """The constants of a compiled function. It looks nothing up in its module, which need not be there."""
    found: Any = environment.lookup_environment(name)
    if found is None:
        found = environment.Environment(vars(sys.modules[module]) if module in sys.modules else {"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        environment.Environment._memo[name] = found
    return found


def _runtime(context: Any) -> Any:
    """Numba's own library of reference counts, kept on disk like a function: compiling it takes every process 20 ms."""
    codegen, cache = context.codegen(), cache_of(_runtime)
    kept = cache.load(codegen) if isinstance(cache, _StampedCache) else None
    if kept is not None:
        return codegen.unserialize_library(kept)
    module, library = nrtdynmod.create_nrt_module(context)
    library.enable_object_caching()
    library.add_ir_module(module)
    library.finalize()
    if isinstance(cache, _StampedCache) and not _asked.only_cached:  # whoever only asks leaves nothing behind
        cache.save(codegen, library)
    return library


def source_stamp(*files: str) -> str:
    """Hash of these Python files and of all files of this package that they import, directly or not.

    >>> len(source_stamp(__file__))
    16
    """
    return _hash_of(_with_imports(files))


def _hash_of(files: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(files):
        digest.update(_digest(source))
    return digest.hexdigest()


@functools.cache
def _digest(file: str) -> bytes:
    return hashlib.blake2b(Path(file).read_bytes()).digest()


def _with_imports(files: Iterable[str]) -> set[str]:
    return set().union(*(_reached(file) for file in files if os.path.isfile(file)))


@functools.cache
def _reached(start: str) -> frozenset[str]:
    """A file, and all files of this package that it imports, directly or not."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports(file)
    return frozenset(found)


@functools.cache
def _imports(file: str) -> tuple[str, ...]:
    """Files of this package that a file imports by itself."""
    modules = set()
    for module, names in _IMPORTS.findall(Path(file).read_text(encoding="utf-8")):
        modules |= {module, *(f"{module}.{name.split()[0]}" for name in names.split(",") if name.strip())}
    return tuple(path for path in map(_file_of, modules) if path)


@functools.cache
def _file_of(module: str) -> str:
    """The file of a module of this package; nothing for a package as a whole, and for what is no module."""
    path = os.path.join(os.path.dirname(__file__), *module.split(".")[1:]) + ".py"
    return path if os.path.isfile(path) else ""
