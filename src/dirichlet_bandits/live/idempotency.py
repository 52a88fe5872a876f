"""A call that changes a study exactly once, however often it is sent: its token is stored with the change."""

import json
from collections.abc import Callable
from typing import Any

from dirichlet_bandits.errors import ConflictError
from dirichlet_bandits.live.study_state import Readable, StudyState, new_event
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import DONE, Row, Storage

Step = tuple[int, int | None, int | None, float | None, str | None]
"""Something that a call is to do: kind, trial, arm, value and note of the event for it."""


def step(
    kind: int, trial: int | None = None, arm: int | None = None, value: float | None = None, note: str | None = None
) -> Step:
    """Return a step with the given fields."""
    return kind, trial, arm, value, note


def renaming(name: str) -> Step:
    """Return the step that records a call which renames a study."""
    return step(DONE, note=f"rename {name}")


def renamed_before(storage: Storage, identity: str, new: str, token: str | None) -> str | None:
    """Return the name that a study has now, if a call with this token has renamed it to ``new``, perhaps long ago."""
    now = None if token is None else storage.named(identity, new)
    events = [] if now is None else storage.read(now)
    made = [(kind, note) for _, kind, *_, note, its, _, _ in events if its == token]
    return now if made == [(DONE, json.dumps([renaming(new)]))] else None


class Change:
    """A call in its transaction. It checks with :meth:`is_new` whether to act, and then adds the new events."""

    def __init__(self, state: StudyState, draft: Callable[[Row], None], events: Readable, token: str | None) -> None:
        self.journal = state.journal
        self._draft, self._events, self._token = draft, events, token
        self._call: list[Step] | None = None
        self._added: list[Step] = []

    def is_new(self, *call: Step) -> bool:
        """Whether no earlier call had this token; a token of a different call is refused.

        A call that was made before is not repeated, so later changes by others stay in place.
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
        """Draft the events of the given steps."""
        for kind, trial, arm, value, note in does:
            self._added.append((kind, trial, arm, value, note))
            self._draft(new_event(self.journal, kind, trial=trial, arm=arm, value=value, note=note, token=self._token))

    def end(self) -> None:
        """Record the call itself if its events do not show it, because part of it was already done."""
        if self._call is not None and self._added != self._call:
            self._draft(new_event(self.journal, DONE, note=json.dumps(self._call), token=self._token))

    @intact("the study")
    def _recorded(self, first: int) -> list[Step]:
        """Return the call that was made with this token, from its events; ``first`` is the number of the first one."""
        steps: list[Step] = []
        for _, kind, trial, arm, value, _, _, note, token, _, _ in self._events.read(first - 1):
            if token != self._token:
                break
            if kind == DONE:
                call: list[list[Any]] = json.loads(note or "[]")
                return [step(*one) for one in call]
            steps.append((kind, trial, arm, value, note))
        return steps
