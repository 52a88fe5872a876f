"""Places for a zarr group: a local folder, or a URL that fsspec supports."""

import os
from os import PathLike
from pathlib import Path
from typing import Any

Place = str | PathLike[str]


def resolve(place: Place) -> str:
    """Return an absolute path or a URL, which does not depend on a worker's current folder.

    >>> resolve("memory://runs.zarr"), resolve("file:///data/runs.zarr")
    ('memory://runs.zarr', '/data/runs.zarr')
    """
    text = os.fspath(place)
    if text.startswith("file://"):
        from fsspec.implementations.local import LocalFileSystem

        text = str(LocalFileSystem._strip_protocol(text))
    return text if "://" in text else str(Path(text).absolute())


def is_local(place: str) -> bool:
    """Whether a resolved place is a path."""
    return "://" not in place


def contents(place: str) -> list[str]:
    """List the names at a place: nothing if it is free, or the file's own name if it is a file.

    Drafts that a killed process left do not count: zarr writes next to the target, then moves the file into place.
    """
    if is_local(place):
        path = Path(place)
        names = os.listdir(path) if path.is_dir() else [path.name] if path.exists() else []
    else:
        import fsspec

        system, inside = fsspec.url_to_fs(place)
        system.invalidate_cache()  # others may have written since
        names = [str(name) for name in system.ls(inside, detail=False)] if system.exists(inside) else []
    return [name for name in names if not name.endswith(".partial")]


def read(place: str, path: str) -> bytes | None:
    """Return the content of a file at a place, or None if there is none."""
    try:
        if is_local(place):
            return Path(place, path).read_bytes()
        import fsspec

        system, inside = fsspec.url_to_fs(place)
        return bytes(system.cat_file(f"{inside}/{path}"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def folder_stamp(place: str) -> object:
    """Return a stamp that distinguishes a local folder from one that replaced it; all URLs have the same stamp."""
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns  # a number may be given again, but later


def zarr_store(place: str) -> Any:
    """Return the store through which zarr reads and writes a group at this place."""
    from zarr.storage import FsspecStore, LocalStore  # a quarter of a second: only those who read or write wait

    return LocalStore(place) if is_local(place) else FsspecStore.from_url(place)
