"""The log of what was done to studies as a whole, in a database: it outlives the studies."""

import json
import time
from typing import Any

import sqlalchemy as sa

from dirichlet_bandits.storage.actors import actor
from dirichlet_bandits.storage.events import Act, Settings
from dirichlet_bandits.storage.schema import acts

_FIELDS = [acts.c[field] for field in Act._fields]


def recorded(what: str, study: str, identity: str, note: str | None = None) -> sa.Insert:
    """Return the statement that records an act of the present actor."""
    act = Act(time.time(), what, study, identity, note, actor())
    return acts.insert().values(**act._asdict())


def listed(limit: int, name: str | None, identity: str) -> sa.Select[Any]:
    """Return the statement that selects acts, of one study if it has a name; older studies have no identity."""
    found = sa.select(*_FIELDS).order_by(acts.c.id.desc()).limit(limit)
    if name is None:
        return found
    return found.where(acts.c.identity == identity if identity else acts.c.study == name)


def identity_of(settings: Settings | str | None) -> str:
    """Return the identity in the settings of a study, as JSON or read; empty if it cannot be read."""
    try:
        read = json.loads(settings) if isinstance(settings, str) else settings
        return str(read.get("identity", "")) if isinstance(read, dict) else ""
    except ValueError:
        return ""
