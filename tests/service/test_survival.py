"""Nothing lost, nothing twice: the service is killed at random moments under clients that ask and tell."""

import multiprocessing

import numpy as np
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from tests.service import worker
from tests.service.running import Forked, Running
from tests.storage.test_survival import ARMS, acknowledged, check, kill_at_work, new_study

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def client(service, seed, trials, path):
    """A client in a process of its own."""
    words = (service.url, service.write, seed, trials, path)
    process = multiprocessing.get_context("fork").Process(target=worker.main, args=words)
    process.start()
    return process


def kill_service(service, folder, kills, clients):
    rng = np.random.default_rng(4)
    paths = [folder / f"{k}.log" for k in range(clients)]
    running = [client(service, k, 1_000_000, path) for k, path in enumerate(paths)]
    try:
        kill_at_work(service, kills, running, paths, 10, rng)
    finally:
        service.stop()
    frame, tells = check(service.storage, paths)
    assert len(tells) >= 10 * kills
    # Whatever a client got no answer for, it asked for again under the same token: no trial is left over,
    # save those that the clients had in hand when they were killed themselves.
    assert (frame["status"] == "pending").sum() <= 3 * clients


def test_a_dozen_kills_of_the_service_lose_nothing(tmp_path):
    new_study(f"sqlite:///{tmp_path}/studies.db")
    kill_service(Forked(tmp_path), tmp_path, kills=12, clients=2)


@pytest.mark.slow
def test_the_command_killed_dozens_of_times_loses_nothing(tmp_path):
    new_study(f"sqlite:///{tmp_path}/studies.db")
    kill_service(Running(tmp_path), tmp_path, kills=24, clients=4)


@pytest.mark.slow
def test_eight_clients_at_once(tmp_path):
    new_study(f"sqlite:///{tmp_path}/studies.db")
    service = Running(tmp_path)
    try:
        paths = [tmp_path / f"{k}.log" for k in range(8)]
        running = [client(service, k, 150, path) for k, path in enumerate(paths)]
        for process in running:
            process.join(timeout=500)
        assert [process.exitcode for process in running] == [0] * 8
    finally:
        service.stop()
    frame, tells = check(service.storage, paths)
    asks, _, abandoned, _ = acknowledged(paths)
    assert sorted(id for id, _ in asks) == list(range(len(frame)))
    assert len(tells) + len(abandoned) == len(frame) >= 8 * 150


def test_a_deleted_file_is_said_so(tmp_path):
    """Nothing is acknowledged that went into a file which nobody will ever read."""
    service = Forked(tmp_path)
    try:
        with service.connect() as studies, service.http(service.write) as line:
            id = studies.create_study("s", arms=ARMS, policy=db.UCB1(sigma=1.0)).ask().id
            for path in tmp_path.glob("studies.db*"):
                path.unlink()
            for _ in range(2):
                told = line.post("/api/tell", params={"study": "s"}, json={"id": id, "reward": 1.0})
                assert (told.status_code, told.json()["kind"]) == (503, "StorageError")
            assert not (tmp_path / "studies.db").exists()
    finally:
        service.stop()


def test_the_clock_may_jump(tmp_path, monkeypatch):
    """Times are for people to read: a clock that goes back changes no decision."""
    here = db.create_study("s", arms=["a", "b"], seed=1, storage=f"sqlite:///{tmp_path}/s.db")
    straight = db.create_study("s", arms=["a", "b"], seed=1)
    clock = iter(np.random.default_rng(5).uniform(-1e9, 4e9, 1000).tolist())
    for k in range(10):
        trial = straight.ask()
        straight.tell(trial.id, float(k % 3))
        with monkeypatch.context() as patch:
            patch.setattr("time.time", lambda: next(clock))
            assert here.ask()[:3] == trial[:3]
            here.tell(trial.id, float(k % 3))
    assert here.replay().same
    assert len(here.trials_dataframe()) == 10
    local_of(here).storage.close()
