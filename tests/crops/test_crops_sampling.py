"""Sampling: the same numbers from the same seed, whatever the workers, interruptions and broken chunks."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.bounds import SECONDS

from dirichlet_bandits import crops
from dirichlet_bandits.crops import dssat
from dirichlet_bandits.crops.dssat import Model
from dirichlet_bandits.crops.sampling import CHUNK, MAX_SEASONS
from dirichlet_bandits.errors import ArgumentError


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"seasons": 0}, "seasons"),
        ({"seasons": 1.5}, "seasons"),
        ({"seasons": MAX_SEASONS + 1}, "seasons"),
        ({"seed": -1}, "seed"),
        ({"workers": 0}, "workers"),
        ({"dates": ()}, "dates"),
        ({"dates": (57, 57)}, "dates"),
        ({"dates": (20,)}, "dates"),
        ({"case": "PC0005"}, "case"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], field: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        crops.sample(**arguments)  # type: ignore[arg-type]
    assert caught.value.name == field


def test_weather_seeds() -> None:
    seeds = crops.weather_seeds(0, 57)
    assert len(set(seeds.tolist())) == seeds.size == 40_000
    assert all(np.gcd(seeds, 10) == 1)
    assert seeds.min() == 1
    assert seeds.max() == 99_999
    # Pinned: the shipped samples follow this order.
    assert seeds[:3].tolist() == crops.load().rseeds[0, :3].tolist()
    assert not np.array_equal(seeds, crops.weather_seeds(1, 57))
    assert not np.array_equal(seeds, crops.weather_seeds(0, 72))


@pytest.mark.parametrize(("row", "chunk"), [(0, 0), (2, 1), (4, 500), (6, 999)])
def test_shipped_samples_come_again(model: Model, row: int, chunk: int) -> None:
    shipped = crops.load()
    again = crops.reproduce(shipped, row, chunk)
    np.testing.assert_array_equal(again, shipped.yields[row, CHUNK * chunk : CHUNK * (chunk + 1)])


def test_any_workers_and_any_length(model: Model, tmp_path: Path) -> None:
    one = crops.sample(45, dates=(87, 57), workers=1, out=tmp_path / "one.npz")
    two = crops.sample(25, dates=crops.load().days[:1], workers=3)
    np.testing.assert_array_equal(one.yields[1, :25], two.yields[0])
    shipped = crops.load()
    np.testing.assert_array_equal(one.yields[1], shipped.yields[0, :45])
    np.testing.assert_array_equal(one.yields[0], shipped.yields[2, :45])
    read = crops.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(read.yields, one.yields)
    assert read.provenance == one.provenance
    assert list(tmp_path.iterdir()) == [tmp_path / "one.npz"]


CODE = """
import os, signal, sys
from dirichlet_bandits import crops
from dirichlet_bandits.crops.sampling import Parts

out, seasons, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
put = Parts.put

def put_and_die(parts, *words):
    put(parts, *words)
    if sum(name[0].isdigit() for name in os.listdir(parts.folder)) == last:
        os.kill(os.getpid(), signal.SIGKILL)

Parts.put = put_and_die
crops.sample(seasons, dates=(57, 72), seed=5, workers=1, out=out)
"""


def start(out: Path, env: dict[str, str], seasons: int, last: int = 0) -> "subprocess.Popen[bytes]":
    """Sampling in a process of its own, which kills itself when it has made the last of so many chunks."""
    command = [sys.executable, "-c", CODE, str(out), str(seasons), str(last)]
    return subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)


def test_killed_and_resumed(model: Model, tmp_path: Path, child_env: dict[str, str]) -> None:
    out = tmp_path / "yields.npz"
    for last in (1, 3, 5):
        assert start(out, child_env, 80, last).wait(SECONDS) == -signal.SIGKILL
        assert not out.exists()
    parts = sorted(Path(f"{out}.parts").glob("[0-9]*"))
    # A truncated chunk, and a chunk of another date: both are found and made again.
    parts[0].write_bytes(parts[0].read_bytes()[:-5])
    parts[1].write_bytes(parts[-1].read_bytes())
    crops.sample(80, dates=(57, 72), seed=5, workers=1, out=out)
    (tmp_path / "whole").mkdir()
    whole = tmp_path / "whole" / "yields.npz"
    crops.sample(80, dates=(57, 72), seed=5, workers=2, out=whole)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["whole", "yields.npz"]


def test_interrupted_leaves_no_folder(model: Model, tmp_path: Path, child_env: dict[str, str]) -> None:
    out = tmp_path / "yields.npz"
    base = Path(dssat._short_base())
    before = set(base.glob("dban*"))
    process = start(out, child_env, seasons=MAX_SEASONS)  # more than it will ever get to
    while process.poll() is None and not list(Path(f"{out}.parts").glob("[0-9]*")):
        time.sleep(0.01)
    mine = set(base.glob("dban*")) - before
    process.send_signal(signal.SIGINT)
    assert process.wait(SECONDS) != 0
    assert mine
    assert not any(folder.exists() for folder in mine)
    assert not out.exists()


def test_no_folder_to_save_in(model: Model, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="folder that exists"):
        crops.sample(1, out=tmp_path / "none" / "yields.npz")
