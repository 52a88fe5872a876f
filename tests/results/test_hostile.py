"""Folders that somebody made, or that a disk has spoilt: refused in our words, and nothing of them is run."""

import json
import os
import pickle
import shutil
from contextlib import suppress

import numcodecs.pickles
import numpy as np
import pytest
import zarr

import dirichlet_bandits as db
from tests.simulation.games import run

TINY = {"horizon": 30, "replications": 3}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    store = tmp_path_factory.mktemp("sound") / "runs.zarr"
    run(store, **TINY)
    return store


@pytest.fixture
def store(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "runs.zarr")


class Trap:
    """Unpickled, it leaves a folder."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def describe(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def trap(monkeypatch, tmp_path):
    """The folder that must not come into being; with numcodecs as it was before it refused to unpickle."""
    monkeypatch.setattr(numcodecs.pickles, "ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    return tmp_path / "sprung"


def version_2(folder, attributes, trap):
    describe(folder / ".zgroup", {"zarr_format": 2})
    describe(folder / ".zattrs", attributes)
    array = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "order": "C", "fill_value": None}
    array |= {"compressor": {"id": "pickle", "protocol": 5}, "filters": [{"id": "vlen-utf8"}]}
    for name in ("regret", "pulls", "reward", "digest", "mean", "policy"):
        describe(folder / name / ".zarray", array)
        describe(folder / name / ".zattrs", {"_ARRAY_DIMENSIONS": ["x"]})
        (folder / name / "0").write_bytes(pickle.dumps(Trap(trap)))


@pytest.mark.filterwarnings("ignore:Object at .* is not recognized")
def test_what_is_pickled_stays_pickled(store, tmp_path, trap):
    attributes = dict(zarr.open_group(store, mode="r").attrs)
    hostile = tmp_path / "hostile.zarr"
    version_2(hostile, attributes, trap)
    both = shutil.copytree(hostile, tmp_path / "both.zarr")
    shutil.copy(store / "zarr.json", both)  # a group of version 3, arrays of version 2
    for folder in (hostile, both):
        with pytest.raises(db.FormatError, match=folder.name):
            db.load(folder)
        assert not trap.exists()
        with suppress(db.FormatError):
            run(folder, **TINY)
        assert not trap.exists()
    with suppress(TypeError, ValueError):
        zarr.open_array(hostile / "mean", mode="r")[:]
    assert trap.exists()  # it is a trap


def set_in(path, value):
    """Change one thing in a description."""

    def change(described):
        *way, last = path
        for key in way:
            described = described[key]
        described[last] = value

    return change


@pytest.mark.parametrize(
    ("array", "path", "value"),
    [
        ("mean", ["data_type"], "variable_length_bytes"),
        ("policy", ["data_type"], "fixed_length_utf32"),
        ("time", ["data_type"], "int32"),
        ("mean", ["codecs"], [{"name": "numcodecs.pickle"}]),
        ("mean", ["codecs", 0, "configuration", "endian"], "big"),
        ("mean", ["codecs"], None),
        ("regret", ["shape"], [2, 3]),
        ("regret", ["shape"], [2, 3, 10**12]),
        ("digest", ["shape"], [2, 1]),
        ("reward", ["chunk_grid", "configuration", "chunk_shape"], [2, 3]),
        ("pulls", ["dimension_names"], ["policy", "replication", "time"]),
        ("time", ["zarr_format"], 2),
        ("time", ["node_type"], "group"),
        ("digest", ["chunk_key_encoding", "configuration", "separator"], "."),
        ("digest", ["storage_transformers"], [{"name": "other"}]),
        ("digest", ["fill_value"], "none"),
        ("", ["attributes", "seed"], "3"),
        ("", ["attributes", "policies"], "[]"),
        ("", ["attributes", "arms"], "{"),
        ("", ["attributes", "identity"], "x"),
        ("", ["attributes", "lower_bound"], "x"),
        ("", ["attributes", "objective"], 3),
        ("", ["attributes", "regret_label"], None),
        ("", ["attributes"], []),
        ("", ["zarr_format"], 2),
    ],
)
def test_descriptions_that_are_not_ours_are_refused(store, array, path, value):
    file = store / array / "zarr.json"
    described = json.loads(file.read_text())
    set_in(path, value)(described)
    file.write_text(json.dumps(described))
    before = file.read_bytes()
    for act in (db.load, lambda store: run(store, **TINY)):
        with pytest.raises(db.FormatError, match=r"runs\.zarr"):
            act(store)
    assert file.read_bytes() == before


def test_an_array_that_no_result_has_is_refused(store):
    shutil.copytree(store / "mean", store / "median")
    with pytest.raises(db.FormatError, match="'median' is not an array of a result"):
        db.load(store)


def test_descriptions_that_a_disk_has_spoilt(store):
    """Bytes lost, changed or cut off anywhere: our errors, or the very same result."""
    whole, rng = db.load(store), np.random.default_rng(7)
    refused = 0
    for file in sorted(store.rglob("zarr.json")):
        sound = file.read_bytes()
        for _ in range(12):
            spoilt, at = bytearray(sound), int(rng.integers(len(sound)))
            spoilt[at] ^= 1 << int(rng.integers(8))
            if rng.random() < 0.2:
                del spoilt[at:]
            file.write_bytes(spoilt)
            try:
                found = db.load(store)
            except db.FormatError:
                refused += 1
            else:
                for name in ("regret", "pulls", "reward", "mean", "time"):
                    np.testing.assert_array_equal(found.data[name], whole.data[name])
        file.write_bytes(sound)
    assert refused > 80
