"""A call that changes a study exactly once, however often it is sent: its token is stored with the change."""

from collections.abc import Callable

from dirichlet_bandits.errors import ConflictError
from dirichlet_bandits.live.event import Event, Step
from dirichlet_bandits.live.events import CallRecorded, event_of, named_step
from dirichlet_bandits.live.study_state import Readable, StudyState, new_row
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Row, Storage


def renaming(name: str) -> Step:
    """Return the step that records a call which renames a study."""
    return named_step(f"rename {name}")


def renamed_before(storage: Storage, identity: str, new: str, token: str | None) -> str | None:
    """Return the name that a study has now, if a call with this token has renamed it to ``new``, perhaps long ago."""
    now = None if token is None else storage.named(identity, new)
    events = [] if now is None else storage.read(now)
    made = [event_of(row) for row in events if row[8] == token]
    return now if made == [CallRecorded([renaming(new)])] else None


class Change:
    """A call in its transaction. It checks with :meth:`is_new` whether to act, and then adds the new events."""

    def __init__(self, state: StudyState, draft: Callable[[Row], None], events: Readable, token: str | None) -> None:
        self.journal = state.journal
        self._draft, self._events, self._token = draft, events, token
        self._call: list[Step] | None = None
        self._added: list[Step] = []

    def is_new(self, *call: Event | Step) -> bool:
        """Whether no earlier call had this token; a token of a different call is refused.

        A call that was made before is not repeated, so later changes by others stay in place.
        """
        if self._token is None:
            return True
        known = self.journal.records.token(self._token)
        steps = [one.step() if isinstance(one, Event) else one for one in call]
        if known is None:
            self._call = steps
            return True
        if known.number is None:
            raise ConflictError(f"token {self._token!r} has asked for, or added, trials")
        if self._recorded(known.number) != steps:
            raise ConflictError(f"token {self._token!r} was used for another call")
        return False

    def add(self, *events: Event) -> None:
        """Draft events."""
        for event in events:
            if self._token is not None:
                self._added.append(event.step())
            self._draft(new_row(self.journal, event, self._token))

    def end(self) -> None:
        """Record the call itself if its events do not show it, because part of it was already done."""
        if self._call is not None and self._added != self._call:
            self._draft(new_row(self.journal, CallRecorded(self._call), self._token))

    @intact("the study")
    def _recorded(self, first: int) -> list[Step]:
        """Return the call that was made with this token, from its events; ``first`` is the number of the first one."""
        steps: list[Step] = []
        for row in self._events.read(first - 1):
            if row[8] != self._token:
                break
            event = event_of(row)
            if isinstance(event, CallRecorded):
                return event.steps
            steps.append(event.step())
        return steps
