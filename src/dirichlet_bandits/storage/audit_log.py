"""The log of what was done to studies as a whole, in a database: it outlives the studies."""

import json
import time
from typing import Any

import sqlalchemy as sa

from dirichlet_bandits.storage.actors import actor
from dirichlet_bandits.storage.events import CREATED, AuditRecord, Settings
from dirichlet_bandits.storage.schema import audit_log

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
