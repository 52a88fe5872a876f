"""The state of a study in one process: derived from its events, kept up to date, changed only in transactions."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import NamedTuple, Protocol

from dirichlet_bandits.errors import FormatError, NotFoundError, ReplacedError
from dirichlet_bandits.live import lateness
from dirichlet_bandits.live.bounds import Bounds, are_finite
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import is_described
from dirichlet_bandits.live.direction import MAXIMIZE, direction_for
from dirichlet_bandits.live.event import Event
from dirichlet_bandits.live.group_commit import MOST, Group
from dirichlet_bandits.live.interrupts import shielded
from dirichlet_bandits.live.journal import Journal, settled
from dirichlet_bandits.live.warm_start import Warm
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.actors import actor
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import Row, Settings, Storage, Transaction
from dirichlet_bandits.storage.forks import fresh_locks_in_children


class StudyState(NamedTuple):
    """What follows from the events so far: the journal, and the decider that has seen its rewards."""

    journal: Journal
    decider: Decider


class Readable(Protocol):
    """Anything that holds the events of a study that is being changed."""

    def read(self, after: int) -> Sequence[Row]:
        """Return the events with numbers above ``after``, including those drafted by other threads."""


def new_row(journal: Journal, event: Event, token: str | None) -> Row:
    """Return the row of the next event, with the present time and actor."""
    return event.row(journal.last + 1, lateness.clock(), token, actor())


class Named:
    """A handle on a study by its name; ``identity`` was drawn when the study was created, and no other study has it.

    An interrupt may come after a rename has been stored but before the handle has the new name. So ``_new_name`` is
    set first, and the next use of the name checks which one is right.
    """

    def __init__(self, name: str, identity: str) -> None:
        self._name = name
        self._new_name: str | None = None
        self.identity = identity

    def __bool__(self) -> bool:
        """Return True: a study is there, even without trials."""
        return True

    @property
    def name(self) -> str:
        """The name of the study."""
        new = self._new_name
        if new is not None:
            if not self._has_name(self._name) and self._has_name(new):
                self._name = new
            self._new_name = None
        return self._name

    def _renamed(self, name: str) -> None:
        self._name = name
        self._new_name = None

    def _has_name(self, name: str) -> bool:
        """Whether the study is stored under this name."""
        raise NotImplementedError


class Declared(NamedTuple):
    """What a study was created with and never changes, besides its policy."""

    seed: int
    direction: str = MAXIMIZE
    control: str | None = None
    reward_unit: str | None = None
    bounds: Bounds | None = None
    segments: Sequence[str] = ()
    warm: Warm | None = None
    borrow: float = 0.0
    identity: str = ""


class Following(Named):
    """A study as its storage has it; threads may share it."""

    def __init__(self, storage: Storage, name: str, policy: Policy, declared: Declared) -> None:
        super().__init__(name, declared.identity)
        self.storage = storage
        self.policy = policy
        self.seed = declared.seed
        self.direction = declared.direction
        self.control = declared.control
        self.reward_unit = declared.reward_unit
        self._declared = declared.bounds
        self.segments = tuple(declared.segments)
        self._warm = warm = declared.warm
        self.history = None if warm is None else {arm: list(rewards) for arm, rewards in warm.history.items()}
        self.weight = None if warm is None else warm.weight
        self.borrow = declared.borrow
        self._direction = direction_for(policy, declared.direction)
        self._state: StudyState | None = None
        self._newly_late: list[int] = []
        self._renew_lock()
        fresh_locks_in_children(self)

    @property
    def bounds(self) -> Bounds | None:
        """Bounds of all rewards: those declared with the study, else those of its policy, else None."""
        return self._limits if are_finite(self._limits) else None

    @property
    def _limits(self) -> Bounds:
        """Bounds of the rewards, infinite where they are not known."""
        return self._declared or self.policy.reward_bounds

    def _renew_lock(self) -> None:
        """Start without other threads, because a forked child has none."""
        self._lock = threading.RLock()
        self._queue: deque[None] = deque()  # one entry per thread that waits to write
        group: Group | None = getattr(self, "_group", None)
        self._group: Group | None = None
        if group is not None:
            self._state = None  # it has what the parent may not have committed
            self._abandoned = group  # not closed here, because its connection is the parent's

    def _read(self) -> Journal:
        """Return the journal, including what others have added."""
        with self._lock:
            return self._look().journal

    def _look(self) -> StudyState:
        """Return the state after the events that others have added."""
        self._settle()
        name = self.name
        return self._follow(partial(self.storage.read, name), partial(self.storage.settings, name))

    def _events(self) -> Sequence[Row]:
        name = self.name
        events = self.storage.read(name, data=True)
        self._check_settings(self.storage.settings(name))
        return events

    # While the state is changed, ``_state`` is None: so whatever is raised meanwhile, for example by a signal handler,
    # leaves None behind, and the next call derives the state again.

    def _follow(self, read: Callable[[int], Sequence[Row]], settings: Callable[[], Settings | None]) -> StudyState:
        """Return the state after the events that others have added, derived again if the storage was set back."""
        state = self._state or self._nothing()
        events = read(max(state.journal.last - 1, -1))
        if state.journal.tail and events and state.journal.ends_with(events[0]):
            events = events[1:]
        else:
            if state.journal.tail:  # a backup was restored, a server lost its last commits, or it is another study
                state = self._nothing()
                events = read(-1)
            self._check_settings(settings())  # after the events: an identity that is gone does not come back
        if events:
            self._state = None
            try:
                state.journal.apply(events)
            except FormatError as error:
                raise FormatError(f"the study {self.name!r} cannot be read: {error}") from error
        if not state.journal.names:
            raise FormatError(f"the study {self.name!r} has no arms: the storage is damaged")
        self._state = state
        return state

    def _nothing(self) -> StudyState:
        decider = Decider(self.policy, self.seed, self._direction, warm=self._warm, borrow=self.borrow)
        return StudyState(Journal(), decider)

    def _check_settings(self, stored: Settings | None) -> None:
        """Check that the stored study of this name is still this one."""
        if stored is None:
            raise NotFoundError(f"no study {self.name!r} any more")
        if not is_stored_as(self, stored):
            raise ReplacedError(
                f"the study {self.name!r} was replaced by another one of this name: load it again", self.name
            )

    def _has_name(self, name: str) -> bool:
        stored = self.storage.settings(name)
        return stored is not None and is_stored_as(self, stored)

    def _writing(self) -> AbstractContextManager[tuple[StudyState, Callable[..., None], Readable]]:
        """Lock the study, read what others did and close windows; drafted events are stored at the end, all or none.

        Threads share a commit where the storage allows it, but not the main thread: a signal handler may interrupt it
        at any step, and the others with it.
        """
        main = threading.get_ident() == threading.main_thread().ident
        together = not main and getattr(self.storage, "any_thread_may_commit", False)
        return self._writing_together() if together else self._writing_alone()

    @contextmanager
    def _writing_together(self) -> Iterator[tuple[StudyState, Callable[..., None], Group]]:
        """As :meth:`_writing_alone`, but with one commit for all threads that come while the study is locked."""
        drafted: list[Row] = []
        self._queue.append(None)
        try:
            self._lock.acquire()
        finally:
            self._queue.pop()
        try:
            group, self._group = self._group, None
            group = group or Group(self.storage.transaction(self.name))
            state = self._state
            if state is None or not group.members:  # no thread has looked yet, or a draft was dropped
                try:
                    state = self._follow(group.read, group.transaction.settings)
                except BaseException as error:
                    group.fail(error)
                    raise

            def draft(*events: Row) -> None:
                self._state = None
                drafted.extend(events)
                state.journal.apply(events)

            try:
                self._newly_late = settled(state.journal, draft, lateness.clock())
                yield state, draft, group
            except Exception:  # what others have drafted is as good as before
                self._pass_on(group)
                raise
            except BaseException as error:
                self._state = None
                group.fail(error)
                raise
            self._state = state
            group.add(drafted)
            self._pass_on(group)
        finally:
            self._lock.release()
        group.wait(self._settle_later)

    def _pass_on(self, group: Group) -> None:
        """Leave the transaction to the next thread that waits to write, if there is one; otherwise commit."""
        self._group = group
        if not self._queue or group.members >= MOST:
            self._settle()

    def _settle(self) -> None:
        """Commit what threads have drafted together, before anything else is done with the study."""
        group, self._group = self._group, None
        if group is not None and not shielded(group.commit):
            self._state = None

    def _settle_later(self) -> None:
        with self._lock:
            self._settle()

    @contextmanager
    def _writing_alone(self, closing: bool = True) -> Iterator[tuple[StudyState, Callable[..., None], Transaction]]:
        drafted: list[Row] = []
        over = False
        with self._lock:
            self._settle()
            try:
                with self.storage.transaction(self.name) as transaction:
                    state = self._follow(transaction.read, transaction.settings)

                    def draft(*events: Row) -> None:
                        if over:
                            raise RuntimeError("no thread waits for these events any more")
                        self._state = None
                        drafted.extend(events)
                        state.journal.apply(events)

                    if closing:
                        self._newly_late = settled(state.journal, draft, lateness.clock())
                    yield state, draft, transaction
                    transaction.append(drafted)
            finally:
                over = True
            self._state = state


def is_stored_as(study: Following, stored: Settings) -> bool:
    """Whether these are the settings of this very study; without an identity, all other settings are compared."""
    with intact("the study"):
        there = stored.get("identity", ""), stored["seed"], stored.get("direction", MAXIMIZE), stored.get("control")
        here = study.identity, str(study.seed), study.direction, study.control
        return there == here and is_described(study.policy, stored["policy"])
