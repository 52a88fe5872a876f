"""The journal of a study, derived by applying its events one after the other.

Everything here follows from the events alone; the policy enters only in ``decider.py``.
"""

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.annotations import merged
from dirichlet_bandits.live.event_notes import NOTHING, Asked, read_ask, read_winner
from dirichlet_bandits.live.floors import read_floor
from dirichlet_bandits.live.journal_fields import ABANDONED, JournalFields, Revision
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.live.segments import Parts
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import (
    ABANDON,
    ARM,
    ASK,
    CORRECT,
    DONE,
    FLOOR,
    LATE,
    NOTE,
    PAST,
    REOPEN,
    RETIRE,
    TELL,
    VOID,
    WINNER,
    Row,
)
from dirichlet_bandits.validation import LARGEST_SCALE

LATEST: Final = 9e9  # seconds since 1970: as far as pandas counts


class Journal(JournalFields):
    """A study as of its last event, and the means to apply the next ones."""

    def __init__(self, is_part: bool = False, as_before: bool = False) -> None:
        super().__init__()
        self._is_part = is_part  # of a segment: only some of the study's events come here
        self.as_before = as_before  # read as by the rules before version 4, to replay what they decided
        self.parts = Parts(self)
        self.siblings: Callable[[], Sequence[Journal]] = tuple  # journals of the other segments, if this is of one

    def ends_with(self, event: Row) -> bool:
        """Whether this is the last event that was applied; its ``data`` need not have been read."""
        return _without_data(event) == self.tail

    @intact("the study")
    def apply(self, events: Sequence[Row]) -> None:
        """Apply the next events. After an exception, the journal is incomplete and must not be used."""
        # Opening a study runs through hundreds of thousands of events, so storages may pass plain tuples.
        number: int
        kind: int
        trial: Any  # which fields are present depends on the kind
        arm: Any
        value: Any
        for event in events:
            number, kind, trial, arm, value, at, _, note, token, _, _ = event
            if number != self.last + 1 and not self._is_part:
                missing = f"event {self.last + 1} of the study is missing: the storage is damaged"
                raise FormatError(f"{missing} (what is there can be exported)")
            if not abs(at) < LATEST:
                raise FormatError(f"event {number} has the time {at!r}: the storage is damaged")
            if kind == ASK:
                self._ask(event)
            elif kind == TELL:
                self._report(number, trial, _reward(number, value), at)
            elif kind == ABANDON:
                del self.pending[trial]
                self.n_pending[self.arm_of[trial]] -= trial not in self.repeats
                self.ended_at[trial] = at
            elif kind == REOPEN:
                self._reopen(number, trial)
            elif kind in (ARM, RETIRE):
                self._change_arms(kind, arm, note)
            elif kind == VOID:
                self._void(number, trial, at, _reason(number, note))
            elif kind == CORRECT:
                self._correct(number, trial, _reward(number, value), at, _reason(number, note))
            elif kind == NOTE:
                self._annotate(number, trial, note)
            elif kind == PAST:
                self._add_past(event)
            elif kind == WINNER:
                self.winners.append(read_winner(number, arm, value, note, len(self.names)))
            elif kind == FLOOR:
                self.floor = read_floor(number, note, self.names, self.active_names())
            elif kind == LATE:
                self._close(number, trial, value, at, note)
            elif kind != DONE:
                raise FormatError(f"event {number} has kind {kind}, unknown to this version")
            if token is not None:
                self._remember(token, number, kind, trial, note)
            if self.segment_of:
                self.parts.apply(Row(number, kind, trial, arm, value, at, None, note))
            self.last = number
        if events:
            self.tail = _without_data(events[-1])

    def of(self, segment: str | None) -> "Journal":
        """Return the journal of a segment, or this journal if no segment is given."""
        return self if segment is None else self.parts.journal(segment)

    def _remember(self, token: str, number: int, kind: int, trial: Any, note: Any) -> None:
        """Keep what a call with a token did, for a call that repeats it."""
        if kind in (ASK, PAST):
            self.trials_of.setdefault(token, []).append(trial)
        elif kind == DONE and note is not None and note.startswith("{"):  # an ask that got an existing trial
            self.trials_of[token] = json.loads(note)["asked"]
        else:
            self.number_of.setdefault(token, number)

    def _ask(self, event: Row) -> None:
        """Add a pending trial."""
        trial, arm, propensity = self._new_trial(event)
        number, _, _, _, _, at, _, note, _, decider, _ = event
        asked = NOTHING if note is None else read_ask(note)
        if asked.unit is not None:
            self._assign(trial, asked, decider is not None)
        if asked.first is not None:  # outside of the rounds that count
            self.round_of.append(self.round_of[asked.first] if decider is None else trial)
        elif asked.segment is None:
            self._hand_out(number, trial, asked)
        else:
            self.segment_of[trial] = asked.segment
            ask = Row(number, ASK, trial, arm, propensity, at)
            self.round_of.append(self.parts.ask(ask, asked, trial not in self.repeats))
        self.n_pending[arm] += trial not in self.repeats
        self.arm_of.append(arm)
        self.propensity_of.append(propensity)
        self.asked_at.append(at)
        self.pending[trial] = None

    def _new_trial(self, event: Row) -> tuple[int, int, float]:
        """Return the number of a new trial, its arm, and its propensity or reward."""
        number, _, trial, arm, value, _, _, _, _, _, _ = event
        if trial != len(self.arm_of) or arm is None or not 0 <= arm < len(self.names) or type(value) is not float:
            what = f"event {number} adds trial {trial!r} of arm {arm!r} with {value!r}"
            raise FormatError(f"{what}: the storage is damaged")
        return trial, arm, value

    def _report(self, number: int, trial: int, value: float, at: float) -> None:
        """Apply the report of a reward."""
        del self.pending[trial]
        self.ended_at[trial] = at
        self._take(number, trial, value)

    def _take(self, number: int, trial: int, value: float) -> None:
        """Take the reward of a trial that waits for it: it counts now, when its window closes, or not at all."""
        if trial in self.repeats:
            self.aside[trial] = value
        elif self._is_open(trial):
            self.held[trial] = number, value
        else:
            self.n_pending[self.arm_of[trial]] -= 1
            self._tell(number, trial, value)

    def _hand_out(self, number: int, trial: int, asked: Asked) -> None:
        """Apply an ask: the next arm of the round, or the first arm of a new round."""
        if self.rest:
            del self.rest[0]
        else:
            self.rest = _checked_rest(number, asked.rest, len(self.names))
            self.round = trial
        self.round_of.append(self.round)

    def _assign(self, trial: int, asked: Asked, decided: bool) -> None:
        """Apply an ask for a unit, whose first trial is the only one that counts."""
        unit = str(asked.unit)
        if asked.first is not None or (unit in self.assigned_by and not self.as_before):
            self.repeats.add(trial)
        if asked.first is None or decided:
            self.assigned_by[unit] = trial
        if asked.first in self.segment_of:
            self.segment_of[trial] = self.segment_of[asked.first]
        self.unit_of[trial] = unit
        self.last_of[unit] = trial

    def _tell(self, number: int, trial: int, value: float) -> None:
        """Add a reward that counts after those reported before."""
        self.n_told[self.arm_of[trial]] += 1
        self.counted.add(number, trial, value)

    def _reopen(self, number: int, trial: int) -> None:
        """Make an abandoned trial pending again."""
        if self.status(trial) != ABANDONED or trial in self.late:
            raise FormatError(f"event {number} reopens trial {trial!r}, which is not abandoned: the storage is damaged")
        self.pending = dict.fromkeys(sorted([*self.pending, trial]))  # the oldest first
        self.n_pending[self.arm_of[trial]] += trial not in self.repeats or self.as_before
        self._first_open = min(self._first_open, trial)
        del self.ended_at[trial]

    def _void(self, number: int, trial: int, at: float, reason: str | None) -> None:
        """Remove a reward; the trial no longer counts as a try of its arm."""
        self.history_of.setdefault(trial, [Revision(self.answer(trial), None)]).append(Revision(None, reason))
        if trial in self.aside:
            del self.aside[trial]
        elif trial in self.held:
            del self.held[trial]
            self.n_pending[self.arm_of[trial]] -= 1
        else:
            self.counted.remove(trial)
            self.n_told[self.arm_of[trial]] -= 1
            self.revision = number
        self.voided.add(trial)
        self.ended_at[trial] = at

    def _correct(self, number: int, trial: int, value: float, at: float, reason: str | None) -> None:
        """Replace a reward; if it had been voided, add the new one after those reported before."""
        self.history_of.setdefault(trial, [Revision(self.answer(trial), None)]).append(Revision(value, reason))
        if trial in self.voided:
            self.voided.remove(trial)
            self.ended_at[trial] = at
            self.n_pending[self.arm_of[trial]] += trial not in self.repeats
            self._first_open = min(self._first_open, trial)
            self._take(number, trial, value)
        elif trial in self.held:
            self.held[trial] = self.held[trial][0], value
        elif trial in self.aside:
            self.aside[trial] = value
        elif trial in self.reward_of:
            self.counted.replace(trial, value)
            self.revision = number
        else:
            raise FormatError(f"event {number} corrects trial {trial!r}, which has no reward: the storage is damaged")

    def _is_open(self, trial: int) -> bool:
        """Whether a reward of this trial waits for its window to close; past trials have none."""
        has_window = self.as_before or trial not in self.past
        return self.lateness is not None and self.lateness.holds and trial >= self._n_closed and has_window

    def _close(self, number: int, trial: int | None, value: Any, at: float, note: str | None) -> None:
        """Close the windows up to that of a trial: held rewards count, and a missing one is late."""
        if value is not None:
            _reward(number, value)
        if trial is None:
            self.lateness = Lateness(float(note or ""), value)
            return
        if not 0 <= trial < len(self.arm_of):
            raise FormatError(f"event {number} closes the window of trial {trial!r}: the storage is damaged")
        self.close_windows(trial)
        if trial in self.pending:
            del self.pending[trial]
            self.ended_at[trial] = at
            self.late.add(trial)
            if value is not None:
                self._take(number, trial, value)
            else:
                self.n_pending[self.arm_of[trial]] -= trial not in self.repeats

    def close_windows(self, trial: int) -> None:
        """Count the rewards that are held for the windows up to that of a trial."""
        for one in range(self._n_closed, trial + 1) if self.held else ():
            if one in self.held:
                told, reward = self.held.pop(one)
                self.n_pending[self.arm_of[one]] -= 1
                self._tell(told, one, reward)
        self._n_closed = max(self._n_closed, trial + 1)

    def _add_past(self, event: Row) -> None:
        """Add a past trial as a round of its own, with its reward; the current round continues."""
        trial, arm, reward = self._new_trial(event)
        number, _, _, _, _, at, _, note, _, _, _ = event
        self.past.add(trial)
        self.arm_of.append(arm)
        self.round_of.append(trial)
        self.propensity_of.append(math.nan if note is None else float(note))
        self.asked_at.append(at)
        self.ended_at[trial] = at
        self._tell(number, trial, _reward(number, reward))

    def _annotate(self, number: int, trial: int, note: Any) -> None:
        said = json.loads(note)
        if not isinstance(said, dict) or not 0 <= trial < len(self.arm_of):
            raise FormatError(f"event {number} notes {note!r} of trial {trial!r}: the storage is damaged")
        self.annotation_of[trial] = merged(self.annotation_of.get(trial, {}), said)

    def _change_arms(self, kind: int, arm: Any, name: Any) -> None:
        self.rest = []  # the round ends: arms of it that were not assigned never will be
        if not 0 <= arm < len(self.names) + (kind == ARM):
            raise FormatError(f"there is no arm {arm!r} to change: the storage is damaged")
        if kind == RETIRE:
            self.active[arm] = False
        elif arm < len(self.names):  # an arm that was retired comes back
            self.active[arm] = True
        elif not isinstance(name, str):
            raise FormatError(f"arm {arm!r} has the name {name!r}: the storage is damaged")
        else:
            self.names.append(name)
            self.active.append(True)
            self.since.append(len(self.arm_of))
            self.n_told.append(0)
            self.n_pending.append(0)


def _checked_rest(number: int, rest: list[tuple[int, float]], n_arms: int) -> list[tuple[int, float]]:
    """Return the arms that a round has yet to assign, with their propensities, as a new list."""
    if not all(type(arm) is int and 0 <= arm < n_arms and isinstance(chance, float | int) for arm, chance in rest):
        raise FormatError(f"event {number} begins a round with {rest!r} to come: the storage is damaged")
    return list(rest)


def _reward(number: int, value: object) -> float:
    """Return the reward of an event, which must be a finite number."""
    if type(value) is not float or not abs(value) <= LARGEST_SCALE:
        raise FormatError(f"event {number} has the reward {value!r}: the storage is damaged")
    return value


def _reason(number: int, note: Any) -> str | None:
    if note is not None and not isinstance(note, str):
        raise FormatError(f"event {number} has the reason {note!r}: the storage is damaged")
    return note


def _without_data(event: Row) -> tuple[Any, ...]:
    number, kind, trial, arm, value, at, _, note, token, decider, actor = event
    return number, kind, trial, arm, value, at, note, token, decider, actor
