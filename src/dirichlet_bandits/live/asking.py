"""The asks of a study: the next arm of a round, of a segment, or of a returning unit."""

from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live.decider import VERSION
from dirichlet_bandits.live.events import Asked
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.study_state import StudyState


def next_ask(state: StudyState, segment: str | None, unit: str | None) -> Asked:
    """Return the ask that assigns a unit's arm, the next arm of the round, or the first arm of a new round.

    A unit whose arm was retired gets the first arm of a round of its own, so that the others keep theirs.
    """
    journal = state.journal
    trial = len(journal.arm_of)
    known = journal.records.unit(unit)
    before = None if known is None else known.first
    if before is not None:
        first = journal.records.trial(before)
        if journal.active[first.arm]:
            return Asked(trial, first.arm, first.propensity, unit=unit, first=before)
        segment = first.segment
    part = journal.of(segment)
    if part.rest and before is None:
        return Asked(trial, *part.rest[0], segment=segment, unit=unit)
    arms, chances = state.decider.of(segment).decide(part, trial)
    (arm, chance), *rest = [(arm, float(chances[arm])) for arm in arms]
    every = chances.astype("<f8").tobytes()
    return Asked(trial, arm, chance, every, rest if before is None else None, segment, unit, before, VERSION)


def trials_of(journal: Journal, token: str | None) -> list[int]:
    """Return the trials that were asked for, or added, with a token."""
    call = journal.records.token(token)
    if call is not None and call.number is not None:
        raise ConflictError(f"token {token!r} was used for another call")
    return [] if call is None else list(call.trials)


def check_asked_alike(journal: Journal, trial: int, token: str | None, segment: str | None, unit: str | None) -> None:
    """Refuse a token that was used for an ask of another segment or unit."""
    there = journal.records.trial(trial)
    if there.unit != unit or (unit is None and there.segment != segment):
        raise ConflictError(f"token {token!r} has asked for another segment or unit")


def waiting_for(journal: Journal, unit: str | None) -> list[int]:
    """Return the pending trial of a unit, if there is one and its arm may still be assigned."""
    known = journal.records.unit(unit)
    if known is None or known.last not in journal.pending or not journal.active[journal.arm_of[known.last]]:
        return []
    return [known.last]


def checked_segment(segment: str | None, segments: tuple[str, ...]) -> str | None:
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
