"""The shipped samples: their size, their law, their provenance; and files that are not what they seem."""

import io
import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from dirichlet_bandits import crops
from dirichlet_bandits.crops.samples import SHIPPED, save
from dirichlet_bandits.errors import ArgumentError, FormatError

# An independent run of 2700 seasons a date with the same version of the model.
MEANS = (3081, 3291, 3612, 3557, 3730, 3825, 4125)
SDS = (2079, 1964, 1656, 1371, 1211, 1205, 1154)
ZEROS = (0.049, 0.040, 0.019, 0.008, 0.002, 0.004, 0.002)
SEASONS = 2700


def content() -> bytes:
    return resources.files(crops).joinpath(SHIPPED).read_bytes()


def test_shipped_file() -> None:
    samples = crops.load()
    assert samples.yields.shape == (7, 20_000)
    assert tuple(samples.days) == crops.DATES
    assert len(content()) < 2_000_000
    assert crops.case_from_mapping(samples.provenance["case"]) == crops.PUBLISHED
    assert samples.provenance["model"]["version"].startswith("4.8.2")
    assert samples.provenance["command"] == (
        "dirichlet-bandits crops sample --seasons 20000 --dates 57,72,87,102,117,132,147 --seed 0 "
        "--out maize_yields.npz"
    )
    for row, day in enumerate(crops.DATES):
        np.testing.assert_array_equal(samples.rseeds[row], crops.weather_seeds(0, day)[:1000])


def test_law_of_the_shipped_samples() -> None:
    for row, mean, sd, zeros in zip(crops.load().yields, MEANS, SDS, ZEROS, strict=True):
        error = sd * (1 / SEASONS + 1 / row.size) ** 0.5
        assert abs(row.mean() - mean) < 4 * error
        assert abs(row.std() - sd) < 4 * error  # the laws are lighter-tailed than the normal
        spread = (zeros * (1 - zeros) * (1 / SEASONS + 1 / row.size)) ** 0.5
        assert abs((row == 0).mean() - zeros) < 4 * spread + 0.0005  # printed to three decimals


def test_third_spring_date_is_best_by_a_small_gap() -> None:
    means = [values.mean() for values in crops.yields("spring").values()]
    assert int(np.argmax(means)) == 2
    assert 0 < means[2] - means[3] < 150


def test_yields_by_date() -> None:
    both = crops.yields(), crops.yields("spring")
    assert [len(found) for found in both] == [7, 4]
    assert list(both[0])[:4] == list(both[1])
    assert all(values.dtype == np.float64 for values in both[0].values())
    with pytest.raises(ArgumentError, match="'all', 'spring'"):
        crops.yields("summer")  # type: ignore[arg-type]


def test_saved_bytes_are_the_same(tmp_path: Path) -> None:
    save(crops.load(), tmp_path / "a.npz")
    save(crops.load(tmp_path / "a.npz"), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_truncated_and_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "yields.npz"
    whole = content()
    for broken in (b"", b"PK", b"hello", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(broken)
        with pytest.raises(FormatError, match="not a file of crop yields"):
            crops.load(path)
    np.savez(path, other=np.arange(3))
    with pytest.raises(FormatError):
        crops.load(path)
    with pytest.raises(FileNotFoundError):
        crops.load(tmp_path / "none.npz")


def test_flipped_bytes_are_found(tmp_path: Path) -> None:
    path = tmp_path / "yields.npz"
    small = crops.load()
    small = crops.Samples(small.days, small.yields[:, :40], small.rseeds[:, :2], small.provenance)
    save(small, path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(len(whole), size=300):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        try:
            read = crops.load(path)
        except FormatError:
            continue
        # Some bytes of an archive mean nothing; then nothing may have changed.
        np.testing.assert_array_equal(read.yields, small.yields)
        np.testing.assert_array_equal(read.rseeds, small.rseeds)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"yields": np.zeros((7, 20_000))}, "wrong array 'yields'"),
        ({"yields": np.full((7, 20_000), -99, dtype=np.int16)}, "below zero"),
        ({"days": np.full(7, 400, dtype=np.int16)}, "out of the year"),
        ({"rseeds": np.zeros((7, 3), dtype=np.int32)}, "different lengths"),
        ({"provenance": np.array("{}")}, "format"),
        ({"provenance": np.array(json.dumps([1]))}, "format"),
        ({"provenance": np.array("{")}, "corrupt"),
    ],
)
def test_inconsistent_files(tmp_path: Path, change: dict[str, np.ndarray], says: str) -> None:
    with np.load(io.BytesIO(content())) as file:
        arrays = {**dict(file), **change}
    np.savez(tmp_path / "yields.npz", **arrays)
    with pytest.raises(FormatError, match=says):
        crops.load(tmp_path / "yields.npz")


@pytest.mark.parametrize("dates", [["1 Jan"], [], ["28 Mar", 3], [87, 102]])
def test_dates_that_are_not_there_are_refused(dates):
    with pytest.raises(ArgumentError, match="'dates' must be 'all', 'spring' or a list of dates, each one of '26 Feb'"):
        crops.maize_planting(dates)
