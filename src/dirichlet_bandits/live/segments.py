"""The segments of a study: each has a journal of its own, in which its trials are numbered from 0."""

from bisect import bisect_right
from typing import TYPE_CHECKING

from dirichlet_bandits.live.event_notes import Asked, written_ask
from dirichlet_bandits.storage.events import ABANDON, ARM, CORRECT, FLOOR, LATE, RETIRE, TELL, VOID, Event

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

_OF_ALL = (ARM, RETIRE, FLOOR)
_OF_TRIALS = (TELL, ABANDON, VOID, CORRECT)


class Parts:
    """The journals of the segments that have trials, and the position of each trial of the study in them."""

    def __init__(self, whole: "Journal") -> None:
        self._whole = whole
        self.journals: dict[str, Journal] = {}
        self._ids: dict[str, list[int]] = {}  # trials of each segment, as the study numbers them
        self._place: dict[int, tuple[str, int]] = {}

    def journal(self, segment: str) -> "Journal":
        """Return the journal of a segment; an empty one if it has no trial yet."""
        return self.journals.get(segment) or self._new()

    def _new(self) -> "Journal":
        whole = self._whole
        part = type(whole)(is_part=True)
        for arm, name in enumerate(whole.names):
            part.apply([Event(0, ARM, arm=arm, note=name)])
        part.active, part.floor, part.lateness = list(whole.active), whole.floor, whole.lateness
        part.siblings = lambda: [other for other in self.journals.values() if other is not part]
        return part

    def ask(self, event: Event, asked: Asked) -> int:
        """Apply an ask of a segment, and return the first trial of its round, as the study numbers it."""
        segment = str(asked.segment)
        part = self.journals.setdefault(segment, self.journal(segment))
        ids = self._ids.setdefault(segment, [])
        local = len(ids)
        ids.append(event.trial or 0)
        self._place[ids[-1]] = segment, local
        part.apply([event._replace(trial=local, note=written_ask(Asked(asked.rest)))])
        return ids[part.round_of[local]]

    def apply(self, event: Event) -> None:
        """Apply an event of one trial to its segment, or another event to all segments; asks go through :meth:`ask`."""
        if event.kind in _OF_ALL or (event.kind == LATE and event.trial is None):
            for part in self.journals.values():
                part.apply([event])
        elif event.kind == LATE:
            self._close(event)
        elif event.kind in _OF_TRIALS and event.trial in self._place:
            segment, local = self._place[event.trial]
            self.journals[segment].apply([event._replace(trial=local)])

    def _close(self, event: Event) -> None:
        """Close the windows up to a trial in all segments."""
        for segment, part in self.journals.items():
            local = bisect_right(self._ids[segment], event.trial or 0) - 1
            if local < 0:
                continue
            if self._ids[segment][local] == event.trial:
                part.apply([event._replace(trial=local)])
            else:
                part.close_windows(local)
