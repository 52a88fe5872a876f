"""Nothing lost, nothing twice: clients and the database are killed at random moments, many write at once."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dirichlet_bandits as db

ARMS = ["a", "b", "c"]
ROOT = Path(__file__).parents[2]


def client(url, seed, trials, path):
    command = [sys.executable, "-W", "error", "-m", "tests.storage.worker", url, str(seed), str(trials), str(path)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)


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


def finish(processes):
    for process in processes:
        _, errors = process.communicate(timeout=500)
        assert process.returncode == 0, errors


def kill_clients(url, tmp_path, kills, clients):
    """Start clients, kill one of them at a random moment of its work, start another in its place."""
    db.create_study("s", arms=ARMS, storage=url, seed=1)
    rng, paths = np.random.default_rng(2), []

    def start():
        paths.append(tmp_path / f"{len(paths)}.log")
        return client(url, len(paths), 1_000_000, paths[-1]), paths[-1]

    running = [start() for _ in range(clients)]
    try:
        for _ in range(kills):
            victim = int(rng.integers(clients))
            process, path = running[victim]
            while not path.exists() or path.stat().st_size == 0:  # not before it has begun to work
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.01)
            time.sleep(float(rng.exponential(0.1)))
            process.kill()
            process.communicate()
            running[victim] = start()
    finally:
        for process, _ in running:
            process.kill()
            process.communicate()
    frame, tells = check(url, paths)
    assert len(tells) > kills
    lost = (frame["status"] == "pending").sum()  # asked, and killed before it could say so or tell
    assert lost <= 3 * (kills + clients)


def test_killed_clients_lose_nothing(url, tmp_path):
    kill_clients(url, tmp_path, kills=4, clients=2)


@pytest.mark.slow
def test_dozens_of_killed_clients_lose_nothing(url, tmp_path):
    kill_clients(url, tmp_path, kills=40, clients=3)


def kill_server(postgres, tmp_path, kills, clients):
    """Kill the database under working clients; they find it again, and what was acknowledged is there."""
    url = postgres.empty()
    db.create_study("s", arms=ARMS, storage=url, seed=1).storage.close()
    rng = np.random.default_rng(3)
    paths = [tmp_path / f"{k}.log" for k in range(clients)]
    running = [client(url, k, 1_000_000, path) for k, path in enumerate(paths)]
    try:
        for _ in range(kills):
            done = len(acknowledged(paths)[1])
            while len(acknowledged(paths)[1]) < done + 20:  # they are at work again
                assert [process.stderr.read() for process in running if process.poll() is not None] == []
                time.sleep(0.05)
            time.sleep(float(rng.exponential(0.2)))
            postgres.kill()
            postgres.start()
    finally:
        for process in running:
            process.kill()
            process.communicate()
    check(url, paths)
    failed = acknowledged(paths)[3]
    assert all("nothing was written" in line or "may have been written" in line for line in failed)


def test_a_killed_database_loses_nothing(postgres, tmp_path):
    kill_server(postgres, tmp_path, kills=2, clients=2)


@pytest.mark.slow
def test_a_database_killed_dozens_of_times_loses_nothing(postgres, tmp_path):
    kill_server(postgres, tmp_path, kills=25, clients=3)


def many_at_once(url, tmp_path, processes, trials):
    db.create_study("s", arms=ARMS, storage=url, seed=1)
    paths = [tmp_path / f"{k}.log" for k in range(processes)]
    finish([client(url, k, trials // processes, path) for k, path in enumerate(paths)])
    frame, _ = check(url, paths)
    asks, tells, abandoned, failed = acknowledged(paths)
    assert failed == []
    assert sorted(id for id, _ in asks) == list(range(len(frame)))
    assert len(tells) + len(abandoned) == len(frame) >= trials
    assert (frame["status"] != "pending").all()


def test_processes_at_once(url, tmp_path):
    many_at_once(url, tmp_path, processes=3, trials=150)


@pytest.mark.slow
def test_eight_processes_and_ten_thousand_trials(url, tmp_path):
    many_at_once(url, tmp_path, processes=8, trials=10_000)
