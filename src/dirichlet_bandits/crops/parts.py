"""Finished chunks of seasons, kept in a folder until the whole sample is saved.

This is not a store of results (``results/store.py``): there, one simulation owns the place, and its chunks are views of
arrays of known shape. Here, each chunk has its own identity, made of all that determines its seasons, so a longer
sample, or one of other dates, reuses what a shorter one has left. The folder is removed once the sample is saved.
"""

import hashlib
import re
import struct
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.files import whole_file


class Parts:
    """Chunks of ``size`` yields by name, one file per chunk: magic, key, yields, and a digest of all three.

    A chunk that is truncated, or was made under another key, is ignored. Without a folder, nothing is kept.
    """

    MAGIC = b"dban-crops-1"
    OURS = re.compile(r"\d{3}-\d{5}|\.\d{3}-\d{5}\.[0-9a-f]{8}\.part")

    def __init__(self, folder: Path | None, size: int) -> None:
        self.folder = folder
        self.body = struct.Struct(f"<{size}h")

    def get(self, name: str, key: bytes) -> NDArray[np.int16] | None:
        """Return the chunk of this name, if it was made under this key."""
        if self.folder is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        head = self.MAGIC + key
        body, digest = content[len(head) : -16], content[-16:]
        if not content.startswith(head) or len(body) != self.body.size or digest != fingerprint(head + body):
            return None
        return np.array(self.body.unpack(body), dtype=np.int16)

    def put(self, name: str, key: bytes, made: NDArray[np.int16]) -> None:
        """Store a chunk."""
        if self.folder is None:
            return
        self.folder.mkdir(exist_ok=True)
        content = self.MAGIC + key + self.body.pack(*made.tolist())
        with whole_file(self.folder / name) as draft:
            draft.write_bytes(content + fingerprint(content))

    def clear(self) -> None:
        """Remove all chunks, and the folder unless it holds something else."""
        if self.folder is None:
            return
        for path in self.folder.glob("*"):
            if self.OURS.fullmatch(path.name):
                path.unlink(missing_ok=True)
        with suppress(OSError):  # it never existed, or holds files that are not ours
            self.folder.rmdir()


def fingerprint(content: bytes) -> bytes:
    """Return sixteen bytes that distinguish this content from any other."""
    return hashlib.blake2b(content, digest_size=16).digest()
