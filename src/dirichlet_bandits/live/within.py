"""A log as a policy with bounds of its own would have had it."""

from collections.abc import Iterator, Sequence

from dirichlet_bandits.storage.events import CORRECT, NOTE, TELL, VOID, Event


def within(events: Sequence[Event], lower: float, upper: float) -> Iterator[Event]:
    """The events, without rewards outside of the bounds: mistakes, to be taken back or corrected later on.

    Whoever has these bounds would have refused them. So a trial waits until its reward is corrected, and a correction
    that goes astray takes the reward back.
    """
    waiting: set[int | None] = set()  # trials whose reward was refused
    voided: set[int | None] = set()  # trials without a reward that counts, after they had one
    for event in events:
        kind, trial = event.kind, event.trial
        good = event.value is None or lower <= event.value <= upper
        if kind == TELL and not good:
            waiting.add(trial)
            kind = NOTE
        elif kind == CORRECT and trial in waiting:
            kind = TELL if good else NOTE
            waiting -= {trial} if good else set()
        elif kind == CORRECT and good:
            voided.discard(trial)
        elif kind == CORRECT or (kind == VOID and trial not in waiting):
            kind = NOTE if trial in voided else VOID
            voided.add(trial)
        elif kind == VOID:
            kind = NOTE
        yield event if kind == event.kind else event._replace(kind=kind, note="{}" if kind == NOTE else None)
