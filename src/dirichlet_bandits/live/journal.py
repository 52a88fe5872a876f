"""The journal of a study, derived by applying its events one after the other.

Everything here follows from the events alone; the policy enters only in ``decider.py``. What an event changes is
written in its class (``events.py``), in terms of the methods here. Each of them changes the counts of the study and
those of the trial's segment, so that no event has to know of segments.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.event import Event
from dirichlet_bandits.live.events import READERS, Asked, Rest, WindowsClosed, WinnerDeclared, unknown
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.live.records import HELD, PENDING, REPEATED, TOLD, Records, Revision, UnitRecord
from dirichlet_bandits.live.view import SegmentView, StudyView
from dirichlet_bandits.storage.events import Row, intact
from dirichlet_bandits.validation import LARGEST_SCALE

LATEST: Final = 9e9  # seconds since 1970: as far as pandas counts


class Journal(StudyView):
    """A study as of its last event, and the means to apply the next ones.

    With ``as_before``, it reads events by the rules before version 4, to replay what they decided; with ``within``, it
    reads them as if rewards outside of these bounds had been refused.
    """

    def __init__(self, as_before: bool = False, within: tuple[float, float] | None = None) -> None:
        super().__init__([], [])
        self.whole = self
        self.last = -1
        self.tail: tuple[Any, ...] = ()  # the last event, to recognize it later
        self.as_before, self._within = as_before, within
        self.counted: dict[
            int, tuple[int, int]
        ] = {}  # trials whose rewards count: the event, and how many trials there were
        self.held: dict[
            int, int
        ] = {}  # trials whose rewards count when windows close, and the events that reported them
        self.winners: list[WinnerDeclared] = []
        self.view_of: dict[int, SegmentView] = {}  # by trial
        self.records = Records()
        self.waited_again = 0  # how often a trial that had ended began to wait again
        self._n_closed = 0  # trials below have closed windows
        self._first_open = 0  # trials below are neither pending nor held

    def ends_with(self, row: Row) -> bool:
        """Whether this is the last event that was applied; its ``data`` need not have been read."""
        return _without_data(row) == self.tail

    @intact("the study")
    def apply(self, rows: Sequence[Row]) -> None:
        """Apply the next events. After an exception, the journal is incomplete and must not be used."""
        # Opening a study runs through hundreds of thousands of events, so storages may pass plain tuples.
        read, within, records = READERS.get, self._within, self.records
        for number, row in enumerate(rows, self.last + 1):
            if row[0] != number:
                missing = f"event {number} of the study is missing: the storage is damaged"
                raise FormatError(f"{missing} (what is there can be exported)")
            at = row[5]
            if not abs(at) < LATEST:
                raise FormatError(f"event {number} has the time {at!r}: the storage is damaged")
            self.last = number
            event = read(row[1], unknown)(row)
            if within is not None:
                event = event.within(*within, self)
            event.apply(self, at)
            if row[8] is not None:
                records.remember(row[8], number, event.asked)
        if rows:
            self.tail = _without_data(rows[-1])

    def of(self, segment: str | None) -> StudyView:
        """Return the view of a segment, empty if it has no trial yet, or this journal if no segment is given."""
        return self if segment is None else self.views.get(segment) or SegmentView(self)

    def _rows(self) -> Iterable[tuple[int, float, int, int, int]]:
        for trial, (event, asked) in self.counted.items():
            record = self.records.trials[trial]
            assert record.reward is not None
            yield record.arm, record.reward, event, trial, asked

    def open_trials_asked_by(self, asked: float) -> list[int]:
        """Return the trials with open windows that were asked by this time, up to the first one asked later."""
        n, trials = len(self.arm_of), self.records.trials
        while self._first_open < n and not self.is_waiting(self._first_open):
            self._first_open += 1
        found: list[int] = []
        for trial in range(self._first_open, n):
            if self.is_waiting(trial):
                if trials[trial].asked_at > asked:
                    break
                found.append(trial)
        return found

    def is_waiting(self, trial: int) -> bool:
        """Whether the reward of a trial has yet to come, or to count."""
        return trial in self.pending or trial in self.held

    def _is_open(self, trial: int) -> bool:
        """Whether a reward of this trial waits for its window to close; past trials have none."""
        has_window = self.as_before or not self.records.trials[trial].past
        return self.lateness is not None and self.lateness.holds and trial >= self._n_closed and has_window

    # What events do

    def check_new(self, trial: Any, arm: Any, value: Any) -> None:
        """Refuse a new trial that is damaged; ``value`` is its propensity or reward."""
        if trial != len(self.arm_of) or arm is None or not 0 <= arm < len(self.names) or type(value) is not float:
            what = f"event {self.last} adds trial {trial!r} of arm {arm!r} with {value!r}"
            raise FormatError(f"{what}: the storage is damaged")

    def check_trial(self, trial: Any) -> None:
        """Refuse a trial that does not exist."""
        if not 0 <= trial < len(self.arm_of):
            raise FormatError(f"event {self.last} is about trial {trial!r}, which is missing: the storage is damaged")

    def checked_reward(self, value: object) -> float:
        """Return the reward of an event, which must be a finite number."""
        if type(value) is not float or not abs(value) <= LARGEST_SCALE:
            raise FormatError(f"event {self.last} has the reward {value!r}: the storage is damaged")
        return value

    def assign(self, asked: Asked) -> None:
        """Note the unit of a new trial; only the first trial of a unit counts."""
        trial, unit, known = asked.trial, str(asked.unit), self.records.unit(asked.unit)
        if asked.first is not None or (known is not None and not self.as_before):
            self.repeats.add(trial)
        assigned = known is None or asked.first is None or asked.decider is not None
        self.records.units[unit] = UnitRecord(trial if known is None or assigned else known.first, trial)

    def hand_out(self, trial: int, rest: Rest | None, segment: str | None) -> int:
        """Take the next arm of a segment's round, or begin a new round, and return the first trial of the round."""
        if segment is None:
            view: StudyView = self
        else:
            view = self.view_of[trial] = self.views.get(segment) or self.views.setdefault(segment, SegmentView(self))
        if view.rest:
            del view.rest[0]
        else:
            view.rest = [] if rest is None else _checked_rest(self.last, rest, len(self.names))
            view.round = trial
        return view.round

    def add_trial(self, trial: int, arm: int) -> None:
        """Add a pending trial."""
        counts = trial not in self.repeats
        self.add(trial, arm, counts)
        if self.view_of and (view := self.view_of.get(trial)) is not None:
            view.ids.append(trial)
            view.add(len(view.arm_of), arm, counts)

    def end(self, trial: int, at: float) -> None:
        """End the wait for the reward of a pending trial."""
        del self.pending[trial]
        if self.view_of and (view := self.view_of.get(trial)) is not None:
            del view.pending[view.number(trial)]
        self.records.end(trial, at)

    def wait(self, trial: int, by: int) -> None:
        """Change how many trials of the arm wait for a reward that counts."""
        if trial in self.repeats:
            return
        arm = self.arm_of[trial]
        self.n_pending[arm] += by
        if self.view_of and (view := self.view_of.get(trial)) is not None:
            view.n_pending[arm] += by

    def take(self, number: int, trial: int, reward: float) -> None:
        """Take the reward of a trial that waits for it: it counts now, when its window closes, or not at all."""
        record = self.records.trials[trial]
        record.reward = self.checked_reward(reward)
        if trial in self.repeats:
            record.status = REPEATED
        elif self.lateness is not None and self._is_open(trial):
            record.status, self.held[trial] = HELD, number
        else:
            self.count(number, trial)

    def count(self, number: int, trial: int) -> None:
        """Count the reward of a trial after those reported before."""
        record = self.records.trials[trial]
        assert record.reward is not None
        record.status = TOLD
        self.counted[trial] = number, len(self.arm_of)
        self.tell(number, trial, record.arm, record.reward)
        if self.view_of and (view := self.view_of.get(trial)) is not None:
            view.tell(number, view.number(trial), record.arm, record.reward)

    def remove(self, trial: int) -> None:
        """Remove the reward of a trial."""
        record = self.records.trial(trial)
        record.reward = None
        if record.status == HELD:
            del self.held[trial]
            self.wait(trial, -1)
        elif record.status != REPEATED:
            del self.counted[trial]
            for view in self._changed(trial):
                view.n_told[record.arm] -= 1

    def replace(self, trial: int, reward: float) -> bool:
        """Replace the reward of a trial, which keeps its place in the order; return False if there is none."""
        record = self.records.trial(trial)
        if record.reward is None:
            return False
        record.reward = reward
        if record.status == TOLD:
            self._changed(trial)
        return True

    def _changed(self, trial: int) -> list[StudyView]:
        """Note that a reward that counts has changed, and return the views in which it does."""
        views = [self, *([self.view_of[trial]] if trial in self.view_of else [])]
        for view in views:
            view.list_again(self.last)
        return views

    def make_pending(self, trial: int) -> None:
        """Make an abandoned trial pending again."""
        self.wait_again(trial)
        if self.as_before:  # segments did not know, and repeated trials counted
            self.view_of.pop(trial, None)
            self.n_pending[self.arm_of[trial]] += 1
        else:
            self.wait(trial, 1)
            if trial in self.view_of:
                self.view_of[trial].wait_again(self.view_of[trial].number(trial))
        self.look_from(trial)
        record = self.records.trial(trial)
        record.status, record.ended_at = PENDING, math.nan

    def look_from(self, trial: int) -> None:
        """Look for windows that end from this trial on, because it waits again."""
        self._first_open = min(self._first_open, trial)
        self.waited_again += 1

    def close_windows(self, trial: int) -> None:
        """Count the rewards that are held for the windows up to that of a trial."""
        for one in range(self._n_closed, trial + 1) if self.held else ():
            if one in self.held:
                self.count(self.held.pop(one), one)
        self._n_closed = max(self._n_closed, trial + 1)

    def revise(self, trial: int, reward: float | None, reason: str | None) -> None:
        """Note that a reward is taken back or replaced, before it is."""
        if reward is not None:
            self.checked_reward(reward)
        if not isinstance(reason, str | None):
            raise FormatError(f"event {self.last} has the reason {reason!r}: the storage is damaged")
        record = self.records.trial(trial)
        record.revisions = [*(record.revisions or [Revision(record.reward, None)]), Revision(reward, reason)]

    def change_floor(self, floor: float | dict[str, float]) -> None:
        """Change the minimal probabilities of the arms."""
        for view in self._every():
            view.floor = floor

    def set_lateness(self, lateness: Lateness) -> None:
        """Change the window."""
        for view in self._every():
            view.lateness = lateness

    def change_arm(self, arm: int, active: bool, name: str | None = None) -> None:
        """Add, bring back or retire an arm."""
        if not 0 <= arm < len(self.names) + active:
            raise FormatError(f"there is no arm {arm!r} to change: the storage is damaged")
        if arm == len(self.names):
            if not isinstance(name, str):
                raise FormatError(f"arm {arm!r} has the name {name!r}: the storage is damaged")
            self.names.append(name)
            self.active.append(True)
            for view in self._every():
                view.add_arm()
        self.active[arm] = active
        for view in self._every():
            if view.rest:
                self.records.chances_of.pop(view.round, None)
            view.rest = []  # the round ends: arms of it that were not assigned never will be

    def _every(self) -> Iterator[StudyView]:
        """Yield the views of the study and of all its segments."""
        yield self
        yield from self.views.values()


def settled(journal: Journal, draft: Callable[[Event], None], now: float) -> list[int]:
    """Draft the events that close the windows that have ended, and return the trials whose rewards are missing."""
    lateness = journal.lateness
    closed = [] if lateness is None else journal.open_trials_asked_by(now - lateness.window)
    if lateness is None or not closed:
        return []
    missing = [trial for trial in closed if trial in journal.pending]
    for trial in missing:
        draft(WindowsClosed(trial, lateness.late))
    if lateness.holds and closed[-1] not in missing:
        draft(WindowsClosed(closed[-1], None))
    return missing


def _checked_rest(number: int, rest: Rest, n_arms: int) -> Rest:
    """Return the arms that a round has yet to assign, with their propensities, as a new list."""
    if not all(type(arm) is int and 0 <= arm < n_arms and isinstance(chance, float | int) for arm, chance in rest):
        raise FormatError(f"event {number} begins a round with {rest!r} to come: the storage is damaged")
    return list(rest)


def _without_data(row: Row) -> tuple[Any, ...]:
    number, kind, trial, arm, value, at, _, note, token, decider, actor = row
    return number, kind, trial, arm, value, at, note, token, decider, actor
