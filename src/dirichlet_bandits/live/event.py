"""What all events of a study have in common, and what those of arms and of trials do (``events.py`` has the rest)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dirichlet_bandits.live.records import TrialRecord
from dirichlet_bandits.storage.events import Row

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

Step = tuple[int, int | None, int | None, float | None, str | None]
"""What a repeated call is compared by: kind, trial, arm, value and note of an event's row."""

Columns = tuple[int | None, int | None, float | None, bytes | None, str | None]
"""The fields of an event as a row has them: trial, arm, value, data and note."""

_PLACES: Final = {"trial": 2, "arm": 3, "value": 4, "data": 6, "note": 7}  # in rows


class Event:
    """Something that happened in a study; ``what`` is the operation that did it, as people read it.

    ``stored`` names the columns of a row that have its fields, in their order; with ``as_json``, the note is JSON.
    """

    __slots__ = ()
    kind: ClassVar[int]
    what: ClassVar[str]
    stored: ClassVar[tuple[str, ...]]
    as_json: ClassVar[bool] = False
    __match_args__: ClassVar[tuple[str, ...]]  # the fields
    recoverable: ClassVar[bool] = True  # without events that are missing
    by_caller: ClassVar[bool] = True  # and not by itself, so that its row names the caller's key
    at: float | None = None  # of a past trial: when it was
    decider: int | None = None  # of an ask
    segment: str | None = None  # of an ask or a winner
    asked: list[int] | None = None  # the trials with which a call of an ask is answered

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Event":
        """Read the event in a row of this kind."""
        fields = [row[_PLACES[column]] for column in cls.stored]
        if cls.as_json and row[7] is not None:
            fields[cls.stored.index("note")] = json.loads(row[7])
        return cls(*fields)

    def columns(self) -> Columns:
        """Return the event as a row has it."""
        found = {column: getattr(self, field) for column, field in zip(self.stored, self.__match_args__, strict=False)}
        if self.as_json and found["note"] is not None:
            found["note"] = json.dumps(found["note"])
        return tuple(map(found.get, _PLACES))  # type: ignore[return-value]

    def apply(self, journal: "Journal", at: float) -> None:
        """Change the state of the study; ``at`` is when it happened."""

    def step(self) -> Step:
        """Return what a repeated call is compared by."""
        trial, arm, value, _, note = self.columns()
        return self.kind, trial, arm, value, note

    def row(self, number: int, at: float, token: str | None = None, actor: str | None = None) -> Row:
        """Return the row that stores the event."""
        trial, arm, value, data, note = self.columns()
        return Row(number, self.kind, trial, arm, value, at, data, note, token, self.decider, actor)

    def shown(self) -> tuple[float | None, str | None]:
        """Return the reward, and the words, that an audit shows."""
        return getattr(self, "reward", getattr(self, "late", None)), getattr(self, "reason", None)

    def recovered(self, record: TrialRecord) -> "Sequence[Event]":
        """Return what this event of a trial, which has the given record, amounts to if events before it are missing."""
        return [self]

    def within(self, lower: float, upper: float, journal: "Journal") -> "Event":
        """Return what happens instead if rewards outside of these bounds are refused, and may be corrected later."""
        return self


@dataclass(slots=True)
class OfArms(Event):
    """An event that changes the arms: all rounds end."""

    arm: int


@dataclass(slots=True)
class OfTrial(Event):
    """An event that concerns one trial."""

    trial: int


@dataclass(slots=True)
class NewTrial(OfTrial):
    """An event that adds a trial of an arm."""

    arm: int

    @property
    def asked(self) -> list[int]:  # type: ignore[override]
        """The trial itself."""
        return [self.trial]
