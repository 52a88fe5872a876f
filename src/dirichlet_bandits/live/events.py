"""What can happen in a study: one class per kind of event, with its fields, what it changes, and how it is stored.

A storage keeps rows (``storage/events.py``). :func:`event_of` reads the event in a row, and :meth:`Event.row` writes
it; the number of an event, its time, the token of the call and the actor belong to the row alone. ``apply`` is called
when ``journal.last`` is the event's number and everything before it has been applied.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.event import Columns, Event, NewTrial, OfArms, OfTrial, Step
from dirichlet_bandits.live.floors import read_floor
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.live.records import ABANDONED, PENDING, VOIDED, TrialRecord, merged

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

Rest = list[tuple[int, float]]


@dataclass(slots=True)
class ArmAdded(OfArms):
    """An arm is new, or a retired arm is back; ``name`` is not needed for the latter."""

    kind = 0
    what = "add_arm"
    stored = ("arm", "note")
    name: str | None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.change_arm(self.arm, True, self.name)


@dataclass(slots=True)
class ArmRetired(OfArms):
    """An arm is no longer assigned."""

    kind = 1
    what = "retire_arm"
    stored = ("arm",)

    def apply(self, journal: "Journal", at: float) -> None:
        journal.change_arm(self.arm, False)


@dataclass(slots=True)
class Asked(NewTrial):
    """A trial was assigned an arm.

    ``propensities`` are those of all arms, little-endian doubles, if the trial begins a round or if its unit was
    assigned again; ``rest`` are the arms that the round has yet to assign, with their propensities, and ``decider`` is
    the version of the rules that decided it. ``first`` is the trial that assigned the unit's arm, if this one repeats
    it.
    """

    kind = 2
    what = "ask"
    propensity: float
    propensities: bytes | None = None
    rest: Rest | None = None
    segment: str | None = None
    unit: str | None = None
    first: int | None = None
    decider: int | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Asked":
        _, _, trial, arm, value, _, data, note, _, decider, _ = row
        if note is None:
            return cls(trial, arm, value, data, None, None, None, None, decider)
        said = json.loads(note)
        if isinstance(said, list):
            said = {"rest": said}
        rest = [(arm, chance) for arm, chance in said.get("rest", [])]
        segment, unit, first = said.get("segment"), said.get("unit"), said.get("first")
        if not all(isinstance(text, str | None) for text in (segment, unit)) or type(first) not in (int, type(None)):
            raise ValueError(note)
        return cls(trial, arm, value, data, rest, segment, unit, first, decider)

    def columns(self) -> Columns:
        """Return the event as a row has it; without a segment or unit, its note is a list, as in older studies.

        >>> Asked(7, 1, 0.5, rest=[(2, 0.5)]).columns()
        (7, 1, 0.5, None, '[[2, 0.5]]')
        >>> Asked(7, 1, 0.5, segment="clay", unit="field 7").columns()
        (7, 1, 0.5, None, '{"segment": "clay", "unit": "field 7"}')
        """
        note = json.dumps(self.rest) if self.rest else None
        if self.segment is not None or self.unit is not None:
            said = {"rest": self.rest, "segment": self.segment, "unit": self.unit, "first": self.first}
            note = json.dumps({key: value for key, value in said.items() if value not in (None, [])})
        return self.trial, self.arm, self.propensity, self.propensities, note

    def apply(self, journal: "Journal", at: float) -> None:
        journal.check_new(self.trial, self.arm, self.propensity)
        if self.unit is not None:
            journal.assign(self)
        if self.first is None:
            start, segment = journal.hand_out(self.trial, self.rest, self.segment), self.segment
        else:  # outside of the rounds that count
            first = journal.records.trial(self.first)
            start, segment = self.trial if self.decider is not None else first.round, first.segment
        journal.add_trial(self.trial, self.arm)
        journal.records.add(TrialRecord(self.arm, self.propensity, start, at, segment, self.unit), self.propensities)


@dataclass(slots=True)
class Rewarded(OfTrial):
    """The reward of a pending trial was reported."""

    kind = 3
    what = "tell"
    stored = ("trial", "value")
    reward: float

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Rewarded":
        return cls(row[2], row[4])  # half of all events: these two lines save a tenth of the time of a study

    def columns(self) -> Columns:
        return self.trial, None, self.reward, None, None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.end(self.trial, at)
        journal.take(journal.last, self.trial, self.reward)

    def recovered(self, record: TrialRecord) -> Sequence[Event]:
        if record.late or record.status not in (PENDING, ABANDONED):
            return []
        return [self] if record.status == PENDING else [Reopened(self.trial), self]

    def within(self, lower: float, upper: float, journal: "Journal") -> Event:
        return self if lower <= self.reward <= upper else Noted(self.trial, {})


@dataclass(slots=True)
class Abandoned(OfTrial):
    """The reward of a pending trial will never come."""

    kind = 4
    what = "abandon"
    stored = ("trial",)

    def apply(self, journal: "Journal", at: float) -> None:
        journal.end(self.trial, at)
        journal.wait(self.trial, -1)

    def recovered(self, record: TrialRecord) -> Sequence[Event]:
        return [self] if record.status == PENDING else []


@dataclass(slots=True)
class Voided(OfTrial):
    """A reward was taken back; the trial no longer counts as a try of its arm."""

    kind = 5
    what = "void"
    stored = ("trial", "note")
    reason: str | None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.revise(self.trial, None, self.reason)
        journal.remove(self.trial)
        journal.records.voided.add(self.trial)
        journal.records.end(self.trial, at, VOIDED)

    def recovered(self, record: TrialRecord) -> Sequence[Event]:
        return [self] if record.reward is not None else Abandoned(self.trial).recovered(record)

    def within(self, lower: float, upper: float, journal: "Journal") -> Event:
        return self if journal.records.trial(self.trial).reward is not None else Noted(self.trial, {})


@dataclass(slots=True)
class Corrected(OfTrial):
    """A reward was replaced, or given again after it had been voided; then it counts after those reported before."""

    kind = 6
    what = "correct"
    stored = ("trial", "value", "note")
    reward: float
    reason: str | None = None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.revise(self.trial, self.reward, self.reason)
        if self.trial in journal.records.voided:
            journal.records.voided.remove(self.trial)
            journal.records.end(self.trial, at)
            journal.look_from(self.trial)
            journal.wait(self.trial, 1)
            journal.take(journal.last, self.trial, self.reward)
        elif not journal.replace(self.trial, self.reward):
            said = f"event {journal.last} corrects trial {self.trial!r}, which has no reward"
            raise FormatError(f"{said}: the storage is damaged")

    def recovered(self, record: TrialRecord) -> Sequence[Event]:
        if record.status in (PENDING, ABANDONED):
            return Rewarded(self.trial, self.reward).recovered(record)
        return [self]

    def within(self, lower: float, upper: float, journal: "Journal") -> Event:
        record = journal.records.trial(self.trial)
        if lower <= self.reward <= upper:
            return Rewarded(self.trial, self.reward) if record.status == PENDING else self
        return Noted(self.trial, {}) if record.reward is None else Voided(self.trial, None)


@dataclass(slots=True)
class Noted(OfTrial):
    """A trial was given a note or attributes."""

    kind = 7
    what = "annotate"
    stored = ("trial", "note")
    as_json = True
    said: dict[str, Any]

    def apply(self, journal: "Journal", at: float) -> None:
        if not isinstance(self.said, dict):
            raise FormatError(f"event {journal.last} notes {self.said!r}: the storage is damaged")
        journal.check_trial(self.trial)
        record = journal.records.trial(self.trial)
        record.annotation = merged(record.annotation or {}, self.said)

    def shown(self) -> tuple[float | None, str | None]:
        return None, self.said.get("note")


@dataclass(slots=True)
class PastAdded(NewTrial):
    """A trial of the past was added with its reward: a round of its own, while the current round continues."""

    kind = 8
    what = "add_trials"
    stored = ("trial", "arm", "value", "data", "note")
    as_json = True
    reward: float
    propensities: bytes | None = None
    propensity: float | None = None
    at: float | None = None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.check_new(self.trial, self.arm, journal.checked_reward(self.reward))
        journal.add_trial(self.trial, self.arm)
        propensity = math.nan if self.propensity is None else self.propensity
        journal.records.add(TrialRecord(self.arm, propensity, self.trial, at, past=True, reward=self.reward))
        journal.end(self.trial, at)
        journal.count(journal.last, self.trial)


@dataclass(slots=True)
class CallRecorded(Event):
    """A call with a token whose other events do not show all of it, because some of it, or everything, changed nothing.

    ``steps`` is what it was to do; an ask that was answered with existing trials has ``asked`` for them instead.
    """

    kind = 9
    what = "done"
    steps: list[Step]
    asked: list[int] | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> "CallRecorded":
        said = json.loads(row[7] or "[]")
        if isinstance(said, dict):
            return cls([], said["asked"])
        return cls([(kind, trial, arm, value, note) for kind, trial, arm, value, note in said])

    def columns(self) -> Columns:
        return None, None, None, None, json.dumps(self.steps if self.asked is None else {"asked": self.asked})

    def shown(self) -> tuple[float | None, str | None]:
        return None, next((words for *_, words in self.steps if isinstance(words, str)), None)


def named_step(words: str) -> Step:
    """Return the step of a call that changes the study itself, such as ``archive``: it has no event of its own."""
    return CallRecorded.kind, None, None, None, words


@dataclass(slots=True)
class FloorSet(Event):
    """The minimal probabilities of the arms, from the next round on: one number for all, or numbers by name."""

    kind = 10
    what = "set_floor"
    stored = ("note",)
    as_json = True
    recoverable = False  # what was decided with it is recorded, and its arms may be missing
    floor: float | dict[str, float]

    def apply(self, journal: "Journal", at: float) -> None:
        journal.change_floor(read_floor(journal.last, self.floor, journal.names, journal.active_names()))

    def shown(self) -> tuple[float | None, str | None]:
        return None, json.dumps(self.floor)


@dataclass(slots=True)
class WinnerDeclared(Event):
    """A winner was named: the arm, the question that it answers, and the number of trials at that time.

    ``segment`` is that of the question, None in a study without segments. ``claim`` names what is claimed, except in
    earlier versions.
    """

    kind = 11
    what = "declare_winner"
    arm: int
    delta: float
    margin: float
    trials: int
    proved: bool
    segment: str | None = None
    claim: str | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> "WinnerDeclared":
        number, arm, delta, note = row[0], row[3], row[4], row[7]
        said = json.loads(note)
        good = type(delta) is float and 0.0 < delta < 1.0 and type(arm) is int
        if not good or not isinstance(said, dict) or type(said["trials"]) is not int:
            raise FormatError(f"event {number} names the winner {arm!r} with {note!r}: the storage is damaged")
        asked = said["trials"], bool(said["proved"]), said.get("segment"), said.get("claim")
        return cls(arm, delta, float(said["margin"]), *asked)

    def columns(self) -> Columns:
        """Return the event as a row has it.

        >>> WinnerDeclared(1, 0.05, 0.0, 400, True).columns()
        (None, 1, 0.05, None, '{"margin": 0.0, "trials": 400, "proved": true}')
        """
        said: dict[str, Any] = {"margin": self.margin, "trials": self.trials, "proved": self.proved}
        said |= {} if self.segment is None else {"segment": self.segment}
        said |= {} if self.claim is None else {"claim": self.claim}
        return None, self.arm, self.delta, None, json.dumps(said)

    def apply(self, journal: "Journal", at: float) -> None:
        if not 0 <= self.arm < len(journal.names):
            raise FormatError(f"event {journal.last} names the winner {self.arm!r}: the storage is damaged")
        journal.winners.append(self)


@dataclass(slots=True)
class WindowSet(Event):
    """The study's window, in seconds, and the reward that counts if none came within it; None: the trial does not."""

    kind = 12
    what = "settle"
    stored = ("note", "value")
    as_json = True
    window: float
    late: float | None

    def apply(self, journal: "Journal", at: float) -> None:
        late = None if self.late is None else journal.checked_reward(self.late)
        journal.set_lateness(Lateness(float(self.window), late))


@dataclass(slots=True)
class WindowsClosed(OfTrial):
    """The windows of a trial and of all before it closed: held rewards count, and a missing one is late."""

    kind = 12
    what = "settle"
    by_caller = False
    stored = ("trial", "value")
    late: float | None = None

    def apply(self, journal: "Journal", at: float) -> None:
        journal.check_trial(self.trial)
        journal.close_windows(self.trial)
        if self.trial not in journal.pending:
            return
        journal.end(self.trial, at)
        journal.records.late.add(self.trial)
        journal.records.trial(self.trial).late = True
        if self.late is None:
            journal.wait(self.trial, -1)
        else:
            journal.take(journal.last, self.trial, self.late)

    def within(self, lower: float, upper: float, journal: "Journal") -> Event:
        holds = journal.lateness is not None and journal.lateness.holds
        refused = holds and self.late is None and self.trial in journal.pending  # else its reward would be held
        return Noted(self.trial, {}) if refused else self


@dataclass(slots=True)
class Reopened(OfTrial):
    """An abandoned trial is pending again."""

    kind = 13
    what = "reopen"
    stored = ("trial",)

    def apply(self, journal: "Journal", at: float) -> None:
        if not self.recovered(journal.records.trial(self.trial)):
            said = f"event {journal.last} reopens trial {self.trial!r}, which is not abandoned"
            raise FormatError(f"{said}: the storage is damaged")
        journal.make_pending(self.trial)

    def recovered(self, record: TrialRecord) -> Sequence[Event]:
        return [self] if record.status == ABANDONED and not record.late else []


EVENTS: Final[tuple[type[Event], ...]] = (
    *(ArmAdded, ArmRetired, Asked, Rewarded, Abandoned, Voided, Corrected, Noted, PastAdded, CallRecorded, FloorSet),
    *(WinnerDeclared, WindowSet, WindowsClosed, Reopened),
)
READERS: Final[dict[int, Callable[[Sequence[Any]], Event]]] = {cls.kind: cls.of for cls in EVENTS}
READERS[WindowSet.kind] = lambda row: (WindowSet if row[2] is None else WindowsClosed).of(row)


def event_of(row: Sequence[Any]) -> Event:
    """Read the event in a row, which may be a plain tuple."""
    return READERS.get(row[1], unknown)(row)


def unknown(row: Sequence[Any]) -> Event:
    """Refuse a row of a kind that does not exist."""
    raise FormatError(f"event {row[0]} has kind {row[1]}, unknown to this version")
