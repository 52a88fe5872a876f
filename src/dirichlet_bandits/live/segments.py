"""The segments of a study: each has a journal of its own, in which its trials are numbered from 0."""

from bisect import bisect_right
from typing import TYPE_CHECKING

from dirichlet_bandits.live.event_notes import Asked, written_ask
from dirichlet_bandits.storage.events import ARM, FACTS, REOPEN, Concerns, Row

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal


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
            part.apply([Row(0, ARM, arm=arm, note=name)])
        part.active, part.floor, part.lateness = list(whole.active), whole.floor, whole.lateness
        part.siblings = lambda: [other for other in self.journals.values() if other is not part]
        return part

    def ask(self, event: Row, asked: Asked, counts: bool) -> int:
        """Apply an ask of a segment, and return the first trial of its round, as the study numbers it."""
        segment = str(asked.segment)
        part = self.journals.setdefault(segment, self.journal(segment))
        ids = self._ids.setdefault(segment, [])
        local = len(ids)
        ids.append(event.trial or 0)
        self._place[ids[-1]] = segment, local
        part.apply([event._replace(trial=local, note=written_ask(Asked(asked.rest)))])
        if not counts:
            part.repeats.add(local)
            part.n_pending[part.arm_of[local]] -= 1
        return ids[part.round_of[local]]

    def apply(self, event: Row) -> None:
        """Apply an event to the segments that it concerns; asks go through :meth:`ask`."""
        concerns = FACTS[event.kind].concerns
        if concerns is Concerns.TRIAL:
            if event.trial in self._place and not (event.kind == REOPEN and self._whole.as_before):
                segment, local = self._place[event.trial]
                self.journals[segment].apply([event._replace(trial=local)])
        elif concerns is Concerns.TRIALS_SO_FAR and event.trial is not None:
            self._close(event)
        elif concerns not in (Concerns.NEW_TRIAL, Concerns.NOTHING):
            for part in self.journals.values():
                part.apply([event])

    def _close(self, event: Row) -> None:
        """Close the windows up to a trial in all segments."""
        for segment, part in self.journals.items():
            local = bisect_right(self._ids[segment], event.trial or 0) - 1
            if local < 0:
                continue
            if self._ids[segment][local] == event.trial:
                part.apply([event._replace(trial=local)])
            else:
                part.close_windows(local)
