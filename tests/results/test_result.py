"""Summaries, comparisons, pictures and folders of results."""

import numpy as np
import pytest
import zarr

import dirichlet_bandits as db

BANDIT = db.Bandit([db.Gaussian(0.0, 1.0), db.Gaussian(1.0, 1.0)], names=["low", "high"])


@pytest.fixture(scope="module")
def result():
    policies = {"narrow": db.UCB1(sigma=0.5), "wide": db.UCB1(sigma=2.0)}
    return db.simulate(BANDIT, policies, horizon=400, replications=60, seed=0)


def test_summary_is_that_of_the_final_regrets(result):
    table = result.summary()
    final = result.regret.sel(policy="wide").values[:, -1]
    row = table.loc["wide"]
    assert row["mean"] == pytest.approx(final.mean())
    assert row["std"] == pytest.approx(final.std(ddof=1))
    assert row["stderr"] == pytest.approx(final.std(ddof=1) / np.sqrt(60))
    assert (row["q05"], row["q95"]) == pytest.approx(tuple(np.quantile(final, [0.05, 0.95])))
    assert list(table.index) == ["narrow", "wide"]


def test_compare_is_paired(result):
    found = result.compare("wide", "narrow")
    difference = result.regret.values[1, :, -1] - result.regret.values[0, :, -1]
    assert found.difference == pytest.approx(difference.mean())
    assert found.low < found.difference < found.high
    # Student's t for 59 degrees of freedom at 95 %, from tables: 2.0010
    assert found.high - found.difference == pytest.approx(2.0010 * difference.std(ddof=1) / np.sqrt(60), rel=1e-4)
    assert "a clear difference" in str(found)


def test_unknown_policies_are_named(result):
    with pytest.raises(db.ArgumentError, match="'policy' must be one of 'narrow', 'wide'"):
        result.compare("narrow", "none")
    with pytest.raises(db.ArgumentError, match="'policy' must be one of"):
        result.plot(policies=["none"])
    with pytest.raises(db.ArgumentError, match="'confidence'"):
        result.compare("wide", "narrow", confidence=1.5)


def test_saved_results_come_back_bit_for_bit(result, tmp_path):
    result.save(tmp_path / "runs.zarr")
    again = db.load(tmp_path / "runs.zarr")
    for name in ("regret", "pulls", "reward", "mean"):
        np.testing.assert_array_equal(again.data[name], result.data[name])
        assert again.data[name].dtype == result.data[name].dtype
    assert again.data.attrs == result.data.attrs
    again.save(tmp_path / "runs.zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["runs.zarr"]


def test_foreign_and_corrupt_folders_are_refused_and_left_alone(result, tmp_path):
    other = tmp_path / "other.zarr"
    zarr.save(other, np.arange(3))
    text = tmp_path / "file.zarr"
    text.write_text("hello")
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.txt").write_text("precious")
    for path in (other, text, thesis):
        with pytest.raises(db.FormatError, match=path.name):
            db.load(path)
        with pytest.raises(db.FormatError, match=path.name):
            result.save(path)
    assert text.read_text() == "hello"
    assert (thesis / "chapter.txt").read_text() == "precious"
    (tmp_path / "empty").mkdir()
    for nothing in ("nothing", "empty"):
        with pytest.raises(FileNotFoundError, match="no result at"):
            db.load(tmp_path / nothing)
    result.save(tmp_path / "runs.zarr")
    chunk = next(path for path in (tmp_path / "runs.zarr" / "regret" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"garbage")
    with pytest.raises(db.FormatError, match=r"runs\.zarr"):
        db.load(tmp_path / "runs.zarr")


def test_the_picture_shows_every_policy_and_the_bound(result, tmp_path):
    figure = result.plot(tmp_path / "regret.png", log_time=True, lower_bound=2.0, title="Two Gaussians")
    assert (tmp_path / "regret.png").stat().st_size > 10_000
    axes = figure.axes[0]
    lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["narrow", "wide", "lower bound"]
    np.testing.assert_allclose(lines["wide"].get_ydata(), result.regret.sel(policy="wide").mean("replication"))
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "number of pulls"


def test_the_evident_lower_bound_is_kept_and_drawn(result, tmp_path):
    assert result.lower_bound == 2.0  # 2 sigma^2 / gap
    lines = {line.get_label(): line for line in result.plot().axes[0].lines}
    np.testing.assert_allclose(lines["lower bound"].get_ydata(), 2.0 * np.log(result.data["time"]))
    assert "lower bound" not in [line.get_label() for line in result.plot(lower_bound=False).axes[0].lines]
    result.save(tmp_path / "runs.zarr")
    assert db.load(tmp_path / "runs.zarr").lower_bound == 2.0
    with pytest.raises(db.ArgumentError, match="'lower_bound' must be a finite number"):
        result.plot(lower_bound=np.nan)
    unknown = db.Bandit([db.Gaussian(0.0, 1.0), db.Uniform(0.0, 1.0)])
    other = db.simulate(unknown, {"narrow": db.UCB1(sigma=0.5)}, horizon=10, replications=2, seed=0)
    assert other.lower_bound is None
    assert "lower bound" not in [line.get_label() for line in other.plot().axes[0].lines]
