"""Connect to SQLite files and PostgreSQL servers: which URLs are accepted, and how long a connection may wait."""

import os
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError as BadURL

from dirichlet_bandits.errors import ArgumentError, NotFoundError, one_of
from dirichlet_bandits.storage import schema

ATTEMPT: Final = 5.0
"""Seconds for which a single attempt waits for a lock or for a free connection."""

_STATEMENT: Final = 60.0  # for a server that hangs; reading a large study takes some seconds
_NETWORK: Final = {  # we give up after half a minute on a server that does not even acknowledge what it is sent
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_POSTGRESQL: Final = "postgresql+psycopg"


def new_engine(url: str, create: bool) -> tuple[sa.Engine, sa.URL]:
    """Return the engine for a URL, and the URL itself; an SQLite file must exist unless it is to be created."""
    try:
        parsed = sa.make_url(url)
    except BadURL:
        raise ArgumentError("storage", "a URL such as 'sqlite:///studies.db'", url) from None
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername=_POSTGRESQL)  # SQLAlchemy's default driver depends on its version
    if parsed.drivername not in ("sqlite", _POSTGRESQL):
        raise ArgumentError("storage", f"a URL of {one_of(('sqlite', _POSTGRESQL))}", parsed.drivername)
    if parsed.get_backend_name() == "sqlite":
        _check_file(parsed.database, shown_url(parsed), create)
        fixed = schema.on_read_only_system(str(parsed.database))
        # No isolation level: the driver begins no transactions by itself, but ``transaction`` does.
        engine = sa.create_engine(
            parsed,
            connect_args={"isolation_level": None, "timeout": ATTEMPT},
            paramstyle="named",
            max_overflow=-1,  # each thread that waits for the file's lock has its own connection
            pool_recycle=0 if fixed else -1,  # whoever can write may have done so: look at the file again
        )
        if fixed:
            sa.event.listen(engine, "do_connect", _connect_to_whole_file)
        sa.event.listen(engine, "connect", schema.on_connect)
    else:
        settings = {"synchronous_commit": "on", "lock_timeout": ATTEMPT, "statement_timeout": _STATEMENT}
        engine = sa.create_engine(
            parsed,
            connect_args={"options": _server_options(settings), **_NETWORK},
            isolation_level="READ COMMITTED",
            pool_timeout=ATTEMPT,
        )
        sa.event.listen(engine, "do_connect", _connect_punctually)
    return engine, parsed


def shown_url(url: sa.URL) -> str:
    """Return a URL for people to read, without its password."""
    return url.render_as_string(hide_password=True)


def _check_file(path: str | None, shown: str, create: bool) -> None:
    if not path or path == ":memory:" or path.startswith("file:"):  # SQLite's own URIs may name no file, or memory
        raise ArgumentError("storage", "the URL of a file, 'sqlite:///studies.db', or None for memory", shown)
    if not create and not os.path.exists(path):
        raise NotFoundError(f"no storage at {shown!r}")


def _connect_to_whole_file(dialect: Any, record: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Open a file without making others beside it, which SQLite does otherwise; called by SQLAlchemy."""
    log = f"{given[0]}-wal"
    if os.path.exists(log) and os.path.getsize(log):  # with changes that are not in the file yet
        return None
    return dialect.loaded_dbapi.connect(f"{Path(given[0]).as_uri()}?immutable=1", uri=True, **named)


def _server_options(settings: dict[str, Any]) -> str:
    """Return the settings of a session as an option; times are given in seconds.

    >>> _server_options({"synchronous_commit": "on", "lock_timeout": 5.0})
    '-c synchronous_commit=on -c lock_timeout=5000ms'
    """
    written = {name: f"{1000 * value:.0f}ms" if isinstance(value, float) else value for name, value in settings.items()}
    return " ".join(f"-c {name}={value}" for name, value in written.items())


def _connect_punctually(dialect: Any, record: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Open a connection that gives up on a server that does not respond; called by SQLAlchemy."""
    from dirichlet_bandits.storage.deadline import GRACE, PunctualConnection

    connection = PunctualConnection.connect(*given, **named)
    connection.longest = _STATEMENT + GRACE
    return connection
