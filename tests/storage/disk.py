"""What may be left of files after a power cut.

A sync of a file keeps what was written to it before; a sync of the folder keeps its names. Of everything later, each
sector of each write may have arrived or not, in any order, so the last write may be torn, and a file may have grown
without its data. A name may be that before or after each change. Bytes of a sector that are not written stay as they
are, as SQLite assumes ("powersafe overwrite").
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tests.storage.recording import Link, Step, Sync, SyncFolder, Truncate, Write

SECTORS = (512, 4096)


class _Unsynced:
    """What is kept of a file or a folder, and what may yet be lost, with the number of each step."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept
        self.later: list[tuple[int, Any]] = []

    def synced(self, before: int) -> list[Any]:
        """Take and return what a sync makes permanent."""
        done = [step for number, step in self.later if number < before]
        self.later = [(number, step) for number, step in self.later if number >= before]
        return done


def after_cut(steps: Sequence[Step], rng: np.random.Generator, sector: int, cache: bool = False) -> dict[str, bytes]:
    """Return files that a cut after these steps may leave.

    With a ``cache``, the drive says that it has written what is still in its cache, unless the sync is a full one.
    """
    files: dict[int, _Unsynced] = {}
    names: dict[str, _Unsynced] = {}
    for number, step in enumerate(steps):
        if isinstance(step, Link):
            names.setdefault(step.name, _Unsynced(None)).later.append((number, step.file))
            if step.file is not None:
                files[step.file] = _Unsynced(bytearray())
        elif isinstance(step, Write | Truncate):
            files[step.file].later.append((number, step))
        elif isinstance(step, Sync) and (step.full or not cache):
            file = files[step.file]
            for change in file.synced(step.before):
                _apply(change, file.kept)
        elif isinstance(step, SyncFolder):
            for name in names.values():
                name.kept = ([name.kept, *name.synced(step.before)])[-1]
    left = {}
    for name, links in names.items():
        possible = [links.kept, *(file for _, file in links.later)]
        file = possible[rng.integers(len(possible))]
        if file is not None:
            left[name] = _arrived(files[file], rng, sector)
    return left


def _arrived(file: _Unsynced, rng: np.random.Generator, sector: int) -> bytes:
    """The file with some of its unsynced changes: none, all, half of the sectors, or few or many."""
    content = bytearray(file.kept)
    pieces = [piece for _, step in file.later for piece in _pieces(step, sector)]
    if rng.random() < 0.3:  # in order, up to a sector
        pieces = pieces[: rng.integers(len(pieces) + 1)]
    else:
        share = rng.choice([0.0, 1.0, 0.5, rng.random()])
        order = rng.permutation(len(pieces)) if rng.random() < 0.5 else np.arange(len(pieces))
        pieces = [pieces[k] for k in order if rng.random() < share]
    for piece in pieces:
        if isinstance(piece, Write) and piece.offset >= len(content) and rng.random() < 0.1:
            piece = piece._replace(data=rng.bytes(len(piece.data)))  # the file has grown, its data has not arrived
        _apply(piece, content)
    return bytes(content)


def _pieces(step: Write | Truncate, sector: int) -> list[Write | Truncate]:
    if isinstance(step, Truncate):
        return [step]
    end = step.offset + len(step.data)
    cuts = [step.offset, *range((step.offset // sector + 1) * sector, end, sector), end]
    return [
        Write(step.file, first, step.data[first - step.offset : last - step.offset]) for first, last in pairwise(cuts)
    ]


def _apply(step: Write | Truncate, content: bytearray) -> None:
    size = step.size if isinstance(step, Truncate) else step.offset + len(step.data)
    if len(content) < size:
        content.extend(bytes(size - len(content)))
    if isinstance(step, Truncate):
        del content[size:]
    else:
        content[step.offset : size] = step.data
