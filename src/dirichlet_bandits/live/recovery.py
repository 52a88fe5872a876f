"""Recover what can be read of a study with missing events: enough to export it, but not to continue it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.live.event import Event, NewTrial, OfTrial
from dirichlet_bandits.live.events import ArmAdded, Asked, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Row


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
        return Recovered(events, range(sum(isinstance(event_of(row), NewTrial) for row in events)))
    whole: list[Row] = []
    journal = Journal()
    trials: dict[int, int] = {}
    expected, torn = 0, False
    sound: set[str | None] = set()  # segments whose rounds are whole since the last gap

    def add(event: Event, row: Row) -> None:
        whole.append(event.row(len(whole), row.at, row.token, row.actor))
        journal.apply(whole[-1:])

    for row in events:
        if row.number != expected:
            torn = True
            sound.clear()
        expected = row.number + 1
        event = event_of(row)
        if isinstance(event, OfTrial) and not isinstance(event, NewTrial):
            if event.trial in trials:
                event.trial = trials[event.trial]
                for fitting in event.recovered(journal.records.trial(event.trial)):
                    add(fitting, row)
            continue
        if not event.recoverable:
            continue
        while row.arm is not None and len(journal.names) < row.arm + (not isinstance(event, ArmAdded)):
            add(ArmAdded(len(journal.names), f"arm {len(journal.names)}, whose name is missing"), row)
        if isinstance(event, Asked):
            lost = event.first is not None and event.first not in trials
            if event.first is not None and not lost:
                event.first = trials[event.first]
            elif lost or (torn and event.segment not in sound):
                add(ArmAdded(event.arm, None), row)  # ends the round of which the rest is missing, and those of others
                sound = {event.segment}
                event.first = None
                if event.propensities is None:
                    event.propensities = np.full(len(journal.names), np.nan).tobytes()
                    sound.clear()
        if isinstance(event, NewTrial):
            trials[event.trial] = len(trials)
            event.trial = len(trials) - 1
        add(event, row)
    return Recovered(whole, list(trials))
