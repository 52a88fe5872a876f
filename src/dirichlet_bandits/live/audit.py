"""What happened in a study, event by event, for people to read."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from dirichlet_bandits.live.events import event_of
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import CREATED, AuditRecord, Row

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

MOST_ENTRIES: Final = 1000
"""Entries about studies as a whole that are returned at once."""


class AuditEvent(NamedTuple):
    """One event of a study: ``what`` is its kind, such as ask, tell or correct, and ``note`` a reason, note or floor.

    ``actor`` is the name of the key with which the service was called: empty if no key was used, None if it is not
    known, because the event is older than this field or happened by itself.
    """

    number: int
    what: str
    trial: int | None
    arm: str | None
    reward: float | None
    note: str | None
    at: datetime
    actor: str | None


class AuditEntry(NamedTuple):
    """Something that was done to a study as a whole: it was created, renamed, archived, unarchived or deleted.

    A webhook is recorded, too, as ``notified``. ``study`` is the study's name before, and ``note`` its new name if it
    was renamed, or what the webhook was told; ``actor`` is the same as in :class:`AuditEvent`.
    """

    what: str
    study: str
    note: str | None
    at: datetime
    actor: str


@intact("the study")
def audit_event(row: Row, journal: "Journal") -> AuditEvent:
    """Return an event as people read it."""
    event, arm = event_of(row), row.arm
    if arm is None and row.trial is not None:
        arm = journal.records.trial(row.trial).arm
    reward, note = event.shown()
    name = None if arm is None else journal.names[arm]
    return AuditEvent(
        row.number, event.what, row.trial, name, reward, note, datetime.fromtimestamp(row.at, UTC), row.actor
    )


def audit_entry(entry: AuditRecord) -> AuditEntry:
    """Return an entry as people read it."""
    note = None if entry.what == CREATED else entry.note  # not the token of the call
    return AuditEntry(entry.what, entry.study, note, datetime.fromtimestamp(entry.at, UTC), entry.actor)
