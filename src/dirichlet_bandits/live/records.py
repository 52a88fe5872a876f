"""What is known of one trial, its notes and attributes, of one unit or one token: look-ups, kept in memory for now.

Operations read a study through these look-ups and through the counts of its journal.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

Attributes = Mapping[str, str | int | float | bool | None]


def merged(known: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the annotation after an update: a new note replaces the old one, and None removes an attribute."""
    attributes = {**known.get("attributes", {}), **said.get("attributes", {})}
    attributes = {key: value for key, value in attributes.items() if value is not None}
    note = said.get("note", known.get("note"))
    return {**({} if note is None else {"note": note}), **({"attributes": attributes} if attributes else {})}


def same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two annotations are written in the same way, where 1, 1.0 and true differ."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def written(attributes: Mapping[str, Any] | None) -> str | None:
    """Return attributes as one text, for tables and files."""
    return None if not attributes else json.dumps(attributes, ensure_ascii=False, sort_keys=True)


PENDING: Final = "pending"
TOLD: Final = "told"
ABANDONED: Final = "abandoned"
VOIDED: Final = "voided"
HELD: Final = "held"
REPEATED: Final = "repeated"


class Revision(NamedTuple):
    """A reward that a trial had at some time (None while it was voided), and the reason for the change to it."""

    reward: float | None
    reason: str | None


@dataclass(slots=True)
class TrialRecord:
    """A trial, which events change: ``reward`` is its present one, whether it counts already or is held.

    ``revisions`` has all rewards of a trial that was voided or corrected, the first one first. ``asked_at`` and
    ``ended_at`` are in seconds since 1970, NaN if the trial is pending; ``past`` trials were not decided here.
    """

    arm: int
    propensity: float
    round: int
    asked_at: float
    segment: str | None = None
    unit: str | None = None
    past: bool = False
    status: str = PENDING
    reward: float | None = None
    ended_at: float = math.nan
    late: bool = False
    revisions: Sequence[Revision] = ()
    annotation: Mapping[str, Any] | None = None

    @property
    def first_reward(self) -> float | None:
        """The reward that was reported first, even if it was changed later; None if there is none."""
        return self.revisions[0].reward if self.revisions else self.reward


class UnitRecord(NamedTuple):
    """A unit: the trial that assigned its present arm, and its last trial."""

    first: int
    last: int


class TokenRecord(NamedTuple):
    """What a call with a token did: it asked for, or added, ``trials``, or its first event has this ``number``."""

    trials: Sequence[int]
    number: int | None


class Records:
    """The records of a study, which its events fill in."""

    def __init__(self) -> None:
        self.trials: list[TrialRecord] = []
        self.chances_of: dict[int, bytes] = {}  # propensities of all arms, by the first trial of a round
        self._latest = -1  # round whose propensities are kept; often, the next one has the same
        self.units: dict[str, UnitRecord] = {}
        self.voided: set[int] = set()
        self.late: set[int] = set()  # trials whose rewards were missing when their windows closed
        self.last_at = -math.inf  # when the last trial was asked for, or ended
        self._trials_of: dict[str, list[int]] = {}  # by the token of their ask
        self._number_of: dict[str, int] = {}  # the first event of each other call with a token

    def add(self, record: TrialRecord, chances: bytes | None = None) -> None:
        """Add the next trial, with the propensities of all arms if it begins a round."""
        if chances is not None:
            before = self.chances_of.get(self._latest)
            self._latest = record.round
            self.chances_of[record.round] = before if before == chances else chances
        self.trials.append(record)
        if record.asked_at > self.last_at:
            self.last_at = record.asked_at

    def end(self, trial: int, at: float, status: str = ABANDONED) -> None:
        """Note when a trial got its reward or lost it."""
        record = self.trials[trial]
        record.status, record.ended_at = status, at
        if at > self.last_at:
            self.last_at = at

    def remember(self, token: str, number: int, asked: Sequence[int] | None) -> None:
        """Note that the event of this number was caused by a call with a token."""
        if asked is None:
            self._number_of.setdefault(token, number)
        else:
            self._trials_of.setdefault(token, []).extend(asked)

    def trial(self, trial: int) -> TrialRecord:
        """Return what is known of a trial."""
        if trial < 0:
            raise KeyError(trial)
        return self.trials[trial]

    def unit(self, name: str | None) -> UnitRecord | None:
        """Return what is known of a unit; None if it has had no trial."""
        return None if name is None else self.units.get(name)

    def token(self, token: str | None) -> TokenRecord | None:
        """Return what is known of a call; None if there was none with this token."""
        if token in self._number_of:
            return TokenRecord((), self._number_of[token])
        return TokenRecord(self._trials_of[token], None) if token in self._trials_of else None


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
