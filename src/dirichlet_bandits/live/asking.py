"""The asks of a study: the next arm of a round, of a segment, or of a returning unit."""

import json

from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live.decider import VERSION
from dirichlet_bandits.live.event_notes import Asked, written_ask
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.study_state import StudyState, new_event
from dirichlet_bandits.storage.events import ASK, DONE, Row


def next_ask(state: StudyState, segment: str | None, unit: str | None, token: str | None) -> Row:
    """Return the ask that assigns a unit's arm, the next arm of the round, or the first arm of a new round.

    A unit whose arm was retired gets the first arm of a round of its own, so that the others keep theirs.
    """
    journal = state.journal
    trial = len(journal.arm_of)
    before = None if unit is None else journal.assigned_by.get(unit)
    if before is not None:
        if journal.active[journal.arm_of[before]]:
            note = written_ask(Asked([], None, unit, before))
            arm, chance = journal.arm_of[before], journal.propensity_of[before]
            return new_event(journal, ASK, trial=trial, arm=arm, value=chance, note=note, token=token)
        segment = journal.segment_of.get(before)
    part = journal.of(segment)
    if part.rest and before is None:
        arm, chance = part.rest[0]
        note = written_ask(Asked([], segment, unit))
        return new_event(journal, ASK, trial=trial, arm=arm, value=chance, note=note, token=token)
    arms, chances = state.decider.of(segment).decide(part, trial)
    (arm, chance), *rest = [(arm, float(chances[arm])) for arm in arms]
    note = written_ask(Asked(rest if before is None else [], segment, unit, before))
    how = {"data": chances.astype("<f8").tobytes(), "note": note, "token": token, "decider": VERSION}
    return new_event(journal, ASK, trial=trial, arm=arm, value=chance, **how)


def trials_of(journal: Journal, token: str | None) -> list[int]:
    """Return the trials that were asked for, or added, with a token."""
    if token in journal.number_of:
        raise ConflictError(f"token {token!r} was used for another call")
    return [] if token is None else journal.trials_of.get(token, [])


def check_asked_alike(journal: Journal, trial: int, token: str | None, segment: str | None, unit: str | None) -> None:
    """Refuse a token that was used for an ask of another segment or unit."""
    there = journal.unit_of.get(trial)
    if there != unit or (unit is None and journal.segment_of.get(trial) != segment):
        raise ConflictError(f"token {token!r} has asked for another segment or unit")


def waiting_for(journal: Journal, unit: str | None) -> list[int]:
    """Return the pending trial of a unit, if there is one and its arm may still be assigned."""
    last = -1 if unit is None else journal.last_of.get(unit, -1)
    return [last] if last in journal.pending and journal.active[journal.arm_of[last]] else []


def asked_again(journal: Journal, ids: list[int], token: str) -> Row:
    """Return the event that stores the token of an ask that was answered with an existing trial."""
    return new_event(journal, DONE, note=json.dumps({"asked": ids}), token=token)


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
