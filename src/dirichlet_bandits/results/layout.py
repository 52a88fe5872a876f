"""A result as plain arrays and on disk: places, labels, chunks, and the layout that is checked before zarr reads it.

zarr reads much more than this. Version 2 of its format can name codecs that unpickle, which would run code from the
file. So we accept only plain numbers and strings in version 3.
"""

import functools
import importlib.metadata
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.lazy import whole_module
from dirichlet_bandits.types import Floats, Ints

if TYPE_CHECKING:
    import xarray as xr

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


FORMAT = "dirichlet-bandits result 2"


class Variable(NamedTuple):
    """An array with a row for each policy and replication; ``blank`` marks what has not been simulated yet."""

    dims: tuple[str, ...]
    blank: float | int
    long_name: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the array."""
        return np.dtype(type(self.blank))

    @property
    def attrs(self) -> dict[str, str]:
        """The attributes of the array in xarray and zarr."""
        return {"long_name": self.long_name}

    def empty(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return an array in which nothing has been simulated yet."""
        return np.full(shape, self.blank, self.dtype)


VARIABLES = {
    "regret": Variable(("policy", "replication", "time"), np.nan, "pseudo-regret"),
    "pulls": Variable(("policy", "replication", "arm"), 0, "pulls at the horizon"),
    "reward": Variable(("policy", "replication"), np.nan, "realized cumulative reward"),
}


class Labels(NamedTuple):
    """Everything about a simulation except its outcome, in plain arrays: xarray is imported only when needed."""

    policies: list[str]
    arms: list[str]
    means: Floats
    times: Ints
    replications: int
    attrs: dict[str, Any]
    values: Floats | None = None  # of the arms at each recorded time, where they change
    lower_bound: Callable[[], float | None] | None = None

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each dimension."""
        return {
            "policy": len(self.policies),
            "replication": self.replications,
            "time": self.times.size,
            "arm": len(self.arms),
        }

    def dataset(self, **arrays: NDArray[Any]) -> "xr.Dataset":
        """Return the labels as an xarray Dataset, with the arrays of an outcome if there is one."""
        xr = whole_module("xarray")

        about = {name: (VARIABLES[name].dims, array, VARIABLES[name].attrs) for name, array in arrays.items()}
        return xr.Dataset(
            {**about, **self._about_arms()},
            coords={
                "policy": np.array(self.policies, dtype=object),  # text of any length, as zarr stores it
                "replication": np.arange(self.replications),
                "time": ("time", self.times, {"long_name": "number of pulls"}),
                "arm": np.array(self.arms, dtype=object),
            },
            attrs=self.attrs | self._bound(),
        )

    def _bound(self) -> dict[str, float]:
        """Return the constant of the lower bound, if it is known; it is computed here, not by every simulation."""
        found = None if self.lower_bound is None else self.lower_bound()
        return {} if found is None else {"lower_bound": found}

    def _about_arms(self) -> dict[str, Any]:
        """Return the means of the arms, and their values over time if these change."""
        found: dict[str, Any] = {"mean": (("arm",), self.means, {"long_name": "true mean of the arm"})}
        if self.values is not None:
            found["value"] = (("time", "arm"), self.values, {"long_name": "value of the arm at the time"})
        return found


class Problem(NamedTuple):
    """The objective of the arms, and how their values change; ``lower_bound`` computes that of :class:`Result`."""

    objective: str = "mean"
    regret_label: str = "regret"
    lower_bound: Callable[[], float | None] | None = None
    values: Floats | None = None
    breakpoints: Sequence[int] = ()
    oracle_reward: float | None = None


PLAIN_GAME: Final = Problem()


def labels(
    *,
    policies: Mapping[str, str],
    arms: Mapping[str, str],
    means: Floats,
    times: Ints,
    replications: int,
    seed: np.random.SeedSequence,
    game: Problem = PLAIN_GAME,
) -> Labels:
    """Make the labels; policies and arms map names to descriptions."""
    attrs: dict[str, Any] = {
        "format": FORMAT,
        "version": _version(),
        "policies": json.dumps(dict(policies)),
        "arms": json.dumps(dict(arms)),
        "objective": game.objective,
        "regret_label": game.regret_label,
        "seed": json.dumps({"entropy": seed.entropy, "spawn_key": list(seed.spawn_key)}),
    }
    if game.oracle_reward is not None:
        attrs["oracle_reward"] = game.oracle_reward
    if game.breakpoints:
        attrs["breakpoints"] = json.dumps([first + 1 for first in game.breakpoints])
    return Labels(list(policies), list(arms), means, times, replications, attrs, game.values, game.lower_bound)


@functools.cache
def _version() -> str:
    return importlib.metadata.version("dirichlet-bandits")


def stored_seed(attrs: Mapping[str, Any]) -> np.random.SeedSequence:
    """Return the root of all random streams of a simulation from its labels."""
    found = json.loads(attrs["seed"])
    return np.random.SeedSequence(found["entropy"], spawn_key=tuple(found["spawn_key"]))


MARKS: Final = "digest"
SECONDS: Final = "seconds"
LABELS: Final = ("policy", "replication", "time", "arm")
_CHUNKS: Final = 32  # of each policy: workers can share them, a killed run loses little, and files are not too many
_LARGEST_CHUNK: Final = 256
_DESCRIPTION: Final = "zarr.json"
_DIMS: Final = {name: variable.dims for name, variable in VARIABLES.items()} | {
    **{label: (label,) for label in LABELS},
    "mean": ("arm",),
    "value": ("time", "arm"),
    SECONDS: ("policy", "chunk"),
    MARKS: ("policy", "chunk"),
}
_TYPES: Final = {name: str(variable.dtype) for name, variable in VARIABLES.items()} | {
    "policy": "string",
    "replication": "int64",
    "time": "int64",
    "arm": "string",
    "mean": "float64",
    "value": "float64",
    SECONDS: "float64",
    MARKS: "uint64",
}

_BLANKS: Final = {"float64": ("NaN", 0.0), "int64": (0,), "uint64": (0,), "string": ("",)}


def chunk_size(replications: int) -> int:
    """Return the number of replications per chunk; it depends on nothing else, so any run fits any store.

    >>> chunk_size(50), chunk_size(5000), chunk_size(10**6)
    (2, 157, 256)
    """
    return min(-(-replications // _CHUNKS), _LARGEST_CHUNK)


def checked_attributes(place: str, name: str) -> dict[str, Any]:
    """Return the attributes of the result at a place that messages call ``name``; refuse anything else.

    Missing arrays are not an error: a process may have been killed before it wrote them.
    """
    group = _read_description(place, _DESCRIPTION, name)
    attributes = {} if group is None else group.get("attributes")
    if group is None or (group.get("zarr_format"), group.get("node_type")) != (3, "group"):
        raise FormatError(f"{name!r} is not a readable zarr folder of version 3")
    if not isinstance(attributes, dict) or attributes.get("format") != FORMAT:
        raise FormatError(f"{name!r} is not a result of dirichlet-bandits (expected format {FORMAT!r})")
    _check_attributes(attributes, name)
    arrays = {}
    for entry in contents(place):
        inside = entry.rstrip("/").rpartition("/")[2]
        found = None if inside == _DESCRIPTION else _read_description(place, f"{inside}/{_DESCRIPTION}", name)
        if found is not None:
            arrays[inside] = found
    _check_arrays(arrays, name)
    return attributes


def _read_description(place: str, path: str, name: str) -> dict[str, Any] | None:
    """Return zarr's JSON description of a group or an array, or None if there is none."""
    content = read(place, path)
    if content is None:
        return None
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name!r}: {path} is not readable: {error}") from error
    if not isinstance(found, dict):
        raise FormatError(f"{name!r}: {path} does not describe a part of a result")
    return found


def _check_attributes(attributes: Mapping[str, Any], name: str) -> None:
    """Refuse attributes that are not those of a result."""
    try:
        texts = [json.loads(attributes[key]) for key in ("policies", "arms")]
        texts.append(json.loads(attributes.get("identity", "{}")))
        sound = all(isinstance(text, dict) for text in texts)
        sound &= all(isinstance(attributes.get(key, ""), str) for key in ("objective", "regret_label"))
        float(attributes.get("lower_bound", 0.0)), float(attributes.get("oracle_reward", 0.0))
        sound &= all(isinstance(first, int) for first in json.loads(attributes.get("breakpoints", "[]")))
        stored_seed(attributes)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise FormatError(f"{name!r} has attributes that are not those of a result: {error!r}") from error
    if not sound:
        raise FormatError(f"{name!r} has attributes that are not those of a result")


def _check_arrays(arrays: Mapping[str, Mapping[str, Any]], name: str) -> None:
    """Refuse arrays whose names, shapes, types or codecs are not those of a result."""
    sizes: dict[str, int] = {}
    for array, found in arrays.items():
        dims, shape = _DIMS.get(array), found.get("shape")
        if dims is None:
            raise FormatError(f"{name!r}: {array!r} is not an array of a result")
        if not isinstance(shape, list) or len(shape) != len(dims) or any(type(n) is not int or n < 1 for n in shape):
            raise FormatError(f"{name!r}: {array!r} has shape {shape!r}, not {len(dims)} positive integers")
        sizes |= dict(zip(dims, shape, strict=True))
    if "replication" in sizes:
        sizes["chunk"] = -(-sizes["replication"] // chunk_size(sizes["replication"]))
    for array, found in arrays.items():
        shown = {key: found.get(key) for key in ("zarr_format", "node_type", "data_type", "shape", "dimension_names")}
        shown["chunk_key_encoding"] = found.get("chunk_key_encoding")
        shown["codecs"] = [_codec_name(codec) for codec in found.get("codecs") or ()]
        shown["storage_transformers"] = found.get("storage_transformers", [])
        if array in VARIABLES or "chunk" in _DIMS[array]:
            shown["chunk_grid"] = found.get("chunk_grid")
        if (blank := found.get("fill_value")) not in _BLANKS[_TYPES[array]]:
            raise FormatError(f"{name!r}: {array!r} has fill_value {blank!r}")
        expected = _expected(array, sizes)
        for key, value in shown.items():
            if value != expected[key]:
                raise FormatError(f"{name!r}: {array!r} has {key} {value!r}, not {expected[key]!r}")


def _expected(array: str, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return what the description of an array must contain."""
    dims = _DIMS[array]
    shape = [sizes[dim] for dim in dims]
    chunks = [1, chunk_size(sizes["replication"]), *shape[2:]] if array in VARIABLES else [1] * len(shape)
    return {
        "zarr_format": 3,
        "node_type": "array",
        "data_type": _TYPES[array],
        "shape": shape,
        "dimension_names": list(dims),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": ["vlen-utf8" if _TYPES[array] == "string" else "bytes little", "zstd"],
        "storage_transformers": [],
    }


def _codec_name(codec: Any) -> object:
    """Return the name of a codec, with its byte order if it has one; return anything else unchanged."""
    try:
        return " ".join(filter(None, (codec["name"], codec.get("configuration", {}).get("endian"))))
    except (TypeError, KeyError, AttributeError):
        return codec


class Chunk(NamedTuple):
    """The outcome of some replications of one policy, one row per replication."""

    regret: Floats
    pulls: Ints
    reward: Floats

    @classmethod
    def blank(cls, replications: int, times: int, arms: int) -> "Chunk":
        """Return rows in which nothing has been simulated yet."""
        shapes = {"regret": (replications, times), "pulls": (replications, arms), "reward": (replications,)}
        return cls(**{name: VARIABLES[name].empty(shape) for name, shape in shapes.items()})


def chunks(data: "xr.Dataset") -> Iterator[tuple[int, int, Chunk]]:
    """Yield the row, the first replication and a view of the arrays of each chunk of a result."""
    regret, pulls, reward = (data[name].to_numpy() for name in Chunk._fields)
    size = chunk_size(data.sizes["replication"])
    for row in range(data.sizes["policy"]):
        for first in range(0, data.sizes["replication"], size):
            at = slice(first, first + size)
            yield row, first, Chunk(regret[row, at], pulls[row, at], reward[row, at])
