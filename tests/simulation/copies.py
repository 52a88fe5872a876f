"""Copies of the package with some lines changed, run in a process of their own."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import dirichlet_bandits


class Edit(NamedTuple):
    """A passage of one file of the package, found there exactly once, and what replaces it."""

    file: str
    old: str
    new: str


def edited_copy(folder: Path, edits: Iterable[Edit] = ()) -> Path:
    """Copy the package into a new folder, make the edits, and return the folder to put on ``PYTHONPATH``.

    Compiled code comes along, because its name contains a hash of its sources: only what an edit touches is compiled.
    """
    package = folder / "dirichlet_bandits"
    shutil.copytree(Path(dirichlet_bandits.__file__).parent, package, ignore=shutil.ignore_patterns("*.pyc", "*.tmp*"))
    for edit in edits:
        source = package / edit.file
        text = source.read_text()
        if text.count(edit.old) != 1:
            raise ValueError(f"{edit.file} must contain this once (found {text.count(edit.old)} times):\n{edit.old}")
        source.write_text(text.replace(edit.old, edit.new))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that imports the copy and keeps its compiled code in it."""
    return {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": ""}
