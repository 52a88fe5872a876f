"""Durable events; independent of policies."""

from dirichlet_bandits.errors import ArgumentError, require
from dirichlet_bandits.storage.events import Row, Settings, Storage, Transaction
from dirichlet_bandits.storage.memory import MemoryStorage

__all__ = ["MemoryStorage", "Row", "Settings", "Storage", "Transaction", "open_storage"]


def open_storage(storage: "str | Storage | None", create: bool = False) -> Storage:
    """Open the storage behind a URL: ``sqlite:///file.db``, ``postgresql+psycopg://user@host/database``.

    ``None`` opens a new one in memory. Files and tables are created only with ``create``.

    >>> open_storage(None).names()
    []
    >>> open_storage("maize.db")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'storage' must be a URL such as 'sqlite:///studies.db' or \
'postgresql+psycopg://user@host/database' (got 'maize.db')
    """
    if storage is None:
        return MemoryStorage()
    if not isinstance(storage, str):
        return storage
    if not storage.startswith(("sqlite:///", "postgresql")):
        expected = "a URL such as 'sqlite:///studies.db' or 'postgresql+psycopg://user@host/database'"
        raise ArgumentError("storage", expected, storage)
    require("sqlalchemy", "Storages need", "live")
    if storage.startswith("postgresql"):
        require("psycopg", "PostgreSQL needs", "postgres")
    from dirichlet_bandits.storage.database import DatabaseStorage

    return DatabaseStorage(storage, create)
