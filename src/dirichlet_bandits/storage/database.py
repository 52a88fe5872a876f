"""Studies in SQLite or PostgreSQL, through SQLAlchemy.

A transaction begins by locking the study: SQLite's write lock (``BEGIN IMMEDIATE``), or PostgreSQL's lock on the
study's row. So events are numbered one after the other, whichever process writes, and a commit is on disk before it
returns, also after a power cut (SQLite: ``synchronous=EXTRA``; PostgreSQL: ``synchronous_commit=on``).
"""

import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.pool import PoolProxiedConnection

from dirichlet_bandits.display import LOGGER
from dirichlet_bandits.errors import DirichletBanditsError, FormatError, NotFoundError, StorageError
from dirichlet_bandits.storage import events as stored
from dirichlet_bandits.storage import schema
from dirichlet_bandits.storage.connecting import new_engine, shown_url
from dirichlet_bandits.storage.events import AuditRecord, Row, Settings, intact
from dirichlet_bandits.storage.schema import events as table
from dirichlet_bandits.storage.schema import studies

PATIENCE: Final = 120.0
"""Seconds for which we keep trying a storage that is locked or cannot be reached."""

OPENING: Final = 10.0
"""The same when a storage is opened, because a wrong address should be reported soon."""

_HOPELESS: Final = ("authentication failed", "does not exist", "no pg_hba.conf entry")
_BEGIN: Final = "BEGIN IMMEDIATE"
_PAUSES: Final = (0.01, 0.03, 0.1, 0.3, 1.0)
_FORKING: Final = 10.0  # seconds for which a fork waits for threads that are using an SQLite file
_INHERITED: Final[list[Any]] = []
T = TypeVar("T")


class DatabaseStorage:
    """Events in the tables of ``schema.py``. Processes, machines (PostgreSQL) and threads may share it."""

    any_thread_may_commit = True  # one thread may end a transaction that another one has begun

    def __init__(self, url: str, create: bool) -> None:
        self._engine, parsed = new_engine(url, create)
        self.url = shown_url(parsed)
        self._shown = repr(self.url)
        sqlite = parsed.get_backend_name() == "sqlite"
        self._sqlite = sqlite
        self._driver: Any = self._engine.dialect.dbapi
        self._path = os.path.abspath(str(parsed.database)) if sqlite else None
        self._file: tuple[int, int] | None = None
        self._taken: dict[int, PoolProxiedConnection] = {}
        self._door = threading.RLock()
        self._split = False
        weakref.finalize(self, self._engine.dispose)
        with _REGISTERING:  # a fork waits for this lock, and then for the thread that holds the door
            _STORAGES.add(self)
        self._patiently(partial(self._check, create), OPENING)
        named = sa.select(studies.c.id).where(studies.c.name == sa.bindparam("name"))
        later = (table.c.study == named.scalar_subquery()) & (table.c.number > sa.bindparam("after"))
        fields = [table.c[field] for field in Row._fields]
        self._without_data = [sa.null().label("data") if field is table.c.data else field for field in fields]
        wanted = sa.select(*fields).where(later).order_by(table.c.number)
        # Compiled to text once: building a statement again would cost more than SQLite needs to run it.
        self._read, self._lock_study = (
            statement.compile(self._engine).string for statement in (wanted, named.with_for_update())
        )
        names = ", ".join(column.name for column in table.c)
        marks = ", ".join(["?" if sqlite else "%s"] * len(table.c))  # tuples take half of the time of dicts
        self._insert = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"

    def close(self) -> None:
        """Close the connections; the storage opens new ones if it is used again."""
        self._engine.dispose()

    def create(self, name: str, settings: Settings, events: Iterable[Row]) -> bool:
        """Add a study, unless one of this name exists, or was created with the same token."""
        events, written, attempts = list(events), json.dumps(settings), count()
        token = settings.get("token")

        def attempt() -> bool:
            next(attempts)
            with self._connect() as connection:
                if self._sqlite:
                    connection.exec_driver_sql(_BEGIN)
                study = schema.insert_study(connection, name, written)
                if study is None:
                    return False
                # After taking the name, so that no other attempt of the same call can come in between.
                if token is not None and connection.execute(schema.created(token, name)).first() is not None:
                    return False
                self._append(connection.connection.cursor(), study, events)
                connection.execute(schema.recorded(stored.CREATED, name, schema.identity_of(settings), token))
                connection.commit()
                return True

        try:
            created = self._patiently(attempt)
        except (IntegrityError, self._driver.IntegrityError):  # another process was faster
            created = False
        # An attempt that failed may have created it, if only the answer to its commit was lost.
        return created or (next(attempts) > 1 and self.settings(name) == json.loads(written))

    def created_by(self, token: str, name: str) -> str | None:
        """Return the identity of the study that a call with this token created by this name; it may be gone."""
        return next((row.identity for row in self._fetch(schema.created(token, name))), None)

    def named(self, identity: str, name: str) -> str | None:
        """Return the name that the study with this identity has now; an older one, without, is found by its name."""
        may_be = studies.c.settings.contains(identity, autoescape=True) if identity else studies.c.name == name
        rows = self._fetch(sa.select(studies.c.name, studies.c.settings).where(may_be))
        return next((row.name for row in rows if schema.identity_of(row.settings) == identity), None)

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of all studies that are archived, or of those that are not."""
        at = studies.c.archived_at
        wanted = at.is_not(None) if archived else at.is_(None)
        return [row.name for row in self._fetch(sa.select(studies.c.name).where(wanted).order_by(studies.c.id))]

    def settings(self, name: str) -> Settings | None:
        """Return the settings of a study."""
        rows = self._fetch(sa.select(studies.c.settings).where(studies.c.name == name))
        return _loaded(name, rows[0].settings) if rows else None

    def read(self, name: str, after: int = -1, data: bool = False) -> Sequence[Row]:
        """Return the events with numbers above ``after``, as of one moment, by a single SELECT."""

        def attempt() -> Sequence[Row]:
            connection = self._connect_driver()
            try:
                with closing(connection.cursor()) as cursor:
                    return self._select(cursor, name, after, data)
            except BaseException:
                connection.invalidate()  # it may be half-read, or date from before the server went away
                raise
            finally:
                connection.close()

        events = self._patiently(attempt)
        if not events and self.settings(name) is None:
            raise self._no_study(name)
        return events

    def newest(self, name: str, limit: int, below: int | None = None, trial: int | None = None) -> list[Row]:
        """Return the newest events of a study, or of one of its trials, newest first."""
        study = sa.select(studies.c.id).where(studies.c.name == name).scalar_subquery()
        wanted = sa.select(*self._without_data).where(table.c.study == study)
        if below is not None:
            wanted = wanted.where(table.c.number < below)
        if trial is not None:
            wanted = wanted.where(table.c.trial == trial)
        return [Row(*row) for row in self._fetch(wanted.order_by(table.c.number.desc()).limit(limit))]

    def audit_log(self, limit: int, name: str | None = None) -> list[AuditRecord]:
        """Return what was done to studies, or to one of them, newest first."""
        identity = "" if name is None else schema.identity_of(self.settings(name))
        return [AuditRecord(*row) for row in self._fetch(schema.listed(limit, name, identity))]

    @contextmanager
    def transaction(self, name: str) -> Iterator["_Transaction"]:
        """Lock the study, then commit or roll back.

        This uses the driver's own connection: in a call that takes as long as two writes to disk, the overhead of
        SQLAlchemy would be noticeable. Cursors are closed, because one that a traceback keeps would keep SQLite's
        locks as well.
        """
        connection, study = self._patiently(lambda: self._take(name))
        outcome = "nothing was written"
        try:
            with closing(connection.cursor()) as cursor:
                yield _Transaction(self, cursor, name, study)
            outcome = "it may have been written"
            connection.commit()
        except self._driver.Error as error:
            connection.invalidate()
            raise StorageError(f"{self._shown} failed, {outcome}: {_words(error)}") from error
        except DirichletBanditsError:
            raise
        except BaseException:  # an interrupt, for example
            connection.invalidate()
            raise
        finally:
            connection.close()  # back to the pool, which rolls back what was not committed
            self._taken.pop(threading.get_ident(), None)

    def _take(self, name: str) -> tuple[PoolProxiedConnection, int]:
        """Return a connection that has locked the study, and the number of the study."""
        left_open = self._taken.pop(threading.get_ident(), None)
        if left_open is not None and left_open.dbapi_connection is not None:
            left_open.invalidate()  # an interrupt came between two steps, and its traceback keeps the lock alive
        connection = self._taken[threading.get_ident()] = self._connect_driver()
        try:
            with closing(connection.cursor()) as cursor:
                if self._sqlite:
                    cursor.execute(_BEGIN)
                cursor.execute(self._lock_study, {"name": name})
                row = cursor.fetchone()
            if row is None:
                raise self._no_study(name)
        except BaseException:
            connection.invalidate()
            raise
        return connection, row[0]

    def _check(self, create: bool) -> None:
        with self._door:
            schema.check(self._engine, self._shown, create)

    def _connect(self) -> sa.Connection:
        with self._door:
            return self._engine.connect()

    def _connect_driver(self) -> PoolProxiedConnection:
        with self._door:
            return self._engine.raw_connection()

    def _no_study(self, name: str) -> NotFoundError:
        return NotFoundError(f"no study {name!r}")

    def _fetch(self, statement: sa.Executable) -> Sequence[Any]:
        def attempt() -> Sequence[Any]:
            with self._connect() as connection:
                return connection.execute(statement).all()

        return self._patiently(attempt)

    def _select(self, cursor: Any, name: str, after: int, data: bool = False) -> Sequence[Row]:
        cursor.execute(self._read, {"name": name, "after": after})
        rows: Sequence[Any] = cursor.fetchall()  # plain tuples take a third of the time of SQLAlchemy's rows
        return [Row(*row) for row in rows] if data else rows

    def _append(self, cursor: Any, study: int, events: Iterable[Row]) -> None:
        rows = [(study, *event) for event in events]
        if rows:
            cursor.executemany(self._insert, rows)
            LOGGER.debug("%s: %d events written", self._shown, len(rows))

    def _patiently(self, attempt: Callable[[], T], patience: float | None = None) -> T:
        """Return the result, retrying while the storage is locked or away: a failed attempt must have no effect."""
        limit = time.monotonic() + (PATIENCE if patience is None else patience)
        for trial in range(1_000_000):
            try:
                self._look_at_file()
                return attempt()
            except (IntegrityError, self._driver.IntegrityError):
                raise
            except UnicodeDecodeError as error:  # SQLite's own message, with a piece of the damaged file in it
                raise FormatError(f"{self._shown} is not a readable database: {error}") from error
            except (DatabaseError, self._driver.DatabaseError, NoConnection) as error:
                words = _words(getattr(error, "orig", error))
                if "not a database" in words or "malformed" in words:
                    raise FormatError(f"{self._shown} is not a readable database: {words}") from error
                if not self._may_pass(error, words) or time.monotonic() > limit:
                    raise StorageError(f"{self._shown} cannot be used: {words}") from error
                LOGGER.info("%s is busy or away, tried again: %s", self._shown, words)
                time.sleep(_PAUSES[min(trial, len(_PAUSES) - 1)])
            except StatementError as error:  # SQLAlchemy wraps whatever is raised while it prepares a statement
                raise (error.orig or error) from None  # a signal handler's own exception, for example
        raise AssertionError("unreachable")

    def _look_at_file(self) -> None:
        """Close connections to an SQLite file that was deleted or replaced, which would still use the old file."""
        if self._path is None:
            return
        if self._split:
            raise StorageError(f"{self._shown} cannot be used: the process was forked while a thread was at work on it")
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            if self._file is not None:
                raise StorageError(f"{self._shown} cannot be used: the file is gone") from None
            return  # not created yet
        if self._file not in (None, (found.st_dev, found.st_ino)):
            self._engine.dispose()
        self._file = found.st_dev, found.st_ino

    def _before_fork(self, limit: float) -> bool:
        """Let no thread begin, and wait for those that use an SQLite file, which must not be open during a fork.

        Return whether the door is ours; a thread that waits for a server may hold it.
        """
        held = self._door.acquire(timeout=max(0.0, limit - time.monotonic()))
        if self._sqlite:
            pool: Any = self._engine.pool
            while held and pool.checkedout() and time.monotonic() < limit:
                time.sleep(0.001)
            self._split = not held or pool.checkedout() > 0
            if held:
                self._engine.dispose()
        return held

    def _after_fork(self, in_child: bool, held: bool) -> None:
        """Let a child open its own connections; it does not even close those that it inherited."""
        if in_child:
            _INHERITED.append((self._engine.pool, self._taken))
            self._taken = {}
            self._engine.dispose(close=False)
            self._door = threading.RLock()
        else:
            self._split = False
            if held:
                self._door.release()

    def _may_pass(self, error: Exception, words: str) -> bool:
        """Whether the driver's error may be temporary."""
        if isinstance(error, NoConnection):
            return True
        if not isinstance(error, OperationalError | self._driver.OperationalError):
            return False
        return "locked" in words or "busy" in words if self._sqlite else not any(sign in words for sign in _HOPELESS)


class _Transaction:
    def __init__(self, storage: DatabaseStorage, cursor: Any, name: str, study: int) -> None:
        self._storage, self._cursor, self._name, self._study = storage, cursor, name, study

    def read(self, after: int) -> Sequence[Row]:
        return self._storage._select(self._cursor, self._name, after)

    def settings(self) -> Settings:
        return _loaded(self._name, self._written_settings())

    def _written_settings(self) -> str:
        row = self._execute(sa.select(studies.c.settings).where(studies.c.id == self._study)).fetchone()
        return str(row[0])

    def record(self, what: str, note: str | None = None) -> None:
        identity = schema.identity_of(self._written_settings())
        self._execute(schema.recorded(what, self._name, identity, note))

    def append(self, events: Iterable[Row]) -> None:
        self._storage._append(self._cursor, self._study, events)

    def rename(self, name: str) -> bool:
        taken = self._execute(sa.select(studies.c.id).where(studies.c.name == name)).fetchone()
        if taken is None:
            try:
                self._execute(studies.update().where(studies.c.id == self._study).values(name=name))
            except self._storage._driver.IntegrityError:  # another process was faster
                return False
            self.record(stored.RENAMED, name)
        return taken is None

    def archive(self, at: float | None) -> None:
        self._execute(studies.update().where(studies.c.id == self._study).values(archived_at=at))
        self.record(stored.UNARCHIVED if at is None else stored.ARCHIVED)

    def delete(self) -> None:
        self.record(stored.DELETED)
        self._execute(table.delete().where(table.c.study == self._study))
        self._execute(studies.delete().where(studies.c.id == self._study))

    def _execute(self, statement: sa.Executable) -> Any:
        compiled: Any = statement.compile(self._storage._engine)  # type: ignore[attr-defined]
        self._cursor.execute(compiled.string, compiled.params)
        return self._cursor


def _loaded(name: str, settings: str) -> Settings:
    with intact(f"the study {name!r}"):
        loaded: Settings = json.loads(settings)
    return loaded


def _words(error: BaseException | None) -> str:
    return " ".join(str(error).split())


# One set of hooks for all storages, not one per storage: a storage that a thread opens while another thread forks must
# see all of them or none.
_STORAGES: Final[weakref.WeakSet[DatabaseStorage]] = weakref.WeakSet()
_REGISTERING: Final = threading.Lock()
_AT_REST: Final[list[tuple[DatabaseStorage, bool]]] = []


def _before_forks() -> None:
    _REGISTERING.acquire()
    limit = time.monotonic() + _FORKING
    _AT_REST[:] = [(storage, storage._before_fork(limit)) for storage in list(_STORAGES)]


def _after_forks(in_child: bool) -> None:
    for storage, held in _AT_REST:
        storage._after_fork(in_child, held)
    _AT_REST.clear()
    _REGISTERING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_forks, after_in_parent=partial(_after_forks, False), after_in_child=partial(_after_forks, True)
    )
