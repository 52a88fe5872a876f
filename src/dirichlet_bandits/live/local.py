"""The local transport of a study: carries operations out where the study is stored.

The state of a study in this process is derived from its events, kept up to date, and changed only in transactions.
Tokens, identity, actor, interrupts and shared commits are dealt with here, once for all operations.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from dirichlet_bandits.compiler import shielded
from dirichlet_bandits.errors import ConflictError, FormatError, NotFoundError, ReplacedError
from dirichlet_bandits.live import export, lateness
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import checked_name, is_described
from dirichlet_bandits.live.direction import MAXIMIZE
from dirichlet_bandits.live.event import Event, Step
from dirichlet_bandits.live.events import CallRecorded, event_of, named_step
from dirichlet_bandits.live.group_commit import MOST, Group
from dirichlet_bandits.live.journal import Journal, settled
from dirichlet_bandits.live.operation import Change, Operation, Present
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.storage.events import Row, Settings, Storage, Transaction, actor, fresh_locks_in_children, intact

if TYPE_CHECKING:
    import pandas as pd

    from dirichlet_bandits.inference.winner import Winner
    from dirichlet_bandits.live.reading import ReadableStudy
    from dirichlet_bandits.live.winner import LotteryEvidence, Question

R = TypeVar("R")


class StudyState(NamedTuple):
    """What follows from the events so far: the journal, and the decider that has seen its rewards."""

    journal: Journal
    decider: Decider


class Named:
    """A handle on a study by its name; ``identity`` was drawn when the study was created, and no other study has it.

    An interrupt may come after a rename has been stored but before the handle has the new name. So ``_new_name`` is
    set first, and the next use of the name checks which one is right.
    """

    def __init__(self, name: str, identity: str) -> None:
        self._name = name
        self._new_name: str | None = None
        self.identity = identity

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


class Local(Named):
    """A study as its storage has it; threads may share it."""

    def __init__(self, storage: Storage, name: str, identity: str, settings: StudySettings) -> None:
        super().__init__(name, identity)
        self.storage = storage
        self.settings = settings
        self._state: StudyState | None = None
        self._newly_late: list[int] = []
        self.answered: tuple[Any, dict[Question, Winner]] | None = None  # as of which event, winners by question
        self.followed: dict[tuple[str | None, str], LotteryEvidence] = {}  # evidence by segment and claim
        self._renew_lock()
        fresh_locks_in_children(self)

    def do(self, operation: Operation[R], token: str | None = None) -> R:
        """Carry out an operation."""
        return operation.perform(self, token)

    def change(self, operation: Change[R], token: str | None) -> R:
        """Carry out an operation that changes the study, unless a call with this token did so before."""
        operation.prepare(self.settings)
        if token is not None:
            checked_name("token", token)
        operation.get_ready(self)
        with self._writing() as (state, draft, rows):
            study = Present(self.name, self.settings, *state, self._newly_late)
            operation.check(study)
            record = state.journal.records.token(token)
            if record is not None and token is not None:
                return operation.again(study, record, self._recorded(rows, record.number, token), token)
            intended = [] if token is None else [event.step() for event in operation.intended(study)]
            if operation.decides:
                self._state = None
            made: list[Event] = []
            for event in operation.carry_out(study):
                draft(event, token)
                made.append(event)
            left = None if token is None else operation.left(study, made, intended)
            if left is not None:
                draft(left, token)
            return operation.answer(study, made)

    @intact("the study")
    def _recorded(self, rows: Transaction | Group, first: int | None, token: str) -> list[Step]:
        """Return the call that was made with this token, from its rows; ``first`` is the number of the first one."""
        steps: list[Step] = []
        for row in [] if first is None else rows.read(first - 1):
            if row[8] != token:
                break
            event = event_of(row)
            if isinstance(event, CallRecorded):
                return event.steps
            steps.append(event.step())
        return steps

    # Changes of the study itself, which are no events

    def rename(self, name: str, token: str | None) -> str:
        """Rename the study, and return the name that it has; others may have renamed it since an earlier attempt."""
        checked_name("name", name)
        with self.lock:
            try:
                with self._taking(token, named_step(f"rename {name}")) as transaction:
                    changes = transaction is not None and name != self._name
                    if transaction is not None and changes:
                        if not transaction.rename(name):
                            raise ConflictError(f"there is a study {name!r}")
                        self._new_name = name
                if changes:
                    self._renamed(name)
            except (NotFoundError, ReplacedError):  # others may have renamed it since a first attempt
                now = renamed_before(self.storage, self.identity, name, token)
                if now is None:
                    raise
                self._renamed(now)
            return self._name

    def archive(self, archived: bool, token: str | None) -> None:
        """Leave the study out of the list of names, or put it back."""
        with self._taking(token, named_step("archive" if archived else "unarchive")) as transaction:
            if transaction is not None:
                transaction.archive(time.time() if archived else None)

    @contextmanager
    def _taking(self, token: str | None, call: Step) -> Iterator[Transaction | None]:
        """Open a change of the study itself, which closes no windows; None if the call was made before."""
        if token is None:  # no event is read: a damaged study can be renamed and archived, too
            with self.lock:
                self._settle()
                with self.storage.transaction(self.name) as transaction:
                    self.check_settings(transaction.settings())
                    yield transaction
            return
        checked_name("token", token)
        with self._writing_alone(closing=False) as (state, draft, transaction):
            record = state.journal.records.token(token)
            if record is None:
                yield transaction
                draft(CallRecorded([call]), token)
            elif record.number is None or self._recorded(transaction, record.number, token) != [call]:
                raise ConflictError(f"token {token!r} was used for another call")
            else:
                yield None

    def trials(self) -> "pd.DataFrame":
        """Return one row per trial."""
        with self.lock:
            return export.trials(self.journal())

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a file."""
        export.write(self.rows(), path)

    # Reading

    def _renew_lock(self) -> None:
        """Start without other threads, because a forked child has none."""
        self.lock = threading.RLock()
        self._queue: deque[None] = deque()  # one entry per thread that waits to write
        group: Group | None = getattr(self, "_group", None)
        self._group: Group | None = None
        if group is not None:
            self._state = None  # it has what the parent may not have committed
            self._abandoned = group  # not closed here, because its connection is the parent's

    def journal(self) -> Journal:
        """Return the journal, including what others have added."""
        with self.lock:
            return self._look().journal

    @contextmanager
    def deciding(self) -> Iterator[StudyState]:
        """Lend the journal and the decider, which may learn; the study is locked."""
        with self.lock:
            state = self._look()
            self._state = None
            yield state
            self._state = state

    def _look(self) -> StudyState:
        """Return the state after the events that others have added."""
        self._settle()
        name = self.name
        return self._follow(partial(self.storage.read, name), partial(self.storage.settings, name))

    def rows(self) -> Sequence[Row]:
        """Return all rows with their data, as of one moment."""
        name = self.name
        rows = self.storage.read(name, data=True)
        self.check_settings(self.storage.settings(name))
        return rows

    # While the state is changed, ``_state`` is None: so whatever is raised meanwhile, for example by a signal handler,
    # leaves None behind, and the next call derives the state again.

    def _follow(self, read: Callable[[int], Sequence[Row]], settings: Callable[[], Settings | None]) -> StudyState:
        """Return the state after the events that others have added, derived again if the storage was set back."""
        state = self._state or StudyState(Journal(), self.new_decider())
        rows = read(max(state.journal.last - 1, -1))
        if state.journal.tail and rows and state.journal.ends_with(rows[0]):
            rows = rows[1:]
        else:
            if state.journal.tail:  # a backup was restored, a server lost its last commits, or it is another study
                state = StudyState(Journal(), self.new_decider())
                rows = read(-1)
            self.check_settings(settings())  # after the events: an identity that is gone does not come back
        if rows:
            self._state = None
            try:
                state.journal.apply(rows)
            except FormatError as error:
                raise FormatError(f"the study {self.name!r} cannot be read: {error}") from error
        if not state.journal.names:
            raise FormatError(f"the study {self.name!r} has no arms: the storage is damaged")
        self._state = state
        return state

    def new_decider(self) -> Decider:
        """Return the policy of the study before it has seen a reward."""
        settings = self.settings
        assert settings.seed is not None
        return Decider(settings.policy, settings.seed, settings.sign, warm=settings.warm, borrow=settings.borrow or 0.0)

    def check_settings(self, stored: Settings | None) -> None:
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

    # Writing

    def _writing(self) -> AbstractContextManager[tuple[StudyState, Callable[..., None], Transaction | Group]]:
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
            self.lock.acquire()
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

            def draft(event: Event, token: str | None = None) -> None:
                self._state = None
                drafted.append(new_row(state.journal, event, token))
                state.journal.apply(drafted[-1:])

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
            self.lock.release()
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
        with self.lock:
            self._settle()

    @contextmanager
    def _writing_alone(self, closing: bool = True) -> Iterator[tuple[StudyState, Callable[..., None], Transaction]]:
        drafted: list[Row] = []
        over = False
        with self.lock:
            self._settle()
            try:
                with self.storage.transaction(self.name) as transaction:
                    state = self._follow(transaction.read, transaction.settings)

                    def draft(event: Event, token: str | None = None) -> None:
                        if over:
                            raise RuntimeError("no thread waits for these events any more")
                        self._state = None
                        drafted.append(new_row(state.journal, event, token))
                        state.journal.apply(drafted[-1:])

                    if closing:
                        self._newly_late = settled(state.journal, draft, lateness.clock())
                    yield state, draft, transaction
                    transaction.append(drafted)
            finally:
                over = True
            self._state = state


def local_of(study: "ReadableStudy") -> Local:
    """Return the transport of a study that is stored here."""
    local = study._transport
    if not isinstance(local, Local):
        raise AttributeError(f"the study {study.name!r} is in a service, so it has no storage here")
    return local


def new_row(journal: Journal, event: Event, token: str | None = None) -> Row:
    """Return the row of the next event, with the present actor, and the present time unless it has its own."""
    at = lateness.clock() if event.at is None else event.at
    return event.row(journal.last + 1, at, token, actor() if event.by_caller else None)


def is_stored_as(study: Local, stored: Settings) -> bool:
    """Whether these are the settings of this very study; without an identity, all other settings are compared."""
    settings = study.settings
    with intact("the study"):
        there = stored.get("identity", ""), stored["seed"], stored.get("direction", MAXIMIZE), stored.get("control")
        here = study.identity, str(settings.seed), settings.direction, settings.control
        return there == here and is_described(settings.policy, stored["policy"])


def renamed_before(storage: Storage, identity: str, new: str, token: str | None) -> str | None:
    """Return the name that a study has now, if a call with this token has renamed it to ``new``, perhaps long ago."""
    now = None if token is None else storage.named(identity, new)
    made = [] if now is None else [event_of(row) for row in storage.read(now) if row[8] == token]
    steps = [event.steps for event in made if isinstance(event, CallRecorded)]
    return now if len(made) == 1 and steps == [[named_step(f"rename {new}")]] else None
