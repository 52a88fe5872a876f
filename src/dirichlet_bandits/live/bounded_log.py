"""A study's events as a policy with other reward bounds would have recorded them."""

from collections.abc import Iterator, Sequence

from dirichlet_bandits.storage.events import CORRECT, LATE, NOTE, TELL, VOID, Event


def events_within_bounds(events: Sequence[Event], lower: float, upper: float) -> Iterator[Event]:
    """Yield the events without rewards outside of the bounds, mistakes that are voided or corrected later.

    A policy with these bounds would have refused such a reward. So its trial waits until the reward is corrected, and a
    correction to a value outside of the bounds voids the reward.
    """
    waiting: set[int | None] = set()  # trials whose reward was refused
    voided: set[int | None] = set()  # trials without a reward that counts, after they had one
    for event in events:
        kind, trial = event.kind, event.trial
        good = event.value is None or lower <= event.value <= upper
        if kind == TELL and not good:
            waiting.add(trial)
            kind = NOTE
        elif kind == LATE and trial in waiting:
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
