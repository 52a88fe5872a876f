"""A call that changes a study, made once however often it is sent: its token is stored with what it did."""

import json
from collections.abc import Callable
from typing import Any

from dirichlet_bandits.errors import ConflictError
from dirichlet_bandits.live.following import Readable, StudyState, new_event
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import DONE, Event

Step = tuple[int, int | None, int | None, float | None, str | None]
"""Something that a call is to do: kind, trial, arm, value and note of the event for it."""


def step(
    kind: int, trial: int | None = None, arm: int | None = None, value: float | None = None, note: str | None = None
) -> Step:
    """A step, with the fields that it has."""
    return kind, trial, arm, value, note


class Change:
    """A call in its transaction. It says with :meth:`is_new` what it is to do, then adds the events that are news."""

    def __init__(self, state: StudyState, draft: Callable[[Event], None], events: Readable, token: str | None) -> None:
        self.journal = state.journal
        self._draft, self._events, self._token = draft, events, token
        self._call: list[Step] | None = None
        self._added: list[Step] = []

    def is_new(self, *call: Step) -> bool:
        """Whether the call was not made before, by its token; a token of another call is refused.

        What others have done since then stands: a call that was made before is not made again.
        """
        if self._token is None:
            return True
        if self._token in self.journal.trials_of:
            raise ConflictError(f"token {self._token!r} has asked for, or added, trials")
        first = self.journal.number_of.get(self._token)
        if first is None:
            self._call = list(call)
            return True
        if self._recorded(first) != list(call):
            raise ConflictError(f"token {self._token!r} was used for another call")
        return False

    def add(self, *does: Step) -> None:
        """Draft the events of some steps."""
        for kind, trial, arm, value, note in does:
            self._added.append((kind, trial, arm, value, note))
            self._draft(new_event(self.journal, kind, trial=trial, arm=arm, value=value, note=note, token=self._token))

    def end(self) -> None:
        """Where the events do not show the call, because some of it was no news, write it down."""
        if self._call is not None and self._added != self._call:
            self._draft(new_event(self.journal, DONE, note=json.dumps(self._call), token=self._token))

    @intact("the study")
    def _recorded(self, first: int) -> list[Step]:
        """The call that was made with this token, from its events; ``first`` is the number of the first one."""
        steps: list[Step] = []
        for _, kind, trial, arm, value, _, _, note, token, _ in self._events.read(first - 1):
            if token != self._token:
                break
            if kind == DONE:
                call: list[list[Any]] = json.loads(note or "[]")
                return [step(*one) for one in call]
            steps.append((kind, trial, arm, value, note))
        return steps
