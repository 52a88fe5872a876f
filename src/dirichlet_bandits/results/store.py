"""Results on disk: a zarr group that carries its identity and can grow chunk by chunk.

A chunk is one policy over some replications. Its arrays are written first and its mark last: a digest of the arrays
and of the labels of the result. A chunk that a killed process left half-written has no mark, or one that does not fit.
"""

import functools
import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.errors import ArgumentError, FormatError
from dirichlet_bandits.files import set_aside, whole_file, whole_folder
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.results.layout import (
    LABELS,
    MARKS,
    SECONDS,
    VARIABLES,
    Chunk,
    Place,
    checked_attributes,
    chunk_size,
    chunks,
    contents,
    folder_stamp,
    is_local,
    resolve,
    zarr_store,
)
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    import xarray as xr

_NO_MARK = 0

_TRIES = 100  # of writing the labels while other processes do


class Store:
    """A result that grows at a place: a local path or a URL that fsspec supports. It can be pickled.

    Threads, processes and machines may use one store at the same time, because all would write the same data.
    """

    def __init__(self, place: Place) -> None:
        self.name = os.fspath(place)  # as the user calls it
        self.place = resolve(place)

    def __getstate__(self) -> dict[str, str]:
        return {"name": self.name, "place": self.place}

    def exists(self) -> bool:
        """Whether there is a result at this place; anything else there is refused."""
        if not contents(self.place):
            return False
        return bool(self.attrs)

    @functools.cached_property
    def attrs(self) -> dict[str, Any]:
        """The attributes of the result: format, labels, seed and identity; anything but a result is refused."""
        if not contents(self.place):
            older = set_aside(Path(self.place)) if is_local(self.place) else []
            hint = f", but an older one at {str(older[-1])!r}: rename it" if older else ""
            raise FileNotFoundError(f"no result at {self.name!r}{hint}")
        return checked_attributes(self.place, self.name)

    def prepare(self, labels: "xr.Dataset") -> None:
        """Create the store for these labels, or check that it belongs to a simulation of the same identity.

        A killed process may have left any part of this unfinished, so it is done again.
        """
        import zarr
        from zarr.errors import ContainsArrayError, ContainsGroupError

        store = zarr_store(self.place)
        if not self.exists():
            with suppress(ContainsGroupError):  # another process was faster, here and below
                zarr.create_group(store, attributes=labels.attrs, zarr_format=3)
        self._check_identity(labels.attrs.get("identity"))
        labels = labels.copy()
        labels.attrs = self.attrs
        for _ in range(_TRIES):  # each time those labels are there that others were writing
            with _drafts_ignored(), suppress(ContainsArrayError):
                labels.to_zarr(store, mode="a", consolidated=False, zarr_format=3)
                break
        group = self._group()
        size = chunk_size(labels.sizes["replication"])
        for name, variable in VARIABLES.items():
            shape = tuple(labels.sizes[dim] for dim in variable.dims)
            with suppress(ContainsArrayError):
                group.create_array(
                    name,
                    shape=shape,
                    chunks=(1, size, *shape[2:]),
                    dtype=variable.dtype,
                    fill_value=variable.blank,
                    dimension_names=variable.dims,
                    attributes=variable.attrs,
                )
        for name, dtype in ((SECONDS, "f8"), (MARKS, "u8")):  # marks come last: with them the store can be read
            with suppress(ContainsArrayError):
                group.create_array(
                    name,
                    shape=(labels.sizes["policy"], -(-labels.sizes["replication"] // size)),
                    chunks=(1, 1),
                    dtype=dtype,
                    fill_value=0,
                    dimension_names=("policy", "chunk"),
                )

    def _check_identity(self, identity: str | None) -> None:
        """Refuse a store of another simulation; the message names what differs."""
        found = self.attrs.get("identity")
        if found == identity:
            return
        got = f"{self.name}: a saved result without the identity of its simulation"
        if identity is not None and found is not None:
            ours, theirs = json.loads(identity), json.loads(found)
            differing = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
            got = f"{self.name}: other {', '.join(differing)}"
        raise ArgumentError("store", "a free place, or a store of the same simulation", got)

    @functools.cached_property
    def _arrays(self) -> dict[str, Any]:
        self.attrs  # noqa: B018 - says clearly what is wrong
        try:
            group = self._group()
            return {name: group[name] for name in (*VARIABLES, SECONDS, MARKS)}
        except KeyError as error:
            raise FormatError(f"{self.name!r} is a result that was never started: {error} is missing") from error
        except Exception as error:  # whatever zarr says of a description that it cannot use
            raise self._unreadable(error) from error

    def _group(self) -> Any:
        import zarr

        return zarr.open_group(zarr_store(self.place), mode="r+", zarr_format=3, use_consolidated=False)

    def _unreadable(self, error: Exception) -> FormatError:
        return FormatError(f"{self.name!r} is not a readable zarr folder: {error}")

    def write(self, row: int, first: int, chunk: Chunk, seconds: float = 0.0) -> None:
        """Write the chunk of policy ``row`` that begins with replication ``first``, and replace an existing one."""
        arrays = self._arrays
        column = first // arrays["reward"].chunks[1]
        last = {SECONDS: seconds, MARKS: self._mark(row, first, chunk)}
        if is_local(self.place):
            for name, values in (chunk._asdict() | last).items():
                write_chunk(self.place, name, arrays[name], row, column, values)
        else:
            for name, values in chunk._asdict().items():
                arrays[name][row, first : first + len(values)] = values
            for name, value in last.items():
                arrays[name][row, column] = value
        LOGGER.debug(
            "%r: policy %d, replications %d to %d stored", self.name, row, first, first + len(chunk.reward) - 1
        )

    def seconds(self) -> Floats:
        """Return the processor time of each policy over its chunks, including earlier runs; NaN if unreadable."""
        array = self._arrays[SECONDS]
        try:
            return np.asarray(array[:].sum(axis=1))
        except Exception:  # whatever a codec says of a truncated file; a time is no result that would be made again
            return np.full(array.shape[0], np.nan)

    def marked(self) -> tuple[int, int]:
        """Return how many chunks were written and how many there will be; 0 were written if marks are unreadable."""
        marks = self._arrays[MARKS]
        try:
            return int((marks[:] != _NO_MARK).sum()), int(marks.size)
        except Exception:  # whatever a codec says of a truncated file
            return 0, int(marks.size)

    def finished(self, row: int, first: int, last: int) -> bool:
        """Whether this chunk is stored, undamaged and complete."""
        arrays = self._arrays
        column = first // arrays["reward"].chunks[1]
        if is_local(self.place) and not chunk_file(self.place, MARKS, row, column, 2).exists():
            return False
        try:
            mark = int(arrays[MARKS][row, column])
            if mark == _NO_MARK:
                return False
            chunk = Chunk(*(arrays[name][row, first:last] for name in Chunk._fields))
        except Exception:  # whatever a codec says of a truncated file
            return False
        return mark == self._mark(row, first, chunk) and not np.isnan(chunk.reward).any()

    def _mark(self, row: int, first: int, chunk: Chunk) -> int:
        """Return a digest of a chunk, its place and the labels of the result; it changes if any of them does."""
        whose = json.dumps([self.attrs, row, first], sort_keys=True).encode()
        digest = hashlib.blake2b(whose, digest_size=8)
        for values in chunk:
            digest.update(np.ascontiguousarray(values).tobytes())
        return int.from_bytes(digest.digest(), "little")

    def load(self) -> "xr.Dataset":
        """Read everything that is stored; chunks without a mark are blank, and a wrong mark is an error."""
        xr = whole_module("xarray")

        attrs = self.attrs
        try:
            with _drafts_ignored():
                data = xr.open_zarr(
                    zarr_store(self.place), consolidated=False, chunks=None, drop_variables=SECONDS, zarr_format=3
                ).load()
        except Exception as error:
            raise self._unreadable(error) from error
        if missing := {*VARIABLES, MARKS, "mean", *LABELS} - data.variables.keys():
            raise FormatError(f"{self.name!r} is a result that was never started: {', '.join(sorted(missing))} missing")
        marks: NDArray[np.uint64] = data[MARKS].to_numpy()
        data = data.drop_vars(MARKS)
        data.attrs = attrs
        for row, first, chunk in chunks(data):
            mark = int(marks[row, first // chunk_size(data.sizes["replication"])])
            if mark == _NO_MARK:
                for name, values in chunk._asdict().items():
                    values[:] = VARIABLES[name].blank
            elif mark != self._mark(row, first, chunk):
                policy, last = str(data["policy"][row].item()), first + len(chunk.reward)
                raise FormatError(
                    f"{self.name!r}: replications {first} to {last - 1} of {policy!r} are corrupt; "
                    "run the simulation again with this store to redo only these"
                )
        return data

    def fill(self, data: "xr.Dataset") -> None:
        """Write a whole result at once."""
        self.prepare(data.drop_vars(list(VARIABLES)))
        arrays = self._arrays
        marks = np.zeros(arrays[MARKS].shape, np.uint64)
        for row, first, chunk in chunks(data):
            marks[row, first // chunk_size(data.sizes["replication"])] = self._mark(row, first, chunk)
        for name in VARIABLES:
            arrays[name][:] = data[name].to_numpy()
        arrays[MARKS][:] = marks


@contextmanager
def _drafts_ignored() -> Iterator[None]:
    """Suppress zarr's warning about the draft of a file that a killed process left."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Object at \S+\.partial is not recognized")
        yield


def save(data: "xr.Dataset", place: Place) -> None:
    """Write a result to a free place; a local older result is replaced once the new one is complete."""
    store = Store(place)
    taken = store.exists()  # refuses what is not ours
    if is_local(store.place):
        with whole_folder(Path(store.place)) as draft:
            Store(draft).fill(data)
        LOGGER.info("%r: result stored%s", store.name, ", an older one replaced" if taken else "")
    elif taken:
        raise ArgumentError("path", "a free place: only local results can be replaced", place)
    else:
        store.fill(data)
        LOGGER.info("%r: result stored", store.name)


def load(place: Place) -> "xr.Dataset":
    """Read and check a result written by :func:`save` or by a simulation with a store."""
    while True:  # again if a save has put another result there meanwhile
        store = Store(place)
        before = folder_stamp(store.place)
        try:
            data = store.load()
        except (FormatError, FileNotFoundError):
            if folder_stamp(store.place) == before:
                raise
        else:
            if folder_stamp(store.place) == before:
                return data


def chunk_file(place: str, name: str, row: int, column: int, ndim: int) -> Path:
    """Return the path of chunk number ``column`` of a policy, in an array with ``ndim`` dimensions.

    >>> chunk_file("runs.zarr", "regret", 2, 7, ndim=3).as_posix()
    'runs.zarr/regret/c/2/7/0'
    """
    return Path(place, name, "c", str(row), str(column), *["0"] * (ndim - 2))


def write_chunk(place: str, name: str, array: Any, row: int, column: int, values: Any) -> None:
    """Write a chunk as a file, byte for byte as zarr does, and replace an existing one; the last one is padded.

    zarr's event loop would take several milliseconds per chunk, longer than most chunks take to simulate. The layout is
    pinned (``layout.py``): little-endian numbers, compressed by zstd, one file per chunk.
    """
    from numcodecs import Zstd

    whole = np.full(array.chunks, array.fill_value, array.dtype.newbyteorder("<"))
    whole[0, : np.size(values, 0) if np.ndim(values) else 1] = values
    target = chunk_file(place, name, row, column, array.ndim)
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as draft:
        draft.write_bytes(Zstd(level=0).encode(whole))
