"""Write the chunks of a local result as files, byte for byte as zarr does, but without its event loop.

The event loop takes several milliseconds per chunk, longer than most chunks take to simulate. The layout is pinned
(``layout.py``): little-endian numbers, compressed by zstd, one file per chunk.
"""

from pathlib import Path
from typing import Any

import numpy as np

from dirichlet_bandits.files import whole_file


def chunk_file(place: str, name: str, row: int, column: int, ndim: int) -> Path:
    """Return the path of chunk number ``column`` of a policy, in an array with ``ndim`` dimensions.

    >>> chunk_file("runs.zarr", "regret", 2, 7, ndim=3).as_posix()
    'runs.zarr/regret/c/2/7/0'
    """
    return Path(place, name, "c", str(row), str(column), *["0"] * (ndim - 2))


def write_chunk(place: str, name: str, array: Any, row: int, column: int, values: Any) -> None:
    """Write a chunk of a zarr array and replace an existing one; the last chunk is padded to the full size."""
    from numcodecs import Zstd

    whole = np.full(array.chunks, array.fill_value, array.dtype.newbyteorder("<"))
    whole[0, : np.size(values, 0) if np.ndim(values) else 1] = values
    target = chunk_file(place, name, row, column, array.ndim)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as draft:
        draft.write_bytes(Zstd(level=0).encode(whole))
