"""Whatever runs the units, the numbers are those of one thread; lost workers are survived, or named."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import distributed
import numpy as np
import pytest
from typer.testing import CliRunner

import dirichlet_bandits as db
from dirichlet_bandits.cli import app
from dirichlet_bandits.experiments import runner
from dirichlet_bandits.simulation import dask_executor
from tests.bounds import join
from tests.simulation.games import BANDIT, Dice, Fatal, GreedyUCB, run
from tests.simulation.test_store import assert_same, marks

POLICIES = {"UCB1": db.UCB1(sigma=1.0), "mine": GreedyUCB()}
SMALL = {"bandit": db.Bandit([*BANDIT.arms, Dice()]), "policies": POLICIES, "horizon": 60, "replications": 9}


def process_pool(workers):
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(scope="module")
def processes():
    with process_pool(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.CRITICAL
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def test_threads_of_the_users_own():
    with ThreadPoolExecutor(3) as pool:
        assert_same(run(executor=pool, **SMALL), run(**SMALL, workers=1))


def test_processes(processes, tmp_path):
    one = run(**SMALL, workers=1)
    assert run(executor=processes, **SMALL).data.identical(one.data)
    assert_same(run(tmp_path / "runs.zarr", executor=processes, **SMALL), one)
    assert len(marks(tmp_path / "runs.zarr")) == 18


def test_a_dask_cluster(client, tmp_path):
    one = run(**SMALL, workers=1)
    assert run(executor=client.get_executor(), **SMALL).data.identical(one.data)
    assert_same(run(tmp_path / "runs.zarr", executor=client.get_executor(), **SMALL), one)
    assert len(marks(tmp_path / "runs.zarr")) == 18


def test_worlds_on_all_executors(processes, client, tmp_path):
    coins = [db.Bernoulli(0.3), db.Bernoulli(0.6), db.Bernoulli(0.5)]
    world = {
        "bandit": db.Piecewise({1: coins, 31: coins[::-1]}),
        "policies": POLICIES,
        "horizon": 60,
        "replications": 9,
        "delay": db.Geometric(0.3),
        "window": 20,
        "batch": 3,
    }
    one = run(**world, workers=1)
    assert one.breakpoints == (31,)
    assert run(**world, workers=3).data.identical(one.data)
    for k, executor in enumerate((processes, client.get_executor())):
        assert run(executor=executor, **world).data.identical(one.data)
        stored = run(tmp_path / f"{k}.zarr", executor=executor, **world)
        assert_same(stored, one)
        assert (stored.values.to_numpy() == one.values.to_numpy()).all()
        assert stored.breakpoints == (31,)


def test_a_dask_worker_killed_in_the_middle_is_survived(client, tmp_path):
    store = tmp_path / "runs.zarr"
    workers = set(client.run(os.getpid).values())
    seen = []

    def kill():
        while len(marks(store)) < 5:
            time.sleep(0.001)
        os.kill(min(workers), signal.SIGKILL)
        seen.append(len(marks(store)))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = run(store, executor=client.get_executor())
    join(killer)
    assert 5 <= seen[0] < 60
    assert_same(found, run(workers=1))


def test_the_command_runs_on_a_cluster_and_goes_on(cluster, coins, tmp_path, monkeypatch):
    monkeypatch.chdir(coins())
    command = ["simulate", "coins.toml", "--store", "runs.zarr"]
    answer = CliRunner().invoke(app, [*command, "--dask", cluster.scheduler_address])
    assert answer.exit_code == 0, answer.output
    assert "saved: runs.zarr" in answer.stdout
    before = marks(tmp_path / "runs.zarr")
    assert len(before) == 4
    assert CliRunner().invoke(app, [*command, "--quiet"]).exit_code == 0
    assert marks(tmp_path / "runs.zarr") == before


def test_the_paper_on_a_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "QUICK", 4)
    command = ["paper", "--only", "sensitivity", "--quiet", "--out"]
    # Here first: what this compiles, the workers load.
    assert CliRunner().invoke(app, [*command, "here", "--workers", "1"]).exit_code == 0
    answer = CliRunner().invoke(app, [*command, "there", "--dask", cluster.scheduler_address])
    assert answer.exit_code == 0, answer.output
    there, here = (db.load(f"{place}/data/quick/sensitivity.zarr") for place in ("there", "here"))
    assert_same(there, here)


def test_a_pool_that_breaks_is_named_and_the_next_goes_on(tmp_path):
    policies = {"UCB1": db.UCB1(sigma=1.0), "fatal": Fatal(tmp_path / "flag")}
    settings = {"policies": policies, "horizon": 60, "replications": 9}
    with (
        process_pool(1) as pool,
        pytest.raises(db.LostWorkerError, match=r"workers were lost .* run again to continue from the store"),
    ):
        run(tmp_path / "runs.zarr", executor=pool, **settings)
    found = run(tmp_path / "runs.zarr", **settings)
    alive = run(policies=GreedyUCB(), horizon=60, replications=9)
    np.testing.assert_array_equal(found.regret.sel(policy="fatal"), alive.regret[0])


class Unreliable(ThreadPoolExecutor):
    """Loses the answer of a unit a few times, as a broken connection would."""

    def __init__(self, losses):
        super().__init__(2)
        self.losses = losses
        self.asked = 0

    def submit(self, function):
        def lose():
            function()
            raise ConnectionResetError("the line went dead")

        self.asked += 1
        return super().submit(lose if self.asked <= self.losses else function)


def test_a_lost_unit_is_tried_again(caplog):
    with Unreliable(losses=18) as pool:
        assert_same(run(executor=pool, **SMALL), run(**SMALL))
        assert pool.asked == 36
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(said) == 18
    assert all("tried again after" in text for text in said)
    with Unreliable(losses=1000) as pool, pytest.raises(db.LostWorkerError, match="the line went dead"):
        run(executor=pool, **SMALL)


def test_an_error_of_a_policy_is_not_tried_again(processes):
    class Broken(GreedyUCB):
        def select(self, rng):
            raise ZeroDivisionError

    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError):
        run(executor=pool, **{**SMALL, "policies": Broken()})
    with pytest.raises(db.ArgumentError, match=r"policies\[.*Broken.*\]' must be picklable, to be sent to workers"):
        run(executor=processes, **{**SMALL, "policies": Broken()})


def test_workers_that_do_not_see_the_store_say_so(processes):
    with pytest.raises(db.FormatError, match="no result at 'memory://unshared' as seen by a worker"):
        run("memory://unshared", executor=processes, **SMALL)


def test_bad_input_is_refused(tmp_path, monkeypatch):
    with pytest.raises(db.ArgumentError, match=r"'executor' must be a concurrent\.futures\.Executor"):
        run(executor=2, **SMALL)
    with ThreadPoolExecutor(1) as pool, pytest.raises(db.ArgumentError, match="'workers' must be omitted"):
        run(executor=pool, workers=2, **SMALL)
    with pytest.raises(db.ArgumentError, match="'address' must be that of a Dask scheduler"), dask_executor("nonsense"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(db.MissingExtraError, match=r"pip install 'dirichlet-bandits\[dask\]'"),
        dask_executor("tcp://a"),
    ):
        pass
