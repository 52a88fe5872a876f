"""A storage one of whose calls fails: it raises, it finds the storage locked, or its answer is lost."""

import select
import socket
import sqlite3
import threading
from contextlib import closing, contextmanager, suppress
from functools import partial

import psycopg

import dirichlet_bandits as db
from dirichlet_bandits.storage import Storage, Transaction, open_storage
from tests.sockets import accepted

RAISES, BLOCKS, LOSES = "raises", "is blocked", "loses its answer"
KINDS = (RAISES, BLOCKS, LOSES)
_ASKING = (b"Q", b"S")  # PostgreSQL's messages Query and Sync, which the server answers


def methods(protocol):
    """The names of the methods that a protocol asks for."""
    return sorted(name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_"))


class Faulty:
    """Passes all calls on to another storage and counts them; the call with the number ``at`` fails in its way.

    A transaction counts twice, when it begins and when it is committed, and each call in it counts.
    """

    kinds = KINDS

    def __init__(self, storage):
        self.storage = storage
        self.fail_at(None)

    def may_pass(self, kind):
        """Whether a call may succeed nevertheless: a lock may be ours already, or not be needed."""
        return kind == BLOCKS

    def fail_at(self, at, kind=RAISES):
        """Count from 0 again, and let the call with this number fail; None if no call is to fail."""
        self.calls, self.at, self.kind = [], at, kind

    def __getattr__(self, name):
        found = getattr(self.storage, name)
        if name == "transaction":
            return self._transaction
        return partial(self._call, name, found) if name in methods(Storage) else found

    def _next(self, name):
        """Whether this call fails, and how."""
        self.calls.append(name)
        return self.kind if len(self.calls) - 1 == self.at else None

    def _call(self, name, act, *given, **named):
        kind = self._next(name)
        if kind == RAISES:
            raise db.StorageError("broken before")
        with self._locked(kind == BLOCKS):
            answer = act(*given, **named)
        if kind == LOSES:
            raise db.StorageError("broken after")
        return answer

    @contextmanager
    def _transaction(self, name):
        kind = self._next("transaction")
        if kind == RAISES:
            raise db.StorageError("broken before")
        begun = self.storage.transaction(name)
        with self._locked(kind == BLOCKS):
            inside = begun.__enter__()
        try:
            if kind == LOSES:
                raise db.StorageError("broken after")
            yield _FaultyTransaction(self, inside)
            kind = self._next("commit")
            if kind == RAISES:
                raise self._drivers_error("broken before")
        except BaseException as error:
            if not begun.__exit__(type(error), error, error.__traceback__):
                raise
        else:
            begun.__exit__(None, None, None)
        if kind == LOSES:
            raise db.StorageError("broken after")

    def _drivers_error(self, words):
        """What a driver raises in a transaction."""
        driver = getattr(self.storage, "_driver", None)
        return db.StorageError(words) if driver is None else driver.OperationalError(words)

    @contextmanager
    def _locked(self, really):
        """Let another client hold the lock, unless our own transaction has it."""
        url = self.storage.url
        if not really or url == "memory://":
            yield
        elif url.startswith("sqlite"):
            path = url.removeprefix("sqlite:///")
            with closing(sqlite3.connect(path, isolation_level=None, timeout=0.0)) as other:
                with suppress(sqlite3.OperationalError):
                    other.execute("BEGIN IMMEDIATE")
                yield
        else:
            with psycopg.connect(url.replace("+psycopg", "")) as other:
                with suppress(psycopg.errors.LockNotAvailable):
                    other.execute("SELECT id FROM bandit_studies FOR UPDATE NOWAIT")
                yield
                other.rollback()


class FaultyWire:
    """A storage on a PostgreSQL server, whose connection breaks before or after the server gets a message.

    The storage connects again by itself where it can; ``calls`` are the messages that ask for an answer.
    """

    kinds = (RAISES, LOSES)

    def __init__(self, server, folder):
        self.storage = open_storage(server.empty(), create=True)
        self._there = f"{server.folder}/.s.PGSQL.5432"
        self.fail_at(None)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(f"{folder}/.s.PGSQL.5432")
        self._listening.listen(50)
        threading.Thread(target=self._accept, daemon=True).start()
        self._broken = open_storage(f"postgresql+psycopg://tester@/postgres?host={folder}")

    fail_at = Faulty.fail_at

    def may_pass(self, kind):
        """Whether a call may succeed nevertheless: it may have been tried again."""
        return True

    def __getattr__(self, name):
        return getattr(self._broken, name)

    def close(self):
        """Close all connections."""
        self._broken.close()
        self.storage.close()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self):
        for client in accepted(self._listening):
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client):
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._there)
            received, answer_is_lost, n_types = b"", False, 0  # the first message has no type
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    data = ready.recv(1 << 20)
                    if not data or (ready is server and answer_is_lost):
                        return
                    if ready is server:
                        client.sendall(data)
                        continue
                    received += data
                    while len(received) >= n_types + 4:
                        size = n_types + int.from_bytes(received[n_types : n_types + 4])
                        if len(received) < size:
                            break
                        message, received = received[:size], received[size:]
                        if n_types == 0 or message[:1] in _ASKING:
                            self.calls.append(message)
                            if len(self.calls) - 1 == self.at:
                                if self.kind == RAISES:
                                    return
                                answer_is_lost = True
                        server.sendall(message)
                        n_types = 1


class _FaultyTransaction:
    def __init__(self, faulty, transaction):
        self._faulty, self._inside = faulty, transaction

    def __getattr__(self, name):
        found = getattr(self._inside, name)
        return partial(self._call, name, found) if name in methods(Transaction) else found

    def _call(self, name, act, *given):
        kind = self._faulty._next(name)
        if kind == RAISES:
            raise self._faulty._drivers_error("broken before")
        answer = act(*given)
        if kind == LOSES:
            raise self._faulty._drivers_error("broken after")
        return answer
