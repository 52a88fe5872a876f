"""A simulation with a store survives being killed at any moment, and never mixes with anything else."""

import random
import shutil
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import stats

import dirichlet_bandits as db
from dirichlet_bandits.results.store import Store
from dirichlet_bandits.simulation import executors
from tests.bounds import SECONDS
from tests.simulation.games import GreedyUCB, run


def assert_same(first, second):
    for name in ("regret", "pulls", "reward", "mean"):
        np.testing.assert_array_equal(first.data[name], second.data[name])
        assert first.data[name].dtype == second.data[name].dtype


def marks(store):
    """When each mark was written; a draft is not a mark."""
    found = (store / "digest" / "c").rglob("*") if (store / "digest").exists() else []
    return {path: path.stat().st_mtime_ns for path in found if path.is_file() and not path.name.endswith(".partial")}


def tree(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole():
    return run()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    store = tmp_path_factory.mktemp("finished") / "runs.zarr"
    run(store)
    return store


@pytest.fixture
def store(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "runs.zarr")


def start(store, *words):
    """The simulation in a process of its own; with words it is killed (see ``tests/simulation/killed.py``)."""
    return subprocess.Popen([sys.executable, "-W", "error", "-m", "tests.simulation.killed", store, *map(str, words)])


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_killed_again_and_again_it_comes_out_the_same(tmp_path, whole, seed):
    store = tmp_path / "runs.zarr"
    moments = random.Random(seed)
    for new_marks in (0, 0, 1, 6, 11):  # the first two while the store is made, or soon after
        assert start(store, new_marks, moments.uniform(0.0, 0.05)).wait(SECONDS) == -signal.SIGKILL
    kept = marks(store)
    assert 18 <= len(kept) < 60
    assert_same(run(store), whole)
    assert kept.items() <= marks(store).items()  # what was finished has not been done again
    assert_same(db.load(store), whole)


@pytest.mark.parametrize("made", [[], ["mean", "arm"], ["mean", "arm", "policy", "replication", "time", "regret"]])
def test_killed_while_the_store_is_made(tmp_path, made):
    store = tmp_path / "runs.zarr"
    first = run(store, replications=2)
    for name in {
        "mean",
        "arm",
        "policy",
        "replication",
        "time",
        "regret",
        "pulls",
        "reward",
        "seconds",
        "digest",
    } - set(made):
        shutil.rmtree(store / name)
    if not made:  # not even the first file was complete
        (store / "zarr.json").rename(store / "zarr.0123.partial")
    with pytest.raises((FileNotFoundError, db.FormatError), match=r"runs\.zarr"):
        db.load(store)
    assert_same(run(store, replications=2), first)
    assert_same(db.load(store), first)


def test_two_processes_may_share_a_store(tmp_path, whole):
    store = tmp_path / "runs.zarr"
    both = [start(store), start(store)]
    assert [process.wait(SECONDS) for process in both] == [0, 0]
    assert_same(db.load(store), whole)


def cut(path, _):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def spoil(path, _):
    path.write_bytes(b"garbage")


def remove(path, _):
    path.unlink()


def swap(path, other):
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize(
    ("damage", "array"),
    [
        (cut, "regret"),
        (spoil, "pulls"),
        (remove, "reward"),
        (swap, "regret"),
        (cut, "digest"),
        (spoil, "digest"),
        (remove, "digest"),
        (swap, "digest"),
    ],
)
def test_a_damaged_chunk_is_found_and_done_again(store, whole, damage, array):
    chunk = ["c", "1", "29"] + ["0"] * (array in ("regret", "pulls"))
    neighbor = store.joinpath(array, *chunk[:2], "28", *chunk[3:])
    damage(store.joinpath(array, *chunk), neighbor)
    if (array, damage) == ("digest", remove):
        assert np.isnan(db.load(store).reward.values[1, -3:]).all()  # without a mark it is not done
    else:
        with pytest.raises(db.FormatError, match=r"runs\.zarr"):
            db.load(store)
    before = marks(store)
    assert_same(run(store), whole)
    assert_same(db.load(store), whole)
    assert sum(marks(store)[path] != before.get(path) for path in marks(store)) == 1


def test_damaged_labels_are_written_again(store, whole):
    cut(store / "policy" / "c" / "0", None)
    with pytest.raises(db.FormatError, match=r"runs\.zarr"):
        db.load(store)
    assert_same(run(store), whole)


def test_a_chunk_of_another_simulation_is_found_and_done_again(store, tmp_path, whole):
    other = tmp_path / "other.zarr"
    run(other, seed=4)
    for chunk in ("regret/c/0/7/0", "pulls/c/0/7/0", "reward/c/0/7", "digest/c/0/7"):
        shutil.copy(other / chunk, store / chunk)
    with pytest.raises(db.FormatError, match="replications 21 to 23 of 'narrow' are corrupt; run the simulation again"):
        db.load(store)
    assert_same(run(store), whole)


def values(last):
    return db.Bandit([db.Empirical([*range(9), last]), db.Bernoulli(0.5)], names=["many", "coin"])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 4}, "other seed"),
        ({"horizon": 300}, "other horizon, recorded times"),
        ({"replications": 60}, "other replications"),
        ({"record": [10]}, "other recorded times"),
        ({"policies": {"narrow": db.UCB1(sigma=0.5), "wide": db.UCB1(sigma=2.0)}}, "other policies"),
        ({"bandit": db.Bandit([db.Bernoulli(0.5)] * 3, names=["a", "b", "c"])}, "other arms"),
        ({"fast": False}, "other value of 'fast'"),
    ],
)
def test_another_simulation_is_refused_and_left_alone(store, changes, named):
    before = tree(store)
    with pytest.raises(db.ArgumentError, match=rf"'store' must be a free place.*runs\.zarr: {named}"):
        run(store, **changes)
    assert tree(store) == before


def test_data_that_look_the_same_are_not_the_same(tmp_path):
    assert repr(values(9)) == repr(values(10))
    run(tmp_path / "runs.zarr", values(9), replications=2)
    with pytest.raises(db.ArgumentError, match="other arms"):
        run(tmp_path / "runs.zarr", values(10), replications=2)


def test_foreign_places_are_refused_and_left_alone(tmp_path, whole):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    (tmp_path / "file").write_text("precious")
    whole.save(tmp_path / "saved.zarr")
    before = tree(tmp_path)
    for place, error in (("folder", db.FormatError), ("file", db.FormatError), ("saved.zarr", db.ArgumentError)):
        with pytest.raises(error, match=place):
            run(tmp_path / place)
    assert tree(tmp_path) == before


def test_a_grown_result_reads_like_a_saved_one(finished, tmp_path, whole):
    whole.save(tmp_path / "saved.zarr")
    grown, saved = db.load(finished), db.load(tmp_path / "saved.zarr")
    assert grown.data.attrs.pop("identity")
    assert grown.data.identical(saved.data)
    assert repr(grown) == repr(whole)


def test_a_grown_result_may_be_saved_elsewhere_and_go_on_there(finished, tmp_path, whole):
    db.load(finished).save(tmp_path / "copy.zarr")
    before = marks(tmp_path / "copy.zarr")
    assert_same(run(tmp_path / "copy.zarr"), whole)
    assert marks(tmp_path / "copy.zarr") == before


def test_without_a_seed_that_of_the_store_goes_on(tmp_path):
    first = run(tmp_path / "runs.zarr", replications=4, seed=None)
    before = marks(tmp_path / "runs.zarr")
    assert_same(run(tmp_path / "runs.zarr", replications=4, seed=None), first)
    assert marks(tmp_path / "runs.zarr") == before
    with pytest.raises(db.ArgumentError, match="other seed"):
        run(tmp_path / "runs.zarr", replications=4, seed=3)


def test_python_policies_and_foreign_laws_are_known_again(tmp_path):
    def again(scale):
        bandit = db.Bandit([stats.norm(0.0, scale), stats.norm(0.3, 1.0)])
        return run(tmp_path / "runs.zarr", bandit, {"mine": GreedyUCB()}, horizon=50, replications=4)

    first = again(1.0)
    before = marks(tmp_path / "runs.zarr")
    assert_same(again(1.0), first)
    assert marks(tmp_path / "runs.zarr") == before
    with pytest.raises(db.ArgumentError, match="other arms"):
        again(1.1)
    mine = GreedyUCB()
    mine.lock = threading.Lock()
    with pytest.raises(db.ArgumentError, match=r"policies\['mine'\]' must be picklable, so that a store can recognize"):
        run(tmp_path / "other.zarr", policies={"mine": mine})
    assert not (tmp_path / "other.zarr").exists()


@pytest.mark.parametrize("scheme", ["memory://{}", "file://{}"])
def test_urls(scheme, tmp_path):
    few = run(replications=4)
    place = scheme.format(tmp_path / "runs.zarr")
    assert_same(run(place, replications=4), few)
    assert_same(db.load(place), few)
    assert_same(run(place, replications=4), few)
    with pytest.raises(db.ArgumentError, match="other seed"):
        run(place, replications=4, seed=4)
    copy = scheme.format(tmp_path / "copy.zarr")
    few.save(copy)
    assert_same(db.load(copy), few)
    with pytest.raises(FileNotFoundError, match="no result at"):
        db.load(scheme.format(tmp_path / "nothing"))


def test_ctrl_c_keeps_finished_chunks(tmp_path, whole, monkeypatch):
    store, heard = tmp_path / "runs.zarr", threading.Event()
    write, abandon = Store.write, executors._abandon

    def write_and_interrupt(*words, **more):
        write(*words, **more)
        if len(marks(store)) == 5:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            heard.wait(SECONDS)

    def abandon_and_say_so(waiting):
        abandon(waiting)
        heard.set()

    monkeypatch.setattr(Store, "write", write_and_interrupt)
    monkeypatch.setattr(executors, "_abandon", abandon_and_say_so)
    with pytest.warns(UserWarning, match="interrupted"):
        partial = run(store, workers=1)
    monkeypatch.undo()
    done = ~np.isnan(partial.reward.values)
    assert 15 <= done.sum() < done.size
    np.testing.assert_array_equal(partial.regret.values[done], whole.regret.values[done])
    assert_same(db.load(store), partial)
    assert_same(run(store), whole)
