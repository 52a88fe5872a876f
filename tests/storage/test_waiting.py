"""Whoever holds a lock and never lets go, calls end in the time promised, with our exception; also after a fork."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import numpy as np
import psycopg
import pytest

import dirichlet_bandits as db
from dirichlet_bandits.live.events import Asked
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.storage import Row, connecting, open_storage
from tests.bounds import exit_code, join
from tests.sockets import accepted

UCB1 = db.UCB1(sigma=1.0)
ARMS = ["a", "b", "c"]
HOLDER = """
import sys, time, psycopg
with psycopg.connect(sys.argv[1]) as connection:
    connection.execute("SELECT id FROM bandit_studies FOR UPDATE")
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def hasty(monkeypatch):
    """Two minutes are a second."""
    monkeypatch.setattr("dirichlet_bandits.storage.database.PATIENCE", 1.0)
    monkeypatch.setattr("dirichlet_bandits.storage.connecting.ATTEMPT", 0.2)


def outcomes(acts):
    """What becomes of acts in threads of their own: None or an exception; those that hang are missing."""
    found = []

    def run(act):
        try:
            act()
            found.append(None)
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def test_a_stopped_holder_of_the_lock_does_not_stop_others(postgres, hasty):
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=postgres.empty(), seed=1)
    study.ask()
    address = f"host={postgres.folder} user=tester dbname=postgres"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, address], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGSTOP)
        found = outcomes([study.ask, lambda: study.tell(0, 1.0)])
        assert [type(error) for error in found] == [db.StorageError] * 2
        assert all("lock timeout" in str(error) for error in found)
        assert len(study) == 1  # reading needs no lock
    finally:
        holder.kill()
        holder.communicate()
    assert study.ask().id == 1
    study.storage.close()


@contextmanager
def stopped_backends(postgres):
    """All processes of the server that serve somebody, stopped; new ones can be had."""
    with psycopg.connect(f"host={postgres.folder} user=tester dbname=postgres") as own:
        found = own.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchall()
    pids = [pid for (pid,) in found]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield len(pids)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_a_stopped_backend_is_given_up(postgres, hasty, monkeypatch):
    """It neither answers nor ends, and the network acknowledges whatever it is sent."""
    monkeypatch.setattr("dirichlet_bandits.storage.connecting._STATEMENT", 1.0)
    monkeypatch.setattr("dirichlet_bandits.storage.deadline.GRACE", 0.5)
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=postgres.empty(), seed=1)
    study.ask()
    with stopped_backends(postgres) as stopped:
        assert stopped > 0
        found = outcomes([lambda: study.tell(0, 1.0)])
        assert len(found) == 1, "the call hangs"
    assert found[0] is None or "has not answered for 1.5 s" in str(found[0])
    assert study.ask().id == 1
    study.tell(0, 1.0)
    study.storage.close()


def test_a_backend_that_stops_before_the_commit(postgres, hasty, monkeypatch):
    monkeypatch.setattr("dirichlet_bandits.storage.connecting._STATEMENT", 1.0)
    monkeypatch.setattr("dirichlet_bandits.storage.deadline.GRACE", 0.5)
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=postgres.empty(), seed=1)

    def act():
        with study.storage.transaction("s") as transaction:
            transaction.append([Row(3, Asked.kind, trial=0, arm=0, value=1.0, data=np.ones(3).tobytes())])
            stop.enter_context(stopped_backends(postgres))

    with ExitStack() as stop:
        found = outcomes([act])
    assert [type(error) for error in found] == [db.StorageError]
    assert "it may have been written: the server has not answered for 1.5 s" in str(found[0])
    assert len(study) in (0, 1)  # the server may still commit
    study.storage.close()


class Stalling:
    """A proxy in front of the server's socket that can stop passing anything on, but still accepts connections."""

    def __init__(self, postgres, folder):
        self.there = f"{postgres.folder}/.s.PGSQL.5432"
        self.flowing = threading.Event()
        self.flowing.set()
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(f"{folder}/.s.PGSQL.5432")
        self.listening.listen(50)
        self.url = f"postgresql+psycopg://tester@/postgres?host={folder}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        for client in accepted(self.listening):
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.there)
            for ends in ((client, server), (server, client)):
                threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, source, target):
        with source, target, suppress(OSError):
            while data := source.recv(65536):
                self.flowing.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.flowing.set()
        self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


def test_a_stalling_proxy_is_given_up(postgres, hasty, monkeypatch):
    monkeypatch.setattr("dirichlet_bandits.storage.connecting._STATEMENT", 1.0)
    monkeypatch.setattr("dirichlet_bandits.storage.deadline.GRACE", 0.5)
    monkeypatch.setitem(connecting._NETWORK, "connect_timeout", 2)
    postgres.empty()
    with tempfile.TemporaryDirectory(prefix="stall-", dir="/tmp") as folder:  # a socket's path must be short
        proxy = Stalling(postgres, folder)
        study = db.create_study("s", arms=ARMS, policy=UCB1, storage=proxy.url, seed=1)
        study.ask()
        proxy.flowing.clear()
        found = outcomes([lambda: study.tell(0, 1.0), lambda: len(study), lambda: open_storage(proxy.url)])
        assert [type(error) for error in found] == [db.StorageError] * 3
        proxy.flowing.set()
        study.tell(0, 1.0)
        study.storage.close()
        proxy.close()


def test_how_sessions_are_set_up(postgres):
    """Not by the server's defaults; and a server that has vanished from the network is given up."""
    storage = open_storage(postgres.empty(), create=True)
    connection = storage._engine.raw_connection()
    shown = {}
    for name in ("lock_timeout", "statement_timeout", "synchronous_commit", "transaction_isolation"):
        shown[name] = connection.execute(f"SHOW {name}").fetchone()[0]
    assert shown == {
        "lock_timeout": "5s",
        "statement_timeout": "1min",
        "synchronous_commit": "on",
        "transaction_isolation": "read committed",
    }
    given = connection.dbapi_connection.info.get_parameters()
    seconds = [int(given[f"keepalives_{name}"]) for name in ("idle", "interval", "count")]
    assert seconds[0] + seconds[1] * seconds[2] == int(given["tcp_user_timeout"]) / 1000 == 30
    connection.close()
    storage.close()


def test_isolation_is_ours(postgres):
    """With repeatable reads, whoever waited for a lock would not see what was written meanwhile."""
    url = postgres.empty()
    with psycopg.connect(f"host={postgres.folder} user=tester dbname=postgres", autocommit=True) as server:
        server.execute("ALTER ROLE tester SET default_transaction_isolation TO 'repeatable read'")
        try:
            study = db.create_study("s", arms=ARMS, policy=UCB1, storage=url, seed=1)
            other = db.load_study("s", url)
            assert len(other) == 0
            asked = []
            with local_of(study)._writing() as (_, draft, _):
                thread = threading.Thread(target=lambda: asked.append(other.ask()), daemon=True)
                thread.start()
                while not server.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
                    time.sleep(0.01)
                draft(Asked(0, 0, 1.0, np.ones(3).tobytes()))
            thread.join(60)
            assert [trial.id for trial in asked] == [1]
            assert len(study) == 2
        finally:
            server.execute("ALTER ROLE tester RESET default_transaction_isolation")
    study.storage.close()
    other.storage.close()


def test_many_threads_on_one_locked_file(tmp_path, hasty):
    storage = open_storage(f"sqlite:///{tmp_path}/s.db", create=True)
    studies = [db.create_study(f"s{k}", arms=ARMS, policy=UCB1, storage=storage, seed=k) for k in range(20)]
    holder = sqlite3.connect(tmp_path / "s.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    found = outcomes([study.ask for study in studies])
    assert [type(error) for error in found] == [db.StorageError] * 20
    assert all("database is locked" in str(error) for error in found)
    holder.execute("ROLLBACK")
    holder.close()
    assert outcomes([study.ask for study in studies]) == [None] * 20
    assert [len(study) for study in studies] == [1] * 20
    storage.close()


def test_more_threads_than_the_server_has_connections(postgres, hasty):
    url = postgres.empty()
    storage = open_storage(url, create=True)
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=storage, seed=1)
    loaded = [db.load_study("s", storage) for _ in range(20)]  # a lock each: all of them go to the storage
    with storage.transaction("s"):
        found = outcomes([one.ask for one in loaded])
    assert [type(error) for error in found] == [db.StorageError] * 20
    assert len(study) == 0
    storage.close()


def fork(act):
    """The exit status of a forked child that does this."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = act()
        finally:
            os._exit(status)
    return exit_code(child)


def at_work(study, seconds):
    """A thread that holds the study and its storage for a while."""
    inside, forked = threading.Event(), threading.Event()

    def work():
        with local_of(study)._writing():
            inside.set()
            forked.wait(seconds)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(60)
    return thread, forked


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
quiet = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")


@forks
@quiet
def test_a_fork_while_another_thread_is_at_work(storage):
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=storage, seed=1)
    study.tell_many(range(3), [float(trial.id) for trial in study.ask(3)])
    thread, _ = at_work(study, 0.3)
    assert fork(lambda: 0 if study.ask().id == 3 and study.replay().same else 2) == 0
    join(thread)
    assert study.ask().id == (3 if storage.url == "memory://" else 4)  # memory is not shared
    assert study.replay().same


@forks
@quiet
def test_a_fork_that_could_not_wait_is_said_so(tmp_path, monkeypatch):
    """SQLite takes the locks of the parent's threads for the child's own: nobody could ever take them again."""
    monkeypatch.setattr("dirichlet_bandits.storage.database._FORKING", 0.1)
    study = db.create_study("s", arms=ARMS, policy=UCB1, storage=f"sqlite:///{tmp_path}/s.db", seed=1)

    def act():
        try:
            study.ask()
        except db.StorageError as error:
            return 0 if "was forked while a thread was at work on it" in str(error) else 2
        return 3

    thread, forked = at_work(study, 60)
    try:
        assert fork(act) == 0
    finally:
        forked.set()
        join(thread)
    assert study.ask().id == 0  # the parent has nothing to fear
    study.storage.close()


FORKING_AND_OPENING = """
import os, sys, threading
import dirichlet_bandits as db
from dirichlet_bandits.storage import open_storage

ending = threading.Event()

def open_again_and_again():
    while not ending.is_set():
        open_storage(f"sqlite:///{sys.argv[1]}/t.db", create=True).close()

thread = threading.Thread(target=open_again_and_again)
thread.start()
study = db.create_study("s", arms=["a", "b"], policy=db.UCB1(sigma=1.0), storage=f"sqlite:///{sys.argv[1]}/s.db")
ended = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            study.ask()
            open_storage(f"sqlite:///{sys.argv[1]}/t.db").names()
            status = 0
        finally:
            os._exit(status)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ending.set()
thread.join()
print(set(ended), len(study))
"""


@forks
def test_forks_while_a_thread_opens_storages(tmp_path):
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING_AND_OPENING, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "{0} 40\n", "")
