"""What is stored of a study: numbered events, appended and never changed.

A storage keeps studies by name, each with its settings and its events. It does not depend on policies; ``live`` defines
what the events mean.
"""

import os
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, NamedTuple, Protocol

from dirichlet_bandits.errors import DirichletBanditsError, FormatError

CREATED: Final = "created"
RENAMED: Final = "renamed"
ARCHIVED: Final = "archived"
UNARCHIVED: Final = "unarchived"
DELETED: Final = "deleted"
NOTIFIED: Final = "notified"

Settings = dict[str, Any]


class Row(NamedTuple):
    """One event of a study, as it is stored; ``live/events.py`` has a class for each ``kind``.

    ====  ===============  ======  ===================  ==============  ==================  =======================
    kind  event            trial   arm                  value           data                note
    ====  ===============  ======  ===================  ==============  ==================  =======================
    0     arm added        -       its number           -               -                   its name
    1     arm retired      -       its number           -               -                   -
    2     asked            its id  the arm assigned     its propensity  all propensities*   the rest of the round*
    3     rewarded         its id  -                    the reward      -                   -
    4     abandoned        its id  -                    -               -                   -
    5     voided           its id  -                    -               -                   why
    6     corrected        its id  -                    the new reward  -                   why, if it was given
    7     noted            its id  -                    -               -                   note and attributes+
    8     past added       its id  the arm tried        the reward      all propensities    its propensity, if known
    9     call recorded    -       -                    -               -                   a call with a token+
    10    floor set        -       -                    -               -                   the new floor+
    11    winner declared  -       the arm              delta           -                   margin, trials+
    12    windows closed   its id  -                    the reward**    -                   -
    12    window set       -       -                    the reward**    -                   the window, in seconds
    13    reopened         its id  -                    -               -                   -
    ====  ===============  ======  ===================  ==============  ==================  =======================

    ``number`` counts the events of a study from 0 without gaps. ``at`` is the time in seconds since 1970, for people to
    read; no decision depends on it. ``+``: as JSON. ``*``: on the first trial of a round only. Propensities are
    little-endian doubles, one for each arm the study ever had; the rest of a round is a JSON list of pairs, an arm and
    its propensity. ``**``: the value that counts for a missing reward, None if its trial is abandoned.

    ``token`` is the caller's own name for a call, on all events that the call appended. ``decider`` is the version of
    the rules by which a round was decided, on its first trial; None where it was not yet recorded. ``actor`` is the
    name of the key with which a service was called, empty if there was none; None where it was not yet recorded, and
    for windows, which close by themselves.
    """

    number: int
    kind: int
    trial: int | None = None
    arm: int | None = None
    value: float | None = None
    at: float = 0.0
    data: bytes | None = None
    note: str | None = None
    token: str | None = None
    decider: int | None = None
    actor: str | None = None


class AuditRecord(NamedTuple):
    """Something that was done to a study as a whole: ``what`` is ``CREATED``, ``RENAMED``, ... or ``NOTIFIED``.

    ``note`` is the token of the call that created a study, the new name after a rename, or what a webhook was told;
    ``study`` is the study's name before, ``identity`` that of its settings, and ``actor`` is the same as for events.
    """

    at: float
    what: str
    study: str
    identity: str
    note: str | None
    actor: str


class Transaction(Protocol):
    """Exclusive access to one study: no other client can append to it until the transaction ends."""

    def read(self, after: int) -> Sequence[Row]:
        """Return the events with numbers above ``after``, in order, maybe as plain tuples."""

    def settings(self) -> Settings:
        """Return the settings with which the study was created."""

    def append(self, events: Iterable[Row]) -> None:
        """Add events; when the transaction has ended, all of them are permanent and visible to other clients."""

    def rename(self, name: str) -> bool:
        """Give the study another name; return False and do nothing if that name is taken."""

    def archive(self, at: float | None) -> None:
        """Leave the study out of the list of names from this time on; None puts it back."""

    def record(self, what: str, note: str) -> None:
        """Record something else that was done about the study, such as a message."""

    def delete(self) -> None:
        """Remove the study and all of its events permanently."""


class Storage(Protocol):
    """Where studies are kept. Several threads may use it; each storage documents what is durable."""

    url: str

    def create(self, name: str, settings: Settings, events: Iterable[Row]) -> bool:
        """Add a study with its first events; return False and do nothing if that name is taken.

        The same holds if a call with the token in the settings has created a study of this name, whatever became of it.
        """

    def created_by(self, token: str, name: str) -> str | None:
        """Return the identity of the study that a call with this token created by this name; it may be gone."""

    def named(self, identity: str, name: str) -> str | None:
        """Return the name that the study with this identity has now; None if there is no such study.

        Studies that are older than identities, where it is empty, are found only by the ``name``.
        """

    def names(self, archived: bool = False) -> list[str]:
        """Return the names of the studies that are not archived, or of those that are, in the order of creation."""

    def settings(self, name: str) -> Settings | None:
        """Return the settings with which a study was created; None if there is none of this name."""

    def read(self, name: str, after: int = -1, data: bool = False) -> Sequence[Row]:
        """Return the events with numbers above ``after``, in order, as of one moment.

        Without ``data``, the events may be plain tuples in the order of the fields, and events other than asks may lack
        their data, so that a study of hundreds of thousands of trials is read in a second.
        """

    def newest(self, name: str, limit: int, below: int | None = None, trial: int | None = None) -> list[Row]:
        """Return the newest events without ``data``, newest first: those with numbers below ``below``, of one trial."""

    def audit_log(self, limit: int, name: str | None = None) -> list[AuditRecord]:
        """Return what was done to studies, newest first, also to those that were deleted.

        With a name, this is what was done to the study that has it now, also under its earlier names.
        """

    def transaction(self, name: str) -> AbstractContextManager[Transaction]:
        """Append to a study with exclusive access; an exception inside leaves the study as it was."""


# Who acts

_ACTOR: Final[ContextVar[str]] = ContextVar("actor", default="")


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Store everything that this thread or task does under the name of a key: that with which a service was called.

    >>> with acting_as("field app"):
    ...     actor()
    'field app'
    >>> actor()
    ''
    """
    before = _ACTOR.set(name)
    try:
        yield
    finally:
        _ACTOR.reset(before)


def actor() -> str:
    """Return the name of the key that is being used; an empty text if there is none."""
    return _ACTOR.get()


class intact(ContextDecorator):  # noqa: N801 - used like a function
    """A context manager or decorator for code that interprets stored values: its failure means that they are damaged.

    >>> with intact("the study"):
    ...     {}["seed"]
    Traceback (most recent call last):
    dirichlet_bandits.errors.FormatError: the study is damaged: KeyError('seed')
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        """Begin to interpret stored values."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise an error that the stored values are damaged."""
        unfit = isinstance(error, LookupError | TypeError | ValueError | OverflowError | RecursionError)
        if unfit and not isinstance(error, DirichletBanditsError):
            raise FormatError(f"{self._what} is damaged: {error!r}") from error


class Locked(Protocol):
    """An object with its own lock, to be shared by threads; in a forked child, those that held it do not exist."""

    def _renew_lock(self) -> None:
        """Make a new lock, which no thread holds."""


_ALL: Final[weakref.WeakSet[Locked]] = weakref.WeakSet()


def fresh_locks_in_children(owner: Locked) -> None:
    """Give the owner a new lock whenever the process forks. What the lock guards must be consistent at any moment."""
    _ALL.add(owner)


def _after_fork() -> None:
    for owner in _ALL:
        owner._renew_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
