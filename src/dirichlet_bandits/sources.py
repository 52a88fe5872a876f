"""Hash all source files that a function depends on.

These are its own file and everything that it imports, directly or not, from this package and from the user's code. The
standard library, NumPy, SciPy and Numba are left out; other installed packages count by their version.
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
from collections.abc import Iterable
from pathlib import Path

_STARTED = time.time()
_PACKAGE = __name__.partition(".")[0]
_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LEFT_OUT = sys.stdlib_module_names | {"numba", "numpy", "scipy"}
_SITES = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("purelib", "platlib")})
_IMPORT = re.compile(  # the base and its names, in parentheses or on the line; or modules
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]*(?:\(([^)]*)\)|([^\n(]+))|import[ \t]+([^\n]+))", re.MULTILINE
)


def source_stamp(*files: str) -> str:
    """Hash these Python files and everything they import, directly or not."""
    return hash_of(files_of(*files))


def hash_of(files: Iterable[str], *more: str) -> str:
    """Hash the content of files, plus further text."""
    parts = sorted(map(_digest, files)) + [text.encode() for text in more]
    return hashlib.blake2b(b" ".join(parts), digest_size=8).hexdigest()


@functools.cache
def _digest(file: str) -> bytes:
    return hashlib.blake2b(Path(file).read_bytes() if os.path.isfile(file) else file.encode()).digest()


def newer_than_process(files: Iterable[str]) -> bool:
    """Whether a file was changed after this process began, so that the code in memory may be older."""
    return any(os.path.isfile(file) and os.stat(file).st_mtime >= _STARTED for file in files)


def files_of(*starts: str) -> set[str]:
    """Return these files and all that they import; installed packages appear as "name version"."""
    found: set[str] = set()
    waiting = {os.path.abspath(start) for start in starts if os.path.isfile(start)}
    while waiting:
        found |= waiting
        waiting = set().union(*map(_imports, waiting)) - found
    return found


@functools.cache
def _imports(file: str) -> frozenset[str]:
    """Return what a file itself imports; of this package's files, only the parts of this package."""
    if not file.endswith(".py"):
        return frozenset()
    ours = file.startswith(os.path.join(_HOME, _PACKAGE, ""))
    found: set[str] = set()
    for base, many, names, modules in _IMPORT.findall(Path(file).read_text(encoding="utf-8", errors="replace")):
        parts = re.sub(r"#.*", "", many or names or modules).split(",")
        words = {part.split()[0] for part in parts if part.strip()}  # each may be a module
        found |= {base, *(f"{(base.rstrip('.') and base + '.') or base}{word}" for word in words)} if base else words
    return frozenset(_source(name, file) for name in found if not ours or name.startswith(_PACKAGE)) - {""}


def _source(module: str, importer: str) -> str:
    """Return the file of a module, or "name version" if it is installed; "" if it is left out or not a module."""
    name = module.lstrip(".")
    top, _, rest = name.partition(".")
    if levels := len(module) - len(name):
        return _file_in(functools.reduce(lambda path, _: os.path.dirname(path), range(levels), importer), name)
    if top == _PACKAGE:
        return _file_in(_HOME, name)
    home = _home(top)
    own = any(importer.startswith(os.path.join(site, top)) for site in _SITES)  # an installed package's own file
    if home.startswith(_SITES) and not own:
        try:
            return f"{top} {importlib.metadata.version(top)}"
        except importlib.metadata.PackageNotFoundError:
            return top
    return _file_in(home, rest) if os.path.isdir(home) else home


@functools.cache
def _home(top: str) -> str:
    """Return the folder of a top-level package, or the file of a module; "" if it is left out or not found."""
    try:
        spec = None if top in _LEFT_OUT else importlib.util.find_spec(top)
    except (ImportError, ValueError):  # "__main__" has no specification
        spec = None
    return "" if spec is None else next(iter(spec.submodule_search_locations or ()), spec.origin or "")


def _file_in(folder: str, module: str) -> str:
    path = os.path.join(folder, *module.split("."))
    return next((file for file in (f"{path}.py", os.path.join(path, "__init__.py")) if os.path.isfile(file)), "")
