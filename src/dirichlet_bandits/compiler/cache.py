"""Keep compiled functions on disk for as long as the sources they were compiled from stay the same.

Numba's own cache looks only at the file that defines a function, so it would run old code after a change in a file
that the function calls into. Here, compiled code is kept under a name that contains a hash of all its sources
(``sources.py``). Each file carries a checksum, and a function whose file is damaged is compiled again.
"""

import contextlib
import contextvars
import functools
import glob
import hashlib
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba
from numba import types

from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.files import whole_file
from dirichlet_bandits.sources import files_of, hash_of, newer_than_process

_CHECKSUM_BYTES = 16
_checksum = functools.partial(hashlib.blake2b, digest_size=_CHECKSUM_BYTES)


_SHIPPED = Path(__file__).parent.parent / "compiled"  # in a platform wheel: code for a baseline processor


@functools.cache
def _shipped_processor() -> tuple[str, ...]:
    """Return the processor for which a platform wheel was compiled, if this machine can run its code; else nothing."""
    try:
        described = json.loads((_SHIPPED / "processor.json").read_bytes())
    except OSError:
        return ()
    here = llvmlite.binding.get_host_cpu_features()
    return tuple(described["processor"]) if all(here.get(name) for name in described["features"]) else ()


class NotCached(Exception):  # noqa: N818 - a result, not an error
    """A function that is not in the cache was called inside :func:`only_cached`."""


_only_cached = contextvars.ContextVar("only_cached", default=False)


@contextlib.contextmanager
def only_cached() -> Iterator[None]:
    """Keep this thread from compiling entry points: one that is not in the cache raises :class:`NotCached`."""
    before = _only_cached.set(True)
    try:
        yield
    finally:
        _only_cached.reset(before)


class StampedCache:
    """The cache of one function: one file per signature and processor, named after a hash of the sources."""

    def __init__(self, function: Callable[..., Any], *sources: str) -> None:
        self._function, self._sources = function, sources

    @functools.cached_property
    def _numba(self) -> Any:
        """Numba's cache of the function, which chooses the folder and serializes; None if it finds no folder."""
        from numba.core.caching import FunctionCache

        try:
            return FunctionCache(self._function)
        except RuntimeError:  # no folder can be written
            return None

    @functools.cached_property
    def _stamp(self) -> str:
        """Hash of the sources; "" if nothing can be kept.

        Nothing is kept of code from a prompt, of a closure over more than numbers and text, and while a source file is
        newer than this process, whose code may be older than the file.
        """
        cells = [cell.cell_contents for cell in self._function.__closure__ or ()]
        files = files_of(self._function.__code__.co_filename, *self._sources)
        plain = all(isinstance(value, int | float | str) for value in cells)
        return hash_of(files, repr(cells)) if plain and files and not newer_than_process(files) and self._numba else ""

    @property
    def cache_path(self) -> str | None:
        return str(self._numba.cache_path) if self._stamp else None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the function compiled for these argument types, or None if it has to be compiled."""
        found = self._load(sig, target_context) if self._stamp else None
        if found is None and _only_cached.get():
            raise NotCached
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        own = self._path(sig, target_context.codegen().magic_tuple())
        shipped = _SHIPPED / self._path(sig, _shipped_processor()).name
        path = own if own.exists() or not shipped.exists() else shipped
        try:
            content = path.read_bytes()
        except OSError:
            return None
        code = content[_CHECKSUM_BYTES:]
        if content[:_CHECKSUM_BYTES] != _checksum(code).digest():
            LOGGER.warning("a damaged file is compiled again: %s", path)
            return None
        return self._numba._impl.rebuild(target_context, pickle.loads(code))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for these argument types, and delete the results of older sources."""
        if not self._stamp or not self._numba._impl.check_cachable(data):
            return
        from numba.core.serialize import dumps

        code = dumps(self._numba._impl.reduce(data))
        path = self._path(sig, data.codegen.magic_tuple())
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as draft:
                draft.write_bytes(_checksum(code).digest() + code)
            for other in path.parent.glob(glob.escape(path.name.removesuffix(f"{self._stamp}.nbc")) + "*"):
                if other != path:
                    other.unlink(missing_ok=True)
        except OSError as error:
            LOGGER.warning("compiled code could not be kept: %s", error)

    def _path(self, sig: Any, processor: Any) -> Path:
        settings: Any = numba.config
        parts = spelled(sig), tuple(processor), numba.__version__, settings.OPT, settings.BOUNDSCHECK
        key = hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
        return Path(self._numba.cache_path, f"{self._numba._impl.filename_base}.{key}.{self._stamp}.nbc")


def classes_in(kinds: Any) -> list[type]:
    """Return the classes of all NamedTuples among these types, at any depth."""
    found: list[type] = []
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            found += [kind.instance_class] if hasattr(kind, "instance_class") else []
            found += classes_in(kind)
    return found


def spelled(kinds: Any) -> str:
    """Write types as text, with the modules of their classes, because two classes may share a name."""
    return " ".join([str(kinds), *(f"{kind.__module__}.{kind.__qualname__}" for kind in classes_in(kinds))])
