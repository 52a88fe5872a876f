"""Nothing lost, nothing twice: clients and the database are killed at random moments, many write at once."""

import multiprocessing
import time
from functools import partial

import numpy as np
import pytest

import dirichlet_bandits as db
from tests.bounds import join, until
from tests.storage import worker

ARMS = ["a", "b", "c"]

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


def client(url, seed, trials, path):
    """A client in a process of its own; forked, so that dozens of them can be afforded."""
    process = multiprocessing.get_context("fork").Process(target=worker.main, args=(url, seed, trials, path))
    process.start()
    return process


def end(processes):
    for process in processes:
        process.kill()
    join(*processes)


def new_study(url):
    study = db.create_study("s", arms=ARMS, storage=url, seed=1)
    rehearsal = db.create_study("r", arms=ARMS, storage=url)  # loads what is compiled before the first fork
    for _ in range(10):
        rehearsal.tell(rehearsal.ask().id, 1.0)
    for one in (study, rehearsal):
        one.storage.close()


def acknowledged(paths):
    """Everything that a client was told is done; a line cut by a kill does not count."""
    asks, tells, abandoned, failed = [], {}, set(), []
    for path in paths:
        for line in path.read_text().splitlines(keepends=True) if path.exists() else []:
            word, *rest = line.split()
            if not line.endswith("\n"):
                continue
            if word == "ask":
                asks.append((int(rest[0]), rest[1]))
            elif word == "tell":
                tells[int(rest[0])] = float(rest[1])
            elif word == "abandon":
                abandoned.add(int(rest[0]))
            else:
                failed.append(line)
    return asks, tells, abandoned, failed


def has_begun(path):
    return path.exists() and path.stat().st_size > 0


def have_reported(paths, rewards):
    return len(acknowledged(paths)[1]) >= rewards


def check(url, paths):
    study = db.load_study("s", url)
    frame = study.trials_dataframe()
    asks, tells, abandoned, _ = acknowledged(paths)
    assert len({id for id, _ in asks}) == len(asks)  # no id was given to two clients
    assert [(id, arm) for id, arm in asks if frame["arm"][id] != arm] == []
    assert [id for id, reward in tells.items() if frame["reward"][id] != reward] == []
    assert all(frame["status"][id] == "abandoned" for id in abandoned)
    replay = study.replay()  # rounds are whole, numbers without gaps, decisions what they should be
    assert replay.same, str(replay)
    return frame, tells


def kill_clients(url, tmp_path, kills, clients):
    """Start clients, kill one of them at a random moment of its work, start another in its place."""
    new_study(url)
    rng, paths = np.random.default_rng(2), []

    def start():
        paths.append(tmp_path / f"{len(paths)}.log")
        return client(url, len(paths), 1_000_000, paths[-1]), paths[-1]

    running = [start() for _ in range(clients)]
    try:
        for _ in range(kills):
            victim = int(rng.integers(clients))
            process, path = running[victim]
            until(partial(has_begun, path), 0.002, [process])
            time.sleep(float(rng.exponential(0.03)))
            end([process])
            running[victim] = start()
    finally:
        end([process for process, _ in running])
    frame, tells = check(url, paths)
    assert len(tells) > kills
    lost = (frame["status"] == "pending").sum()  # asked, and killed before it could say so or tell
    assert lost <= 3 * (kills + clients)


def test_a_dozen_killed_clients_lose_nothing(url, tmp_path):
    kill_clients(url, tmp_path, kills=12, clients=2)


@pytest.mark.slow
def test_hundreds_of_killed_clients_lose_nothing(url, tmp_path):
    kill_clients(url, tmp_path, kills=200, clients=4)


def kill_at_work(server, kills, running, paths, more, rng):
    """Kill a server again and again, each time after ``more`` rewards that its clients have reported."""
    try:
        for _ in range(kills):
            done = len(acknowledged(paths)[1])
            until(partial(have_reported, paths, done + more), 0.005, running)  # they are at work again
            time.sleep(float(rng.exponential(0.05)))
            server.kill()
            server.start()
    finally:
        end(running)


def kill_server(postgres, tmp_path, kills, clients):
    """Kill the database under working clients; they find it again, and what was acknowledged is there."""
    url = postgres.empty()
    new_study(url)
    rng = np.random.default_rng(3)
    paths = [tmp_path / f"{k}.log" for k in range(clients)]
    running = [client(url, k, 1_000_000, path) for k, path in enumerate(paths)]
    kill_at_work(postgres, kills, running, paths, 20, rng)
    check(url, paths)
    failed = acknowledged(paths)[3]
    assert all("nothing was written" in line or "may have been written" in line for line in failed)


def test_a_killed_database_loses_nothing(postgres, tmp_path):
    kill_server(postgres, tmp_path, kills=3, clients=2)


@pytest.mark.slow
def test_a_database_killed_dozens_of_times_loses_nothing(postgres, tmp_path):
    kill_server(postgres, tmp_path, kills=25, clients=3)


def many_at_once(url, tmp_path, processes, trials):
    new_study(url)
    paths = [tmp_path / f"{k}.log" for k in range(processes)]
    running = [client(url, k, trials // processes, path) for k, path in enumerate(paths)]
    join(*running)
    assert [process.exitcode for process in running] == [0] * processes
    frame, _ = check(url, paths)
    asks, tells, abandoned, failed = acknowledged(paths)
    assert failed == []
    assert sorted(id for id, _ in asks) == list(range(len(frame)))
    assert len(tells) + len(abandoned) == len(frame) >= trials
    assert (frame["status"] != "pending").all()


def test_eight_processes_at_once(url, tmp_path):
    many_at_once(url, tmp_path, processes=8, trials=400)


@pytest.mark.slow
def test_eight_processes_and_ten_thousand_trials(url, tmp_path):
    many_at_once(url, tmp_path, processes=8, trials=10_000)
