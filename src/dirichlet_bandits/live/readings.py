"""The operations that only read a study, each declared once: its fields and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple

from dirichlet_bandits.answers import written
from dirichlet_bandits.declared import Declared, choice, declared, integer, text
from dirichlet_bandits.environments import CVaR, Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference import off_policy_intervals
from dirichlet_bandits.inference.intervals import are_finite
from dirichlet_bandits.inference.off_policy import Estimate
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate, estimate_cvar
from dirichlet_bandits.inference.winner import DELTA, Winner
from dirichlet_bandits.live import export, fields
from dirichlet_bandits.live import summary as summaries
from dirichlet_bandits.live.asking import checked_segment
from dirichlet_bandits.live.direction import check_around, mirrored
from dirichlet_bandits.live.event import Event
from dirichlet_bandits.live.events import WinnerDeclared, event_of
from dirichlet_bandits.live.local import Local, local_of
from dirichlet_bandits.live.off_policy import chosen
from dirichlet_bandits.live.operation import READ, WRITE, Change, Present, Reading, operation
from dirichlet_bandits.live.records import Trial, trial_of
from dirichlet_bandits.live.replay import Replay, replay
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.live.winner import (
    ARMS,
    ROUNDS,
    LotteryEvidence,
    Question,
    check_question,
    claim_of,
    claimed,
    established,
    winner,
)
from dirichlet_bandits.storage.events import CREATED, AuditRecord, Row, intact

if TYPE_CHECKING:
    from dirichlet_bandits.display.summaries import Summary
    from dirichlet_bandits.live.journal import Journal
    from dirichlet_bandits.live.reading import ReadableStudy

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


CONFIDENCE: Final = 0.95
"""Of intervals, unless another one is given."""

_MOST_ANSWERS: Final = 100
_MOST_ROWS: Final = 10_000


class StudyInfo(NamedTuple):
    """A study: its settings, its active arms, and its present state. The seed is written as decimal digits."""

    name: str
    identity: str
    settings: StudySettings
    arms: list[str]
    retired: list[str]
    trials: int
    floor: float | dict[str, float]


@operation(READ, name="study")
class ReadStudy(Reading[StudyInfo]):
    """Return the settings of a study, its arms, and its number of trials."""

    def read(self, local: Local) -> StudyInfo:
        with local.lock:
            journal = local.journal()
            floor = dict(journal.floor) if isinstance(journal.floor, dict) else journal.floor
            active = journal.active_names()
            retired = [name for name in journal.names if name not in active]
            more = active, retired, len(journal.arm_of), floor
            return StudyInfo(local.name, local.identity, local.settings, *more)


@operation(READ, name="archived", key="archived")
class ReadArchived(Reading[bool]):
    """Return whether the study is archived: left out of the list of studies."""

    def read(self, local: Local) -> bool:
        name = local.name
        archived = name in local.storage.names(archived=True)
        local.check_settings(local.storage.settings(name))
        return archived


@operation(READ, name="pending", key="trials")
class ReadPending(Reading[list[Trial]]):
    """List the trials that are pending, oldest first."""

    def read(self, local: Local) -> list[Trial]:
        with local.lock:
            journal = local.journal()
            return [trial_of(journal, trial) for trial in journal.pending]


@operation(READ, name="propensities", key="propensities")
class ReadPropensities(Reading[dict[str, float]]):
    """Return the exact probability that each arm is in the next round, of a segment if the study has segments."""

    segment: fields.Segment | None = None

    def read(self, local: Local) -> dict[str, float]:
        checked_segment(self.segment, local.settings.segments)
        with local.deciding() as (journal, decider):
            chances = decider.of(self.segment).propensities(journal.of(self.segment))
            return dict(zip(journal.names, chances.tolist(), strict=True))


@operation(READ, name="summary")
class ReadSummary(Reading["Summary"]):
    """Return one row per arm: trials, mean and standard deviation of the rewards, and an interval for the mean.

    In the response, null means not known yet, or no bound where it is the end of an interval.
    """

    confidence: fields.Confidence = CONFIDENCE
    bounds: fields.Bounds | None = None
    segment: fields.Segment | None = None

    def read(self, local: Local) -> "Summary":
        if self.segment is not None:
            checked_segment(self.segment, local.settings.segments)
        with local.lock:
            return summaries.summary(self._summarized(local))

    def _summarized(self, local: Local) -> summaries.Summarized:
        settings, journal = local.settings, local.journal().of(self.segment)
        limits = _limits(local, self.bounds, self.segment)
        return summaries.Summarized(journal, settings.policy, self.confidence, settings.sign, settings.control, limits)

    @classmethod
    def answer_as_json(cls, answer: "Summary") -> dict[str, Any]:
        """Return the table as JSON, one object per arm, with what its numbers mean."""
        rows = [{"arm": str(arm), **row} for arm, row in answer.to_dict("index").items()]
        said: dict[str, Any] = written({"arms": rows, **answer.attrs})
        return said

    @classmethod
    def of_answer(cls, said: Mapping[str, Any]) -> "Summary":
        """Return the table in a response."""
        return summaries.summary_of_json(said)

    @classmethod
    def answer_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the table."""
        return summaries.JSON_SCHEMA


@operation(READ, name="best_arm", key="best_arm")
class ReadBestArm(Reading[str | None]):
    """Return the best active arm so far; null if no arm can be named yet."""

    def read(self, local: Local) -> str | None:
        with local.lock:
            return summaries.best(ReadSummary()._summarized(local)).arm


@declared
class OfWinner(Declared):
    """The question of a winner."""

    delta: fields.Delta = DELTA
    margin: fields.Margin = 0.0
    segment: fields.Segment | None = None
    over: Annotated[str, choice(ARMS, ROUNDS), "What is compared: arms, or their average over the rounds."] = ARMS

    @property
    def question(self) -> Question:
        """The question as the statistics have it."""
        return Question(self.delta, self.margin, self.segment, self.over)


@operation(READ, name="winner")
class ReadWinner(OfWinner, Reading[Winner]):
    """Return the winner, or what is missing to name one. Nothing is stored, so a new winner may be withdrawn.

    The probability of error is at most delta; `assumes` has what is assumed, such as that differences keep their sign.
    """

    def read(self, local: Local) -> Winner:
        with local.lock:
            return found_winner(local, self.question)


@operation(WRITE)
class DeclareWinner(OfWinner, Change[Winner]):
    """Name the winner, if the rewards establish one, and store it: it stays. Otherwise return what is missing.

    The probability of error is at most delta; `assumes` has what is assumed, such as that differences keep their sign.
    """

    has_token: ClassVar[bool] = False

    def perform(self, local: Local, token: str | None) -> Winner:
        """Look first, which takes one pass over all rewards at most; only a new winner is worth a change."""
        with local.lock:
            found = found_winner(local, self.question)
        return found if found.arm is None or found.established_at is not None else local.change(self, token)

    def intended(self, study: Present) -> Sequence[Event]:
        found = self.answer(study, [])
        if found.arm is None or found.established_at is not None:
            return []
        arm = study.journal.names.index(found.arm)
        asked = found.delta, found.margin, found.trials, found.proved
        return [WinnerDeclared(arm, *asked, self.segment, claim_of(found))]

    def answer(self, study: Present, made: Sequence[Event]) -> Winner:
        settings = study.settings
        return winner(study.journal, settings.policy, settings.limits, settings.direction, self.question)


def found_winner(local: Local, question: Question) -> Winner:
    """Return the winner as of the last event, for which each question is answered once.

    A dashboard asks every few seconds. Evidence is brought up to date; the intervals take passes over all rewards.
    """
    settings, journal = local.settings, local.journal()
    checked_segment(question.segment, settings.segments)
    check_question(settings.policy, settings.limits, question)
    if local.answered is None or local.answered[0] != journal.tail or len(local.answered[1]) >= _MOST_ANSWERS:
        local.answered = journal.tail, {}
    answers = local.answered[1]
    if question not in answers:
        given = settings.policy, settings.limits, settings.direction
        followed = local.followed.setdefault((question.segment, question.over), LotteryEvidence(*given, question.over))
        answers[question] = winner(journal, *given, question, followed)
    return answers[question]


def named_winner(study: "ReadableStudy", segment: str | None = None) -> tuple[str, int, str] | None:
    """Return the winner that was stored for the default question, after how many trials, and what it assumes."""
    journal = local_of(study).journal()
    found = established(journal, Question(segment=segment))
    return None if found is None else (journal.names[found.arm], found.trials, claimed(found).assumes)


class TrialPage(NamedTuple):
    """A page of the log; ``next`` is the ``first`` of the next page, None at the end."""

    trials: list[dict[str, Any]]
    next: int | None


@operation(READ, name="trials")
class ReadTrials(Reading[TrialPage]):
    """Return one page of the log; ``export`` returns all of it, with the propensities of all arms."""

    first: fields.TrialId = 0
    limit: Annotated[int, integer(1, _MOST_ROWS, example=1000)] = 1000

    def read(self, local: Local) -> TrialPage:
        with local.lock:
            frame = export.trials(local.journal())
        page = frame.iloc[self.first : self.first + self.limit]
        rows = page.astype(object).where(page.notna(), None).to_dict("index")
        last = self.first + len(rows)
        return TrialPage([{"id": id, **row} for id, row in rows.items()], last if last < len(frame) else None)


@operation(READ, name="events", key="events")
class ReadEvents(Reading[list[AuditEvent]]):
    """Return what happened in a study, or to one trial, newest first, and the name of the key that did it."""

    trial: fields.TrialId | None = None
    below: fields.TrialId | None = None
    limit: fields.EventLimit = 100

    def read(self, local: Local) -> list[AuditEvent]:
        with local.lock:
            found = local.storage.newest(local.name, self.limit, below=self.below, trial=self.trial)
            journal = local.journal()  # afterwards, so that it has all of these events
        return [audit_event(row, journal) for row in found]


@operation(READ, name="audit_log", key="audit_log")
class ReadAuditLog(Reading[list[AuditEntry]]):
    """Return what was done to the study as a whole, newest first."""

    def read(self, local: Local) -> list[AuditEntry]:
        return [audit_entry(entry) for entry in local.storage.audit_log(MOST_ENTRIES, local.name)]


@operation(READ, name="estimate")
class EstimateMean(Reading[Estimate]):
    """Estimate from the log what another choice of arms would have earned per trial."""

    choice: fields.ChoiceOfArms
    bounds: fields.Bounds | None = None
    confidence: fields.Confidence = CONFIDENCE

    def read(self, local: Local) -> Estimate:
        limits = _limits(local, self.bounds)
        log, wanted = chosen(local.rows(), self.choice, local.settings)
        return off_policy_intervals.estimate_mean(log, wanted, limits, self.confidence)


@operation(READ, name="estimate_cvar")
class EstimateCVaR(Reading[RiskEstimate]):
    """Estimate from the log the CVaR of another choice of arms: the average of its worst rewards."""

    choice: fields.ChoiceOfArms
    level: fields.Probability
    bounds: fields.Bounds | None = None
    confidence: fields.Confidence = CONFIDENCE

    def read(self, local: Local) -> RiskEstimate:
        limits, goal = _limits(local, self.bounds), CVaR(self.level)
        expected = (
            "two finite numbers between which all rewards lie, for the policy knows none: "
            "without them one reward that has not been seen yet could move a CVaR by any amount"
        )
        if not are_finite(limits):
            raise ArgumentError("bounds", expected, limits)
        log, wanted = chosen(local.rows(), self.choice, local.settings)
        turn = mirrored(local.settings.direction, *limits).turn  # large costs are bad
        found = estimate_cvar(log._replace(reward=turn(log.reward)), wanted, goal, limits, self.confidence)
        low, high = sorted((turn(found.low), turn(found.high)))
        return replace(found, value=turn(found.value), low=low, high=high)


def _limits(local: Local, bounds: tuple[float, float] | None, segment: str | None = None) -> tuple[float, float]:
    """Return the bounds of all rewards: those given, which must lie around all rewards so far, else the study's."""
    with local.lock:
        rewards = local.journal().of(segment).told.rewards
    if bounds is not None and rewards:
        check_around((min(rewards), max(rewards)), bounds, bounds)
    return bounds or local.settings.limits


def asked_cvar(objective: object) -> CVaR | None:
    """Return the CVaR that should be estimated; None for the mean.

    >>> asked_cvar(None), asked_cvar(CVaR(0.2))
    (None, CVaR(level=0.2))
    """
    if objective is None or isinstance(objective, Mean):
        return None
    if not isinstance(objective, CVaR):
        raise ArgumentError("objective", "Mean() or CVaR(level)", objective)
    return objective


@operation(READ)
class EstimateDifference(Reading[DifferenceEstimate]):
    """Estimate by how much the rewards of arm a exceed those of arm b, even if the arms change."""

    a: Annotated[fields.Arm, "Name of an arm."]
    b: Annotated[str, text(example="13 Mar"), "Name of the arm to compare it with."]
    bounds: fields.Bounds | None = None
    confidence: fields.Confidence = CONFIDENCE

    def read(self, local: Local) -> DifferenceEstimate:
        limits = _limits(local, self.bounds)
        if not are_finite(limits):
            expected = "two finite numbers between which all rewards lie: the study has none"
            raise ArgumentError("bounds", expected, limits)
        log = export.read_rounds(local.rows())[1]
        return off_policy_intervals.estimate_difference(log, self.a, self.b, limits, self.confidence)


@operation(READ, name="replay")
class RepeatDecisions(Reading[Replay]):
    """Repeat every decision from the stored events and compare it with what was recorded."""

    progress: ClassVar[Any] = None  # called with numbers of events; set on the object, and not sent to a service

    def read(self, local: Local) -> Replay:
        return replay(local.rows(), local.new_decider(), self.progress)

    @classmethod
    def answer_as_json(cls, answer: Replay) -> dict[str, Any]:
        """Return the outcome as JSON, and whether every decision was the same."""
        return {"same": answer.same, **super().answer_as_json(answer)}
