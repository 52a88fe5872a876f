"""Ask: the next arm of a round, of a segment, or of a returning unit."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live.decider import VERSION
from dirichlet_bandits.live.event import Event, Step
from dirichlet_bandits.live.events import Asked, CallRecorded
from dirichlet_bandits.live.fields import Count, Segment, Unit
from dirichlet_bandits.live.operation import WRITE, Change, Present, operation
from dirichlet_bandits.live.records import PENDING, TokenRecord, Trial, trial_of
from dirichlet_bandits.live.settings import StudySettings


@operation(WRITE, key="trials")
class Ask(Change[list[Trial]]):
    """Return the next trials, all decided by the rewards so far; for the token of an earlier ask, its trials."""

    n: Count = 1
    segment: Segment | None = None
    unit: Unit | None = None
    decides: ClassVar[bool] = True

    def prepare(self, settings: StudySettings) -> None:
        checked_segment(self.segment, settings.segments)
        if self.unit is not None and self.n != 1:
            raise ArgumentError("n", "1 with a unit, which has one trial at a time", self.n)

    def carry_out(self, study: Present) -> Iterator[Event]:
        if not self._waiting(study):
            for _ in range(self.n):
                yield next_ask(study, self.segment, self.unit)

    def _waiting(self, study: Present) -> list[int]:
        """Return the pending trial of the unit, if there is one and its arm may still be assigned."""
        unit = study.journal.records.unit(self.unit)
        if unit is None:
            return []
        last = study.trial(unit.last)
        return [unit.last] if last.status == PENDING and study.journal.active[last.arm] else []

    def left(self, study: Present, made: Sequence[Event], intended: Sequence[Step]) -> CallRecorded | None:
        return None if made else CallRecorded([], self._waiting(study))

    def again(self, study: Present, record: TokenRecord, steps: Sequence[Step], token: str) -> list[Trial]:
        ids = trials_of_call(study, record, token)
        if study.trial(ids[0]).past:
            raise ConflictError(f"token {token!r} has added trials of the past")
        if len(ids) != self.n:
            raise ConflictError(f"token {token!r} has asked for {len(ids)} trials (now {self.n})")
        first = study.trial(ids[0])
        if first.unit != self.unit or (self.unit is None and first.segment != self.segment):
            raise ConflictError(f"token {token!r} has asked for another segment or unit")
        return [trial_of(study.journal, id) for id in ids]

    def answer(self, study: Present, made: Sequence[Event]) -> list[Trial]:
        ids = [event.trial for event in made if isinstance(event, Asked)] or self._waiting(study)
        return [trial_of(study.journal, id) for id in ids]

    def intended(self, study: Present) -> Sequence[Event]:
        return []


def next_ask(study: Present, segment: str | None, unit: str | None) -> Asked:
    """Return the ask that assigns a unit's arm, the next arm of the round, or the first arm of a new round.

    A unit whose arm was retired gets the first arm of a round of its own, so that the others keep theirs.
    """
    journal = study.journal
    trial = len(journal.arm_of)
    known = journal.records.unit(unit)
    before = None if known is None else known.first
    if before is not None:
        home = study.trial(before)
        if journal.active[home.arm]:
            return Asked(trial, home.arm, home.propensity, unit=unit, first=before)
        segment = home.segment
    part = journal.of(segment)
    if part.rest and before is None:
        arm, chance = part.rest[0]
        return Asked(trial, arm, chance, segment=segment, unit=unit)
    arms, chances = study.decider.of(segment).decide(part, trial)
    (arm, chance), *rest = [(arm, float(chances[arm])) for arm in arms]
    data = chances.astype("<f8").tobytes()
    return Asked(trial, arm, chance, data, rest if before is None else [], segment, unit, before, VERSION)


def trials_of_call(study: Present, record: TokenRecord, token: str) -> Sequence[int]:
    """Return the trials that a call asked for, or added; refuse the token of any other call."""
    if record.number is not None:
        raise ConflictError(f"token {token!r} was used for another call")
    return record.trials


def checked_segment(segment: str | None, segments: Sequence[str] | None) -> str | None:
    """Return the segment of an ask: one of those that the study declares, if it declares any.

    >>> checked_segment(None, ("clay", "sand"))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'segment' must be one of 'clay', 'sand' (got None)
    """
    if not segments and segment is not None:
        raise ArgumentError("segment", "None: the study has no segments", segment)
    if segments and segment not in segments:
        raise ArgumentError("segment", f"one of {', '.join(map(repr, segments))}", segment)
    return segment
