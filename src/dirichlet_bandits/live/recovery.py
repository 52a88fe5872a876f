"""Recover what can be read of a study with missing events: enough to export it, but not to continue it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.live.event_notes import NOTHING, read_ask, written_ask
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.journal_fields import ABANDONED, PENDING, VOIDED
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import (
    ABANDON,
    ARM,
    ASK,
    CORRECT,
    FACTS,
    NOTE,
    REOPEN,
    TELL,
    VOID,
    Concerns,
    Row,
)


class Recovered(NamedTuple):
    """Consecutive events, and the ids that the study gave to their trials 0, 1, 2, ..."""

    events: Sequence[Row]
    ids: Sequence[int]


@intact("the study")
def recover(events: Sequence[Row]) -> Recovered:
    """Renumber events and trials, leaving out what was reported about missing trials.

    If the event of a reward is missing, a trial that was voided counts as abandoned, and one that was corrected as
    told at that time. Placeholders replace missing arms. If the beginning of a round is missing, its propensities are
    NaN.
    """
    if not events or events[-1].number + 1 == len(events):
        return Recovered(events, range(sum(FACTS[event.kind].concerns is Concerns.NEW_TRIAL for event in events)))
    whole: list[Row] = []
    journal = Journal()
    trials: dict[int | None, int] = {}
    expected, torn = 0, False
    sound: set[str | None] = set()  # segments whose rounds are whole since the last gap

    def add(event: Row) -> None:
        whole.append(event._replace(number=len(whole)))
        journal.apply(whole[-1:])

    for event in events:
        if event.number != expected:
            torn = True
            sound.clear()
        expected = event.number + 1
        concerns = FACTS[event.kind].concerns
        if concerns is not Concerns.NEW_TRIAL and event.trial is not None and event.trial not in trials:
            continue
        if concerns is Concerns.SETTINGS:  # what was decided with them is recorded; arms with a floor may be missing
            continue
        if concerns is Concerns.TRIAL:
            for fitting in _fitting(event._replace(trial=trials[event.trial]), journal):
                add(fitting)
            continue
        while event.arm is not None and len(journal.names) < event.arm + (event.kind != ARM):
            add(Row(0, ARM, arm=len(journal.names), note=f"arm {len(journal.names)}, whose name is missing"))
        asked = read_ask(event.note) if event.kind == ASK else NOTHING
        lost = asked.first is not None and asked.first not in trials
        if asked.first is not None and not lost:
            event = event._replace(note=written_ask(asked._replace(first=trials[asked.first])))
        elif lost or (event.kind == ASK and torn and asked.segment not in sound):
            add(Row(0, ARM, arm=event.arm))  # ends the round of which the rest is missing, and those of all segments
            sound = {asked.segment}
            event = event._replace(note=written_ask(asked._replace(first=None)))
            if event.data is None:
                event = event._replace(data=np.full(len(journal.names), np.nan).tobytes())
                sound.clear()
        if concerns is Concerns.NEW_TRIAL:
            trials[event.trial] = len(trials)
        add(event._replace(trial=trials.get(event.trial)))
    return Recovered(whole, [id for id in trials if id is not None])


def _fitting(event: Row, journal: Journal) -> list[Row]:
    """Return what this event of a trial amounts to if events before it are missing."""
    trial = event.trial or 0
    status, kind = journal.status(trial), event.kind
    if kind == NOTE or (kind == REOPEN and status == ABANDONED and trial not in journal.late):
        return [event]
    if kind in (VOID, CORRECT) and status not in (PENDING, ABANDONED):
        return [event] if (kind, status) != (VOID, VOIDED) else []
    if kind == REOPEN or trial in journal.late:
        return []
    fitting = event if kind in (TELL, ABANDON) else event._replace(kind=ABANDON if kind == VOID else TELL, note=None)
    if status == PENDING:
        return [fitting]
    reopened = Row(0, REOPEN, trial=trial, at=event.at)
    return [reopened, fitting] if status == ABANDONED and fitting.kind == TELL else []
