"""Where a zarr group can live: a local folder, or whatever fsspec reaches by a URL."""

import os
from os import PathLike
from pathlib import Path
from typing import Any

Place = str | PathLike[str]


def resolve(place: Place) -> str:
    """An absolute path or a URL, the same wherever a worker runs.

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
    """Names of what is there, nothing if the place is free; of a file its own name.

    Drafts that a killed process left do not count: zarr writes beside the target and moves the file in.
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
    """The content of a file at a place; None if there is none."""
    try:
        if is_local(place):
            return Path(place, path).read_bytes()
        import fsspec

        system, inside = fsspec.url_to_fs(place)
        return bytes(system.cat_file(f"{inside}/{path}"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def folder_stamp(place: str) -> object:
    """What tells a local folder from one that has taken its place; the same for every URL."""
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns  # a number may be given again, but later


def zarr_store(place: str) -> Any:
    """What zarr reads and writes a group of this place through."""
    from zarr.storage import FsspecStore, LocalStore  # a quarter of a second: only those who read or write wait

    return LocalStore(place) if is_local(place) else FsspecStore.from_url(place)
