"""Which source files a compiled function depends on, and a hash of them.

These are the file that defines the function and all files that it imports, directly or not: of this package, and of the
user's own code. The standard library and NumPy, SciPy and Numba are left out. Other installed packages count by their
version, because following their imports could mean reading thousands of files.
"""

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import sysconfig
import time
from collections.abc import Collection, Iterable
from pathlib import Path

_STARTED = time.time()
_PACKAGE = __name__.partition(".")[0]
_HOME = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LEFT_OUT = frozenset({"numba", "numpy", "scipy"})
_SITES = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("purelib", "platlib")})
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?([\w, \t\n]+)|import[ \t]+([\w., \t]+))", re.M)


def source_stamp(*files: str) -> str:
    """Hash these Python files and everything they import, directly or not.

    >>> len(source_stamp(__file__))
    16
    """
    return hash_of(files_of(*files))


def files_of(*starts: str) -> frozenset[str]:
    """Return these files and all that they import; installed packages appear as "name version"."""
    return frozenset().union(*(_reached(os.path.abspath(start)) for start in starts if os.path.isfile(start)))


def hash_of(files: Iterable[str], *more: str) -> str:
    """Hash the content of files, and further text."""
    digest = hashlib.blake2b(digest_size=8)
    for part in (*sorted(map(_digest, files)), *(text.encode() for text in more)):
        digest.update(part)
    return digest.hexdigest()


def newer_than_process(files: Collection[str]) -> bool:
    """Whether a file was changed after this process began, so that the code in memory may be older."""
    return any(os.path.isfile(file) and os.stat(file).st_mtime >= _STARTED for file in files)


@functools.cache
def _digest(file: str) -> bytes:
    content = Path(file).read_bytes() if os.path.isfile(file) else file.encode()
    return hashlib.blake2b(content).digest()


@functools.cache
def _reached(start: str) -> frozenset[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports(file)
    return frozenset(found)


@functools.cache
def _imports(file: str) -> frozenset[str]:
    """Return what a file itself imports; of this package's files, only the parts of this package."""
    if not file.endswith(".py"):
        return frozenset()
    ours = file.startswith(_HOME)
    names = _modules_named(Path(file).read_text(encoding="utf-8", errors="replace"))
    found = {_source(name, file) for name in names if not ours or name.partition(".")[0] == _PACKAGE}
    return frozenset(found - {""})


def _modules_named(code: str) -> set[str]:
    """Return everything that import statements name and that may be a module: ``a`` and ``a.b`` in ``from a import b``."""
    found = set()
    for base, names, modules in _IMPORT.findall(code):
        words = {words[0] for part in (names or modules).split(",") if (words := part.split())}
        found |= {base, *(f"{base}{'' if base.endswith('.') else '.'}{word}" for word in words)} if base else words
    return found


def _source(module: str, importer: str) -> str:
    """Return the file of a module, or "name version" if it is installed; "" for what is left out or not a module."""
    name = module.lstrip(".")
    if level := len(module) - len(name):
        folder = functools.reduce(lambda path, _: os.path.dirname(path), range(level), importer)
        return _file_in([folder], name)
    if name.partition(".")[0] == _PACKAGE:
        return _file_in([os.path.dirname(os.path.dirname(_HOME))], name)
    return _found(name, next((importer[len(site) :].split(os.sep)[0] for site in _SITES if importer.startswith(site)), ""))


@functools.cache
def _found(module: str, own: str) -> str:
    """Return the same for an absolute name; ``own`` is the importer's own installed package, if it is installed."""
    top, _, rest = module.partition(".")
    if top in sys.stdlib_module_names or top in _LEFT_OUT:
        return ""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # "__main__" has no specification
        spec = None
    if spec is None:
        return ""
    origin, folders = spec.origin or "", list(spec.submodule_search_locations or ())
    if top != own and any(path.startswith(site) for path in (origin, *folders) for site in _SITES):
        return f"{top} {_version(top)}"
    return _file_in(folders, rest) if rest else (origin if os.path.isfile(origin) else "")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _file_in(folders: list[str], module: str) -> str:
    """Return the file of a module below one of these folders; "" for a name that is not a module."""
    for folder in folders:
        path = os.path.join(folder, *module.split("."))
        for file in (f"{path}.py", os.path.join(path, "__init__.py")):
            if os.path.isfile(file):
                return file
    return ""
