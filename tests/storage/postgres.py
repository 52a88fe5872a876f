"""A real PostgreSQL server of one's own, in a temporary folder, that tests may kill."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests.bounds import SECONDS


def programs() -> Path | None:
    """The folder of the server's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((place for place in reversed(places) if (place / "postgres").exists()), None)


class Server:
    """Started at once; ``url`` for a storage. Listens on a socket in its own folder only."""

    def __init__(self) -> None:
        self.bin = programs()
        if self.bin is None:
            pytest.skip("no PostgreSQL server on this machine (Debian: apt-get install postgresql)")
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path must be short
        self.user = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            owner = "postgres" if any(entry.pw_name == "postgres" for entry in pwd.getpwall()) else "nobody"
            shutil.chown(self.folder, owner)
            self.user = {"user": owner, "group": pwd.getpwnam(owner).pw_gid, "extra_groups": []}
        command = [self.bin / "initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust", "-E", "UTF8"]
        subprocess.run([*command, "--locale=C"], check=True, capture_output=True, cwd=self.folder, **self.user)
        self.url = f"postgresql+psycopg://tester@/postgres?host={self.folder}"
        self.start()

    def start(self) -> None:
        """Start, also after :meth:`kill`: until the processes of the killed one are gone it is refused."""
        for _ in range(100):
            command = [self.bin / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c", "listen_addresses="]
            log = (self.folder / "log").open("ab")
            self.process = subprocess.Popen(
                [*command, "-c", "max_connections=40"], stdout=log, stderr=log, cwd=self.folder, **self.user
            )
            log.close()
            while self.process.poll() is None:
                try:
                    psycopg.connect(f"host={self.folder} user=tester dbname=postgres connect_timeout=10").close()
                except psycopg.OperationalError:
                    time.sleep(0.05)
                else:
                    return
            time.sleep(0.1)
        raise AssertionError((self.folder / "log").read_text())

    def empty(self) -> str:
        """The URL, with all tables gone."""
        with psycopg.connect(f"host={self.folder} user=tester dbname=postgres", autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS bandit_events, bandit_studies, bandit_acts, bandit_schema")
        return self.url

    def kill(self) -> None:
        """As when the power goes: no process of the server gets to say a word."""
        children = subprocess.run(
            ["ps", "--ppid", str(self.process.pid), "-o", "pid="], capture_output=True, text=True, check=False
        ).stdout.split()
        for pid in [self.process.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(SECONDS)

    def stop(self) -> None:
        """End for good."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)
