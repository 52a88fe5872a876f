"""The tables of a storage, their version, and how to recognize a database of ours."""

import json
import os
import time
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.schema import CreateTable

from dirichlet_bandits.errors import FormatError, NotFoundError
from dirichlet_bandits.storage.events import CREATED, AuditRecord, Settings, actor

VERSION: Final = 5
_TABLES = sa.MetaData()

schema = sa.Table("bandit_schema", _TABLES, sa.Column("version", sa.Integer, primary_key=True))

studies = sa.Table(
    "bandit_studies",
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("settings", sa.Text, nullable=False),  # JSON
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("archived_at", sa.Double),  # NULL if it is not archived
)

events = sa.Table(
    "bandit_events",
    _TABLES,
    sa.Column("study", sa.Integer, sa.ForeignKey(studies.c.id), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.SmallInteger, nullable=False),
    sa.Column("trial", sa.BigInteger),
    sa.Column("arm", sa.Integer),
    sa.Column("value", sa.Double),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("data", sa.LargeBinary),
    sa.Column("note", sa.Text),
    sa.Column("token", sa.Text),
    sa.Column("decider", sa.SmallInteger),
    sa.Column("actor", sa.Text),
    sqlite_with_rowid=False,  # rows are in the order of the key, so the events of a study are contiguous in the file
)

audit_log = sa.Table(
    "bandit_acts",  # its name in stores that exist
    _TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", sa.Double, nullable=False),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("study", sa.Text, nullable=False),  # its name before; the study may be gone
    sa.Column("identity", sa.Text, nullable=False),
    sa.Column("note", sa.Text),
    sa.Column("actor", sa.Text, nullable=False),
)

# Statements that upgrade each version to the next. The tests keep a file of every past version.
_UPGRADES: Final[dict[int, tuple[str | sa.Executable, ...]]] = {
    1: ("ALTER TABLE bandit_events ADD COLUMN token TEXT",),
    2: ("ALTER TABLE bandit_events ADD COLUMN decider SMALLINT",),
    3: ("ALTER TABLE bandit_studies ADD COLUMN archived_at DOUBLE PRECISION",),
    4: ("ALTER TABLE bandit_events ADD COLUMN actor TEXT", CreateTable(audit_log)),
}
_LOCK: Final = 7_261_094  # any number, the same for all clients: PostgreSQL creates tables in one session at a time


def on_connect(connection: Any, record: ConnectionPoolEntry) -> None:
    """Set up a new SQLite connection so that a commit is on disk before it returns."""
    connection.execute("PRAGMA synchronous=EXTRA")  # FULL loses commits of a file without a write-ahead log
    connection.execute("PRAGMA fullfsync=ON")  # macOS: a sync also empties the cache of the drive


def on_read_only_system(path: str) -> bool:
    """Whether a file exists where nothing can be written."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except (AttributeError, OSError):  # on Windows; and where there is no file
        return False


def check(engine: sa.Engine, shown: str, create: bool) -> None:
    """Make sure that the database holds our tables in this version; leave a foreign or newer one untouched."""
    with engine.connect() as connection:
        found = _version(connection)
        tables = sa.inspect(connection).get_table_names()
    sqlite = engine.dialect.name == "sqlite"
    if found is None:
        if sqlite and tables:
            raise FormatError(f"{shown} is an SQLite file of something else: it has tables {', '.join(tables[:5])}")
        if not create:
            raise NotFoundError(f"{shown} holds no studies")
    if found is not None and not (isinstance(found, int) and found >= 1):
        raise FormatError(f"{shown} is damaged: it says that its format is {found!r}")
    if found is not None and found > VERSION:
        raise FormatError(f"{shown} was written by a newer version of this library: format {found}, known is {VERSION}")
    if found is not None and found != VERSION and on_read_only_system(str(engine.url.database)):
        raise FormatError(f"{shown} has the older format {found}: copy it to where it can be written, to upgrade it")
    if found != VERSION:
        _make_or_upgrade(engine, sqlite)


def _make_or_upgrade(engine: sa.Engine, sqlite: bool) -> None:
    with engine.connect() as connection:
        if sqlite:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = _version(connection)  # another process may have been faster
        if found is None:
            _TABLES.create_all(connection)
            connection.execute(schema.insert().values(version=VERSION))
        else:
            for version in range(found, VERSION):
                for statement in _UPGRADES[version]:
                    connection.execute(sa.text(statement) if isinstance(statement, str) else statement)
            connection.execute(schema.update().values(version=VERSION))
        connection.commit()


def _version(connection: sa.Connection) -> int | None:
    if not sa.inspect(connection).has_table(schema.name):
        return None
    return connection.execute(sa.select(sa.func.max(schema.c.version))).scalar()


def insert_study(connection: sa.Connection, name: str, settings: str) -> int | None:
    """Add a study and return its number; return None if one of this name exists."""
    if connection.execute(sa.select(studies.c.id).where(studies.c.name == name)).scalar() is not None:
        return None
    values = {"name": name, "settings": settings, "created_at": time.time()}
    return int(connection.execute(studies.insert().values(**values).returning(studies.c.id)).scalar_one())


# The log of what was done to studies as a whole, which outlives the studies

_FIELDS = [audit_log.c[field] for field in AuditRecord._fields]


def recorded(what: str, study: str, identity: str, note: str | None = None) -> sa.Insert:
    """Return the statement that records an entry of the present actor."""
    entry = AuditRecord(time.time(), what, study, identity, note, actor())
    return audit_log.insert().values(**entry._asdict())


def listed(limit: int, name: str | None, identity: str) -> sa.Select[Any]:
    """Return the statement that selects entries, of one study if it has a name; older studies have no identity."""
    found = sa.select(*_FIELDS).order_by(audit_log.c.id.desc()).limit(limit)
    if name is None:
        return found
    return found.where(audit_log.c.identity == identity if identity else audit_log.c.study == name)


def created(token: str, name: str) -> sa.Select[Any]:
    """Return the statement that selects the identity of the study that a call with this token created."""
    here = (audit_log.c.what == CREATED) & (audit_log.c.study == name) & (audit_log.c.note == token)
    return sa.select(audit_log.c.identity).where(here)


def identity_of(settings: Settings | str | None) -> str:
    """Return the identity in the settings of a study, as JSON or read; empty if it cannot be read."""
    try:
        read = json.loads(settings) if isinstance(settings, str) else settings
        return str(read.get("identity", "")) if isinstance(read, dict) else ""
    except ValueError:
        return ""
