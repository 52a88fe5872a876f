"""Two may write to one path at once, readers see the old or the new, and who is killed has spoilt nothing."""

import multiprocessing
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import dirichlet_bandits as db
from dirichlet_bandits import files
from dirichlet_bandits.service.keys import add_key, read_keys, remove_key
from tests.bounds import join
from tests.simulation.games import BANDIT

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def simulated(horizon):
    return db.simulate(BANDIT, db.UCB1(sigma=0.5), horizon=horizon, replications=3, seed=0)


@pytest.fixture(scope="module")
def results():
    """Two that cannot be mistaken for each other: the second is longer."""
    return simulated(20), simulated(30)


def all_at_once(*calls):
    """Their answers, after all of them have begun together; errors are raised."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("kind", "read"), [(".csv", pd.read_csv), (".parquet", pd.read_parquet)])
def test_exports_to_one_path(tmp_path, kind, read):
    study = db.create_study("s", arms=["a", "b"], seed=1)
    study.tell_many([trial.id for trial in study.ask(300)], [1.0] * 300)
    path = tmp_path / f"log{kind}"
    study.export(path)
    writing = [lambda: [study.export(path) for _ in range(10)]] * 4
    *_, seen = all_at_once(*writing, lambda: [len(read(path)) for _ in range(40)])
    assert set(seen) == {300}
    assert names(tmp_path) == [path.name]


def test_results_saved_at_one_place(tmp_path, results):
    path = tmp_path / "runs.zarr"
    results[0].save(path)
    writing = [lambda one=one: [one.save(path) for _ in range(6)] for one in results]
    *_, seen = all_at_once(*writing, lambda: [db.load(path) for _ in range(12)])
    for found in seen:
        np.testing.assert_array_equal(found.regret, results[found.horizon == 30].regret)
    assert names(tmp_path) == [path.name]


def test_keys_added_and_removed_at_once(tmp_path):
    path = tmp_path / "keys.txt"
    for k in range(8):
        add_key(path, f"old {k}", "read")
    adding = [lambda k=k: [add_key(path, f"new {k} {j}", "write") for j in range(8)] for k in range(4)]
    all_at_once(*adding, lambda: [remove_key(path, f"old {k}") for k in range(8)])
    assert {key.name for key in read_keys(path)} == {f"new {k} {j}" for k in range(4) for j in range(8)}
    assert names(tmp_path) == ["keys.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be synced")
def test_a_power_cut_leaves_keys_as_they_were_or_as_they_are(tmp_path, monkeypatch):
    """The file is synced before it replaces the old one, and its folder afterwards, so a removed key stays removed."""
    path, steps, sync, replace = tmp_path / "keys.txt", [], os.fsync, os.replace

    def synced(descriptor):
        sync(descriptor)
        steps.append("folder" if os.path.isdir(descriptor) else os.fstat(descriptor).st_size)

    def replaced(draft, target):
        steps.append(("replaced", os.stat(draft).st_size))
        replace(draft, target)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr("os.replace", replaced)
    add_key(path, "phone", "read")
    remove_key(path, "phone")
    assert steps[1::3] == [("replaced", size) for size in steps[0::3]]
    assert steps[0] > steps[3] > 0
    assert steps[2::3] == ["folder"] * 2


CHANGES = ("os.rename", "os.remove", "os.rmdir")  # making folders is left out: threads race to it


def killed_before(change, act, path, seen):
    """Do it in a process that dies before its ``change``-th change to the disk.

    ``seen`` gets the number of changes, and which was the last that moved something to the path or away from it.
    """
    alone = threading.Lock()

    def hook(event, words):
        if event in CHANGES:
            with alone:
                seen[0] += 1
                if event == "os.rename" and str(path) in map(str, words[:2]):
                    seen[1] = seen[0]
                if seen[0] == change:
                    os._exit(9)

    sys.addaudithook(hook)
    act()
    os._exit(0)


@pytest.mark.parametrize("atomic", [True, False])
def test_a_save_may_be_killed_at_any_change(tmp_path, results, monkeypatch, atomic):
    """The old one is there until the new one is."""
    if not atomic:  # as on systems where two folders cannot change places at once
        monkeypatch.setattr(files, "exchange", lambda first, second: False)
    path = tmp_path / "runs.zarr"
    older, newer = results
    context = multiprocessing.get_context("fork")

    def save(change):
        older.save(path)
        seen = context.RawArray("q", 2)
        process = context.Process(target=killed_before, args=(change, lambda: newer.save(path), path, seen))
        process.start()
        join(process)
        return process.exitcode, *seen

    code, changes, turn = save(None)
    assert code == 0
    assert turn > 20
    horizons, gaps = [], 0
    for change in sorted({*range(1, changes + 1, 12), *range(turn - 3, turn + 4), changes}):
        assert save(change)[0] == 9
        if not path.exists():
            gaps += 1
            (kept,) = tmp_path.glob(".runs.zarr.*.old")
            with pytest.raises(FileNotFoundError, match=rf"no result at .*, but an older one at '{kept}'"):
                db.load(path)
            kept.rename(path)
        horizons.append(db.load(path).horizon)
    assert gaps == (0 if atomic else 1)
    assert horizons == sorted(horizons)
    assert set(horizons) == {20, 30}


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path):
    arms = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "'quoted", "26 Feb = 1"]
    study = db.create_study("s", arms=arms, seed=1)
    study.tell_many([trial.id for trial in study.ask(6)], [-1.5] * 6)
    study.export(tmp_path / "log.csv")
    study.export(tmp_path / "log.parquet")
    table, log = pd.read_csv(tmp_path / "log.csv"), pd.read_parquet(tmp_path / "log.parquet")
    assert set(table["arm"]) == {"'" + arm for arm in arms[:5]} | {arms[5]}
    assert not any(cell.startswith(tuple("=+-@")) for cell in table.select_dtypes(exclude=["number", "bool"]).stack())
    assert (table["reward"] == -1.5).all()  # numbers stay numbers
    assert list(table["arm"].str.removeprefix("'")) == list(log["arm"])
