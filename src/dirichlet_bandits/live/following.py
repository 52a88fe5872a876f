"""What a process knows of a study: derived from its events, following what others add, changed by transactions only."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from dirichlet_bandits.errors import FormatError, NotFoundError, ReplacedError
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import is_described
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.naming import Named
from dirichlet_bandits.live.undisturbed import undisturbed
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Event, Settings, Storage, Transaction
from dirichlet_bandits.storage.forks import fresh_lock_in_children

T = TypeVar("T")


class Known(NamedTuple):
    """What was derived from the events so far."""

    journal: Journal
    decider: Decider


def new_event(journal: Journal, kind: int, **fields: Any) -> Event:
    """The event that comes next, now."""
    return Event(journal.last + 1, kind, at=time.time(), **fields)


class Following(Named):
    """A study as its storage has it; threads may share it."""

    def __init__(
        self,
        storage: Storage,
        name: str,
        policy: Policy,
        seed: int,
        *,
        direction: str = MAXIMIZE,
        control: str | None = None,
        identity: str = "",
    ) -> None:
        super().__init__(name, identity)
        self.storage = storage
        self.policy = policy
        self.seed = seed
        self.direction = direction
        self.control = control
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
        name = self.name
        return self._follow(partial(self.storage.read, name), partial(self.storage.settings, name))

    def _events(self) -> Sequence[Event]:
        name = self.name
        events = self.storage.read(name, data=True)
        self._check_settings(self.storage.settings(name))
        return events

    # While ``_known`` is changed it is nobody's: whatever is raised meanwhile, by a signal handler for one, leaves
    # None behind, and the next call derives all of it again.

    def _follow(self, read: Callable[[int], Sequence[Event]], settings: Callable[[], Settings | None]) -> Known:
        """What is known, with what others have added; all of it again if the storage went back in time."""
        known = self._known or self._nothing()
        events = read(max(known.journal.last - 1, -1))
        if known.journal.tail and events and known.journal.ends_with(events[0]):
            events = events[1:]
        else:
            if known.journal.tail:  # a backup was restored, a server lost its last commits, or it is another study
                known = self._nothing()
                events = read(-1)
            self._check_settings(settings())  # after the events: an identity that is gone does not come back
        if events:
            self._known = None
            known.journal.apply(events)
        if not known.journal.names:
            raise FormatError(f"the study {self.name!r} has no arms: the storage is damaged")
        self._known = known
        return known

    def _nothing(self) -> Known:
        return Known(Journal(), Decider(self.policy, self.seed, self._direction))

    def _check_settings(self, stored: Settings | None) -> None:
        """Is the stored study of this name still this one?"""
        if stored is None:
            raise NotFoundError(f"no study {self.name!r} any more")
        if not is_stored_as(self, stored):
            raise ReplacedError(
                f"the study {self.name!r} was replaced by another one of this name: load it again", self.name
            )

    def _has_name(self, name: str) -> bool:
        stored = self.storage.settings(name)
        return stored is not None and is_stored_as(self, stored)

    def _derive(self, work: Callable[[], T]) -> T:
        """The answer of work on what is known, which is to be put back when all went well."""
        self._known = None
        return undisturbed(work)

    @contextmanager
    def _writing(self) -> Iterator[tuple[Known, Callable[[Event], None], Transaction]]:
        """Take the study, take note of what others did; drafted events are stored at the end, all or none."""
        drafted: list[Event] = []
        over = False
        with self._lock:
            try:
                with self.storage.transaction(self.name) as transaction:
                    known = self._follow(transaction.read, transaction.settings)

                    def draft(event: Event) -> None:
                        if over:
                            raise RuntimeError("nobody waits for this event any more")
                        self._known = None
                        drafted.append(event)
                        known.journal.apply([event])

                    yield known, draft, transaction
                    transaction.append(drafted)
            finally:
                over = True
            self._known = known


def is_stored_as(study: Following, stored: Settings) -> bool:
    """Whether these are the settings of this very study; one without an identity is known by the rest."""
    with intact("the study"):
        there = stored.get("identity", ""), stored["seed"], stored.get("direction", MAXIMIZE), stored.get("control")
        here = study.identity, str(study.seed), study.direction, study.control
        return there == here and is_described(study.policy, stored["policy"])


def has_done(study: Following, token: str) -> bool:
    """Whether a call with this token has changed the study, or was no news to it."""
    return token in study._read().number_of
