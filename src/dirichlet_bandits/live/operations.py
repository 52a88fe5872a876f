"""The operations that change a study: their fields, what they are to do, what they really do, and their answers.

Before any of them, windows that have ended are closed. A refusal changes nothing. Unknown trials and arms are refused
first, then a token that was used for another call, and then what contradicts the study.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live import events, fields, records
from dirichlet_bandits.live.asking import trials_of_call
from dirichlet_bandits.live.event import Event, Step
from dirichlet_bandits.live.floors import check_room, check_sum, checked_floor
from dirichlet_bandits.live.lateness import shown
from dirichlet_bandits.live.operation import MANAGE, WRITE, Change, Present, operation
from dirichlet_bandits.live.past_trials import Past
from dirichlet_bandits.live.settings import StudySettings

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal
    from dirichlet_bandits.live.local import Local

_REWARDED = (records.TOLD, records.HELD, records.REPEATED)


class OfOneTrial(Change[None]):
    """An operation on one trial."""

    id: int

    def check(self, study: Present) -> None:
        study.check_trial(self.id)


@operation(WRITE)
class Tell(OfOneTrial):
    """Record the reward of a trial. Repeating a reward changes nothing; a different one is refused."""

    id: fields.TrialId
    reward: fields.Reward
    note: fields.Note | None = None
    attributes: fields.Attributes | None = None
    done: ClassVar[str] = "trial {0.id}: {0.reward!r}"

    def prepare(self, settings: StudySettings) -> None:
        settings.checked_reward(self.reward)

    def intended(self, study: Present) -> Sequence[Event]:
        said = _said(self.note, self.attributes)
        return [events.Rewarded(self.id, self.reward), *([events.Noted(self.id, said)] if said else [])]

    def carry_out(self, study: Present) -> Iterable[Event]:
        rewarded, *noted = self.intended(study)
        new = [rewarded] if takes_reward(study, self.id, self.reward) else []
        return [*new, *(event for event in noted if is_noteworthy(study, event))] if noted else new


@operation(WRITE)
class TellMany(Change[None]):
    """Record the rewards of several trials: either all are stored, or none."""

    ids: fields.TrialIds
    rewards: fields.Rewards

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.ids) != len(self.rewards):
            raise ArgumentError("rewards", f"as many as ids, {len(self.ids)}", list(self.rewards))
        told: dict[int, float] = {}
        for trial, value in zip(self.ids, self.rewards, strict=True):
            if told.setdefault(trial, value) != value:
                raise ConflictError(f"trial {trial} is given two rewards: {told[trial]!r} and {value!r}")

    def prepare(self, settings: StudySettings) -> None:
        for reward in self.rewards:
            settings.checked_reward(reward)

    def check(self, study: Present) -> None:
        for trial in self.ids:
            study.check_trial(trial)

    def intended(self, study: Present) -> Sequence[Event]:
        return [
            events.Rewarded(trial, reward) for trial, reward in dict(zip(self.ids, self.rewards, strict=True)).items()
        ]

    def carry_out(self, study: Present) -> Iterable[Event]:
        told = dict(zip(self.ids, self.rewards, strict=True))
        new = [takes_reward(study, trial, reward) for trial, reward in told.items()]
        return [event for event, is_new in zip(self.intended(study), new, strict=True) if is_new]


def takes_reward(study: Present, trial: int, value: float) -> bool:
    """Whether a trial takes this reward, False if it has it; refuse a trial that takes none or has another one."""
    if trial in study.journal.pending:  # nearly always
        return True
    record = study.trial(trial)
    if record.status == records.ABANDONED:
        raise ConflictError(f"trial {trial} {_why_abandoned(study, record)}: it takes no reward")
    if record.status == records.VOIDED:
        raise ConflictError(f"trial {trial} was voided: correct it to give it a new reward")
    if record.status in _REWARDED and record.reward != value:
        if record.late and not record.revisions:
            counted = f"so its reward is {record.reward!r} (now {value!r})"
            advice = "if a reward came before then, correct the trial"
            raise ConflictError(f"trial {trial} {_closed(study)}, {counted}: {advice}")
        done = "corrected to" if record.revisions else "given"
        raise ConflictError(f"trial {trial} was {done} {record.reward!r} (now {value!r})")
    return False


def _closed(study: Present) -> str:
    lateness = study.journal.lateness
    return f"is late: its window of {'?' if lateness is None else shown(lateness.window)} has closed"


def _why_abandoned(study: Present, record: records.TrialRecord) -> str:
    return f"{_closed(study)}, which abandoned it" if record.late else "was abandoned"


@operation(WRITE)
class Annotate(OfOneTrial):
    """Add a note and attributes to a trial. Repeating the call changes nothing; null removes an attribute."""

    id: fields.TrialId
    note: fields.Note | None = None
    attributes: fields.Attributes | None = None
    done: ClassVar[str] = "trial {0.id}: annotated"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _said(self.note, self.attributes):
            raise ArgumentError("note", "a text, unless attributes are given", self.note)

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.Noted(self.id, _said(self.note, self.attributes))]

    def carry_out(self, study: Present) -> Iterable[Event]:
        return [event for event in self.intended(study) if is_noteworthy(study, event)]


def _said(note: str | None, attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what is to be stored; empty if there is nothing."""
    return {key: x for key, x in {"note": note, "attributes": attributes}.items() if x is not None}


def is_noteworthy(study: Present, event: Event) -> bool:
    """Whether an annotation of a trial is new."""
    assert isinstance(event, events.Noted)
    known = study.trial(event.trial).annotation or {}
    return not records.same(records.merged(known, event.said), known)


@operation(WRITE, key="ids")
class AddTrials(Change[list[int]]):
    """Add past trials that were decided elsewhere, all or none; a call with an earlier token adds nothing."""

    trials: fields.PastTrials
    _ready: ClassVar[tuple[Sequence[str], int, Sequence[Event]]] = ((), -1, ())  # as of which arms and trials

    def prepare(self, settings: StudySettings) -> None:
        for k, row in enumerate(self.trials):
            settings.checked_reward(row.reward, f"reward[{k}]")

    def check(self, study: Present) -> None:
        if study.settings.segments:
            raise ConflictError(f"the study {study.name!r} has segments, and past trials have none")
        for name in dict.fromkeys(row.arm for row in self.trials):
            study.arm(name)

    def get_ready(self, local: "Local") -> None:
        journal = local.journal()
        if {row.arm for row in self.trials} <= set(journal.names):
            self._made(journal)

    def intended(self, study: Present) -> Sequence[Event]:
        return self._made(study.journal)

    def _made(self, journal: "Journal") -> Sequence[Event]:
        """Return the events, made once unless another call changes the study meanwhile."""
        names, first = list(journal.names), len(journal.arm_of)
        if self._ready[:2] != (names, first):
            object.__setattr__(self, "_ready", (names, first, self._events(names, first)))
        return self._ready[2]

    def _events(self, names: Sequence[str], first: int) -> Sequence[Event]:
        """Return the past trials as events, the first of them with this number.

        A known propensity is that of the row's arm; those of other arms that could have come are NaN, and the rest 0.
        """
        arm_of = {name: names.index(name) for name in dict.fromkeys(row.arm for row in self.trials)}
        possible = sorted({arm_of[row.arm] for row in self.trials if row.propensity is not None})

        @cache
        def propensities(arm: int, propensity: float | None) -> bytes | None:
            if propensity is None:
                return None
            chances = np.zeros(len(names))
            if propensity < 1.0:
                chances[possible] = np.nan
            chances[arm] = propensity
            return chances.astype("<f8").tobytes()

        return [
            events.PastAdded(first + k, arm, reward, propensities(arm, chance), chance, time)
            for k, (arm, reward, time, chance) in enumerate((arm_of[row.arm], *row[1:]) for row in self.trials)
        ]

    def left(self, study: Present, made: Sequence[Event], intended: Sequence[Step]) -> events.CallRecorded | None:
        return None

    def again(self, study: Present, record: records.TokenRecord, steps: Sequence[Step], token: str) -> list[int]:
        ids = trials_of_call(study, record, token)
        same = len(ids) == len(self.trials) and all(map(partial(_is_stored, study), ids, self.trials))
        if not same:
            raise ConflictError(f"token {token!r} has asked for, or added, other trials")
        return list(ids)

    def answer(self, study: Present, made: Sequence[Event]) -> list[int]:
        return [event.trial for event in made if isinstance(event, events.PastAdded)]


def _is_stored(study: Present, id: int, row: Past) -> bool:
    """Whether a trial equals a row of past data as it was first stored."""
    record = study.trial(id)
    chance = None if math.isnan(record.propensity) else record.propensity
    stored = study.journal.names[record.arm], record.first_reward, chance
    same_time = row.time is None or row.time == record.asked_at
    return record.past and same_time and stored == (row.arm, row.reward, row.propensity)


@operation(WRITE, key="ids")
class Settle(Change[list[int]]):
    """Close the windows that have ended and return the late trials. Every change does this first."""

    has_token: ClassVar[bool] = False

    def intended(self, study: Present) -> Sequence[Event]:
        return []

    def answer(self, study: Present, made: Sequence[Event]) -> list[int]:
        return list(study.late)


@operation(WRITE)
class Abandon(OfOneTrial):
    """Abandon a trial whose reward will never come; it does not count. Repeating the call changes nothing."""

    id: fields.TrialId
    done: ClassVar[str] = "trial {0.id}: abandoned"

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.Abandoned(self.id)]

    def carry_out(self, study: Present) -> Iterable[Event]:
        record = study.trial(self.id)
        if record.status == records.VOIDED:
            raise ConflictError(f"trial {self.id} was voided, so it already does not count")
        if record.status in _REWARDED:
            raise ConflictError(f"trial {self.id} was given {record.reward!r}: it cannot be abandoned, only voided")
        return self.intended(study) if record.status == records.PENDING else []


@operation(WRITE)
class Reopen(OfOneTrial):
    """Make an abandoned trial pending again. Reopening a pending trial changes nothing."""

    id: fields.TrialId
    done: ClassVar[str] = "trial {0.id}: pending"

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.Reopened(self.id)]

    def carry_out(self, study: Present) -> Iterable[Event]:
        record = study.trial(self.id)
        if record.status == records.PENDING:
            return []
        if record.status != records.ABANDONED:
            raise ConflictError(f"trial {self.id} was not abandoned: it cannot be reopened")
        if record.late:
            raise ConflictError(f"trial {self.id} is late: its window has closed, and it cannot be reopened")
        return self.intended(study)


@operation(WRITE)
class Void(OfOneTrial):
    """Take back the reward of a trial; it no longer counts. Repeating the call changes nothing."""

    id: fields.TrialId
    reason: fields.Reason
    done: ClassVar[str] = "trial {0.id}: voided"

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.Voided(self.id, self.reason)]

    def carry_out(self, study: Present) -> Iterable[Event]:
        return [] if revisable(study, self.id).status == records.VOIDED else self.intended(study)


@operation(WRITE)
class Correct(OfOneTrial):
    """Replace a reported or voided reward by another one. Repeating the call changes nothing."""

    id: fields.TrialId
    reward: fields.Reward
    reason: fields.Reason | None = None
    done: ClassVar[str] = "trial {0.id}: corrected to {0.reward!r}"

    def prepare(self, settings: StudySettings) -> None:
        settings.checked_reward(self.reward)

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.Corrected(self.id, self.reward, self.reason)]

    def carry_out(self, study: Present) -> Iterable[Event]:
        record = revisable(study, self.id)
        return self.intended(study) if record.status == records.VOIDED or record.reward != self.reward else []


def revisable(study: Present, trial: int) -> records.TrialRecord:
    """Return the record of a trial that has, or had, a reward; refuse any other trial."""
    record = study.trial(trial)
    if record.status == records.PENDING:
        raise ConflictError(f"trial {trial} has no reward yet: tell or abandon it")
    if record.status == records.ABANDONED:
        raise ConflictError(f"trial {trial} {_why_abandoned(study, record)}: it has no reward")
    return record


@operation(MANAGE)
class AddArm(Change[None]):
    """Add an arm without rewards, or bring back a retired arm with the rewards that it had."""

    arm: fields.Arm
    done: ClassVar[str] = "arm {0.arm!r}: active"

    def intended(self, study: Present) -> Sequence[Event]:
        names = study.journal.names
        return [events.ArmAdded(names.index(self.arm) if self.arm in names else len(names), self.arm)]

    def carry_out(self, study: Present) -> Iterable[Event]:
        journal = study.journal
        if self.arm in journal.active_names():
            raise ConflictError(f"the study has an arm {self.arm!r}")
        active = [*journal.active_names(), self.arm]
        check_room(journal.floor, active)
        study.settings.policy.check_arms(len(active))
        return self.intended(study)


@operation(MANAGE)
class RetireArm(Change[None]):
    """Stop assigning this arm; its pending trials still accept rewards. Repeating the call changes nothing."""

    arm: fields.Arm
    done: ClassVar[str] = "arm {0.arm!r}: retired"

    def check(self, study: Present) -> None:
        study.arm(self.arm)

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.ArmRetired(study.arm(self.arm))]

    def carry_out(self, study: Present) -> Iterable[Event]:
        active = study.journal.active_names()
        if self.arm not in active:
            return []
        if len(active) == 1:
            raise ConflictError(f"{self.arm!r} is the last arm: add another before you retire it")
        return self.intended(study)


@operation(MANAGE)
class SetFloor(Change[None]):
    """Change the minimal probability of each arm: one number for all, or numbers by name. Null removes the floor."""

    floor: fields.FloorOfArms | None

    def check(self, study: Present) -> None:
        checked_floor(self.floor, study.journal.names)

    def intended(self, study: Present) -> Sequence[Event]:
        return [events.FloorSet(checked_floor(self.floor, study.journal.names))]

    def carry_out(self, study: Present) -> Iterable[Event]:
        floor = checked_floor(self.floor, study.journal.names)
        if floor == study.journal.floor:
            return []
        check_sum(floor, study.journal.active_names())
        return self.intended(study)
