"""The layout of a result on disk: names, shapes, data types and codecs, checked before zarr reads it.

zarr reads much more than this. Version 2 of its format can name codecs that unpickle, which would run code from the
file. So we accept only plain numbers and strings in version 3.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.results.labels import FORMAT, VARIABLES, stored_seed
from dirichlet_bandits.results.places import contents, read

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
