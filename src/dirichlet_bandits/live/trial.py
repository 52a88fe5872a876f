"""A trial as its caller gets it."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal


class Trial(NamedTuple):
    """An arm that was assigned: try it, then tell the reward under this id.

    ``propensity`` is the exact probability with which the arm was to be in its round (see ``docs/live.md``).
    """

    id: int
    arm: str
    propensity: float
    asked_at: datetime
    segment: str | None = None
    unit: str | None = None


def trial_of(journal: "Journal", id: int) -> Trial:
    """Return the trial with this number."""
    record = journal.records.trial(id)
    asked_at = datetime.fromtimestamp(record.asked_at, UTC)
    return Trial(id, journal.names[record.arm], record.propensity, asked_at, record.segment, record.unit)
