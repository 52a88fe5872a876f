"""Summaries, comparisons, pictures and folders of results."""

import pickle

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
    assert found.better == "narrow"
    assert str(found).endswith("over 60 paired replications: narrow is better")
    assert result.compare("narrow", "wide").better == "narrow"


def test_unknown_policies_are_named(result):
    with pytest.raises(db.ArgumentError, match="'policy' must be one of 'narrow', 'wide'"):
        result.compare("narrow", "none")
    with pytest.raises(db.ArgumentError, match="'policy' must be one of"):
        result.plot(policies=["none"])
    with pytest.raises(db.ArgumentError, match="'confidence'"):
        result.compare("wide", "narrow", confidence=1.5)


def test_results_are_pickled_and_changed_in_place(result):
    fresh = db.simulate(BANDIT, {"narrow": db.UCB1(sigma=0.5)}, horizon=400, replications=60, seed=0)
    again = pickle.loads(pickle.dumps(fresh))
    assert again.data.identical(fresh.data)
    assert again.data.identical(result.data.sel(policy=["narrow"]).assign_attrs(fresh.data.attrs))
    again.data["reward"][0, 0] = np.nan
    assert (again.undone, fresh.undone) == (1, 0)


def test_chunks_written_one_by_one_are_those_that_zarr_writes(tmp_path):
    policies = {"narrow": db.UCB1(sigma=0.5), "wide": db.UCB1(sigma=2.0)}
    # The last chunk of each policy is short.
    grown, saved = tmp_path / "grown.zarr", tmp_path / "saved.zarr"
    db.simulate(BANDIT, policies, horizon=50, replications=70, seed=0, store=grown).save(
        saved
    )  # the last chunk is short
    chunks = {
        folder: {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("*/c/**/*") if path.is_file()}
        for folder in (grown, saved)
    }
    times = [name for name in chunks[grown] if name.startswith("seconds")]
    assert len(times) == 2 * 24
    assert {name: chunks[grown][name] for name in chunks[grown].keys() - times} == chunks[saved]


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


def test_frames_have_every_replication_that_was_done(result):
    frame = result.to_dataframe()
    assert list(frame.columns) == ["policy", "replication", "regret", "reward", "pulls of low", "pulls of high"]
    assert len(frame) == 120
    assert (frame["pulls of low"] + frame["pulls of high"] == 400).all()
    np.testing.assert_array_equal(frame["regret"][frame["policy"] == "wide"], result.final_regret("wide"))
    times = result.to_dataframe(over_time=True)
    assert list(times.columns) == ["policy", "replication", "time", "regret"]
    assert len(times) == result.regret.size
    cut = db.Result(result.data.copy(deep=True))
    cut.data["regret"][0, 5:] = np.nan
    cut.data["reward"][0, 5:] = np.nan
    assert cut.to_dataframe()["policy"].value_counts().to_dict() == {"wide": 60, "narrow": 5}
    assert len(cut.to_dataframe(over_time=True)) == 65 * result.data.sizes["time"]


def test_a_notebook_shows_the_summary_and_a_picture(result):
    shown = result._repr_html_()
    assert "2 policies, 2 arms, horizon 400, 60 replications" in shown
    assert shown.count("<tr>") == 3
    assert f"{result.summary().loc['wide', 'mean']:.4g}" in shown
    bold = [row for row in shown.split("<tr>") if "font-weight: bold" in row]
    assert len(bold) == 1
    assert ">narrow</td>" in bold[0]
    assert 'src="data:image/png;base64,iVBOR' in shown
    nothing = db.Result(result.data.copy(deep=True))
    for name in ("regret", "reward"):
        nothing.data[name][:] = np.nan
    assert "120 replications are unfinished" in nothing._repr_html_()
    assert "<img" not in nothing._repr_html_()
