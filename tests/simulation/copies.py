"""Copies of the package with some lines changed, run in a process of their own."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import dirichlet_bandits

PACKAGE = Path(dirichlet_bandits.__file__).parent


class Edit(NamedTuple):
    """A passage of one file of the package, found there exactly once, and what replaces it."""

    file: str
    old: str
    new: str

    def made(self, package: Path) -> str:
        """Return the text of the file in this package after the edit."""
        text = (package / self.file).read_text()
        if text.count(self.old) != 1:
            raise ValueError(f"{self.file} must contain this once (found {text.count(self.old)} times):\n{self.old}")
        return text.replace(self.old, self.new)


def edited_copy(folder: Path, edits: Iterable[Edit] = ()) -> Path:
    """Copy the package into a new folder, make the edits, and return the folder to put on ``PYTHONPATH``.

    Compiled code comes along, because its name contains a hash of its sources: only what an edit touches is compiled.
    """
    package = folder / "dirichlet_bandits"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.pyc", "*.tmp*"))
    for edit in edits:
        (package / edit.file).write_text(edit.made(package))
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a process that imports the copy and keeps its compiled code in it."""
    return {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": ""}
