"""Where a command may write: refused before the work begins, not after."""

import os
from pathlib import Path

import dirichlet_bandits as db
from dirichlet_bandits.errors import ArgumentError

PICTURES = (".png", ".pdf", ".svg")


def check_result(option: str, path: Path) -> None:
    """A zarr folder that can be written: a new one, or an older result of ours."""
    _check_folder(option, path)
    if path.exists():
        db.load(path)


def check_picture(option: str, path: Path) -> None:
    """A picture file of a format that can be drawn."""
    if path.suffix.lower() not in PICTURES:
        raise ArgumentError(option, f"a file that ends in {', '.join(PICTURES)}", str(path))
    _check_folder(option, path)


def check_new_file(name: str, path: Path) -> None:
    """A file that is not there yet."""
    if path.exists():
        raise ArgumentError(name, "a file that does not exist yet", str(path))
    _check_folder(name, path)


def _check_folder(option: str, path: Path) -> None:
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ArgumentError(option, "in a folder that exists and can be written", str(path))
