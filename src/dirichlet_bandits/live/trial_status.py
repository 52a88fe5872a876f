"""Which trials take a reward, or another one, and why the others do not."""

from dirichlet_bandits.errors import ConflictError, NotFoundError
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.lateness import shown
from dirichlet_bandits.live.records import ABANDONED, HELD, PENDING, REPEATED, TOLD, VOIDED, TrialRecord


def status_of(study: str, journal: Journal, trial: int) -> str:
    """Return the status of a trial of the study with this name; refuse a trial that does not exist."""
    return record_of(study, journal, trial).status


def record_of(study: str, journal: Journal, trial: int) -> TrialRecord:
    """Return what is known of a trial of the study with this name; refuse a trial that does not exist."""
    if trial >= len(journal.arm_of):
        raise NotFoundError(f"no trial {trial} in the study {study!r} (trials so far: {len(journal.arm_of)})")
    return journal.records.trial(trial)


def revisable(study: str, journal: Journal, trial: int) -> str:
    """Return the status of a trial that has, or had, a reward; refuse any other trial."""
    status = status_of(study, journal, trial)
    if status == PENDING:
        raise ConflictError(f"trial {trial} has no reward yet: tell or abandon it")
    if status == ABANDONED:
        raise ConflictError(f"trial {trial} {_why_abandoned(journal, trial)}: it has no reward")
    return status


def takes_reward(study: str, journal: Journal, trial: int, value: float) -> bool:
    """Whether a trial takes this reward, False if it has it; refuse a trial that takes none or has another one."""
    record = record_of(study, journal, trial)
    status = record.status
    if status == ABANDONED:
        raise ConflictError(f"trial {trial} {_why_abandoned(journal, trial)}: it takes no reward")
    if status == VOIDED:
        raise ConflictError(f"trial {trial} was voided: correct it to give it a new reward")
    if status in (TOLD, HELD, REPEATED) and record.reward != value:
        if record.late and not record.revisions:
            counted = f"so its reward is {record.reward!r} (now {value!r})"
            advice = "if a reward came before then, correct the trial"
            raise ConflictError(f"trial {trial} {_closed(journal)}, {counted}: {advice}")
        done = "corrected to" if record.revisions else "given"
        raise ConflictError(f"trial {trial} was {done} {record.reward!r} (now {value!r})")
    return status == PENDING


def _closed(journal: Journal) -> str:
    return f"is late: its window of {'?' if journal.lateness is None else shown(journal.lateness.window)} has closed"


def _why_abandoned(journal: Journal, trial: int) -> str:
    return f"{_closed(journal)}, which abandoned it" if journal.records.trial(trial).late else "was abandoned"
