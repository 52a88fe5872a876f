"""What a process knows of a study: derived from its events, following what others add, changed by transactions only."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dirichlet_bandits.errors import ConflictError, FormatError, NotFoundError
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import described
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.undisturbed import undisturbed
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Event, Storage
from dirichlet_bandits.storage.forks import fresh_lock_in_children

T = TypeVar("T")


class Known(NamedTuple):
    """What was derived from the events so far."""

    journal: Journal
    decider: Decider


def new_event(journal: Journal, kind: int, **fields: Any) -> Event:
    """The event that comes next, now."""
    return Event(journal.last + 1, kind, at=time.time(), **fields)


class Following:
    """A study as its storage has it; threads may share it."""

    def __init__(self, storage: Storage, name: str, policy: Policy, seed: int, direction: str) -> None:
        self.storage = storage
        self.name = name
        self.policy = policy
        self.seed = seed
        self.direction = direction
        self._direction = direction_for(policy, direction)
        self._known: Known | None = None
        self._lock = threading.RLock()
        fresh_lock_in_children(self)

    def _read(self) -> Journal:
        """The journal with what others have added."""
        with self._lock:
            return self._look().journal

    def _look(self) -> Known:
        """What is known, with what others have added."""
        if self._known is None:
            self._check_settings()
        return self._follow(partial(self.storage.read, self.name))

    def _events(self) -> Sequence[Event]:
        return self.storage.read(self.name, data=True)

    # While ``_known`` is changed it is nobody's: whatever is raised meanwhile, by a signal handler for one, leaves
    # None behind, and the next call derives all of it again.

    def _follow(self, read: Callable[[int], Sequence[Event]]) -> Known:
        """What is known, with what others have added; all of it anew if the storage went back in time."""
        known = self._known or self._nothing()
        events = read(max(known.journal.last - 1, -1))
        if known.journal.tail:
            if events and known.journal.ends_with(events[0]):
                events = events[1:]
            else:  # a backup was restored, or a server lost its last commits
                self._check_settings()
                known = self._nothing()
                events = read(-1)
        if events:
            self._known = None
            known.journal.apply(events)
        if not known.journal.names:
            raise FormatError(f"the study {self.name!r} has no arms: the storage is damaged")
        self._known = known
        return known

    def _nothing(self) -> Known:
        return Known(Journal(), Decider(self.policy, self.seed, self._direction))

    def _check_settings(self) -> None:
        """Is the stored study of this name still this one?"""
        stored = self.storage.settings(self.name)
        if stored is None:
            raise NotFoundError(f"no study {self.name!r} any more")
        with intact(f"the study {self.name!r}"):
            there = stored["policy"], stored["seed"], stored.get("direction", MAXIMIZE)
        if there != (described(self.policy), str(self.seed), self.direction):
            raise ConflictError(f"the study {self.name!r} was replaced by another one of this name: load it again")

    def _derive(self, work: Callable[[], T]) -> T:
        """The answer of work on what is known, which is to be put back when all went well."""
        self._known = None
        return undisturbed(work)

    @contextmanager
    def _writing(self) -> Iterator[tuple[Known, Callable[[Event], None]]]:
        """Take the study, take note of what others did; drafted events are stored at the end, all or none."""
        drafted: list[Event] = []
        over = False
        with self._lock:
            if self._known is None:  # before the study is taken: that needs a connection of its own
                self._check_settings()
            try:
                with self.storage.transaction(self.name) as transaction:
                    known = self._follow(transaction.read)

                    def draft(event: Event) -> None:
                        if over:
                            raise RuntimeError("nobody waits for this event any more")
                        self._known = None
                        drafted.append(event)
                        known.journal.apply([event])

                    yield known, draft
                    transaction.append(drafted)
            finally:
                over = True
            self._known = known
