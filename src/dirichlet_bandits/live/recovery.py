"""Recover what can be read of a study with missing events: enough to export it, but not to continue it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.live.event_notes import NOTHING, Asked, read_ask, written_ask
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import (
    ABANDON,
    ARM,
    ASK,
    CORRECT,
    FLOOR,
    LATE,
    NOTE,
    PAST,
    REOPEN,
    TELL,
    VOID,
    Event,
)


class Recovered(NamedTuple):
    """Consecutive events, and the ids that the study gave to their trials 0, 1, 2, ..."""

    events: Sequence[Event]
    ids: Sequence[int]


@intact("the study")
def recover(events: Sequence[Event]) -> Recovered:
    """Renumber events and trials, leaving out what was reported about missing trials.

    If the event of a reward is missing, a trial that was voided counts as abandoned, and one that was corrected as
    told at that time. Placeholders replace missing arms. If the beginning of a round is missing, its propensities are
    NaN.
    """
    if not events or events[-1].number + 1 == len(events):
        return Recovered(events, range(sum(event.kind in (ASK, PAST) for event in events)))
    whole: list[Event] = []
    trials: dict[int | None, int] = {}
    told: set[int | None] = set()
    n_arms, expected, torn = 0, 0, False
    sound: set[str | None] = set()  # segments whose rounds are whole since the last gap

    def add(event: Event) -> None:
        whole.append(event._replace(number=len(whole)))

    for event in events:
        if event.number != expected:
            torn = True
            sound.clear()
        expected = event.number + 1
        if event.kind in (TELL, ABANDON, REOPEN, VOID, CORRECT, NOTE) and event.trial not in trials:
            continue
        if event.kind == FLOOR:  # what was decided with it is recorded; its arms may be missing
            continue
        if event.kind == LATE and event.trial is not None and event.trial not in trials:
            continue
        if event.kind in (VOID, CORRECT) and event.trial not in told:
            event = event._replace(kind=ABANDON if event.kind == VOID else TELL, note=None)
        if event.kind in (TELL, PAST) or (event.kind == LATE and event.value is not None):
            told.add(event.trial)
        while event.arm is not None and n_arms < event.arm + (event.kind != ARM):
            add(Event(0, ARM, arm=n_arms, note=f"arm {n_arms}, whose name is missing"))
            n_arms += 1
        n_arms += event.kind == ARM and event.arm == n_arms
        asked = read_ask(event.note) if event.kind == ASK else NOTHING
        lost = asked.first is not None and asked.first not in trials
        if asked.first is not None and not lost:
            event = event._replace(note=written_ask(asked._replace(first=trials[asked.first])))
        elif lost or (event.kind == ASK and torn and asked.segment not in sound):
            add(Event(0, ARM, arm=event.arm))  # ends the round of which the rest is missing, and those of all segments
            sound = {asked.segment}
            if event.data is None:
                note = written_ask(Asked([], asked.segment, asked.unit))
                event = event._replace(data=np.full(n_arms, np.nan).tobytes(), note=note)
                sound.clear()
        if event.kind in (ASK, PAST):
            trials[event.trial] = len(trials)
        add(event._replace(trial=trials.get(event.trial)))
    return Recovered(whole, [id for id in trials if id is not None])
