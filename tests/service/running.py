"""A real service in a process of its own."""

import multiprocessing
import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx

import dirichlet_bandits as db
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.service.app import create_app, run
from dirichlet_bandits.service.keys import add_key, read_keys
from tests.bounds import SECONDS, join, until

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Running:
    """``dirichlet-bandits serve`` with a key to read and one to write; on an SQLite file unless told otherwise."""

    def __init__(self, folder, keyed=True, storage=None):
        self.storage = storage or f"sqlite:///{folder}/studies.db"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = Path(folder) / "service.log"
        self.how = ["--open"]
        self.read = self.write = None
        if keyed:
            keys = Path(folder) / "keys.txt"
            self.read, self.write = add_key(keys, "read", "read"), add_key(keys, "write", "manage")
            self.how = ["--keys", str(keys)]
        self.start()

    def start(self):
        command = [sys.executable, "-m", "dirichlet_bandits", "serve", "--storage", self.storage, *self.how]
        environment = {**os.environ, "PYTHONWARNINGS": "error"}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port)], cwd=ROOT, stdout=log, stderr=log, env=environment
            )
        self._await()

    def _await(self):
        until(self._answers, step=0.05)

    def _answers(self):
        assert self._lives(), self.log.read_text()
        try:
            return httpx.get(self.url + "/api/health", timeout=10).json()["status"] == "ok"
        except httpx.TransportError:
            return False

    def _lives(self):
        return self.process.poll() is None

    def kill(self):
        """Without a warning, as a machine that loses its power."""
        self.process.kill()
        self.process.wait(SECONDS)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)

    def connect(self, key=None, **options):
        return db.connect(self.url, key or self.write, **options)

    def http(self, key=None):
        """A bare client."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def stored(self, name):
        """The events of a study, as they are on disk."""
        return list(local_of(db.load_study(name, self.storage)).storage.read(name))


class Forked(Running):
    """The same application, forked from this process: it starts at once, so that dozens of kills can be afforded."""

    def start(self):
        self.process = multiprocessing.get_context("fork").Process(target=self._serve)
        self.process.start()
        self._await()

    def _serve(self):
        keys = read_keys(Path(self.how[1]))
        with open(self.log, "a", buffering=1) as log:
            os.dup2(log.fileno(), sys.stdout.fileno())
            os.dup2(log.fileno(), sys.stderr.fileno())
        run(create_app(self.storage, keys), "127.0.0.1", self.port)

    def _lives(self):
        return self.process.is_alive()

    def kill(self):
        self.process.kill()
        join(self.process)

    def stop(self):
        self.process.terminate()
        join(self.process)


def until_stopped(running):
    """Yield a service, and stop it afterward."""
    yield running
    running.stop()
