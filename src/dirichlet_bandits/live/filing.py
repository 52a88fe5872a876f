"""The name of a study: rename and archive it, and change it by calls with tokens."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dirichlet_bandits.errors import ConflictError
from dirichlet_bandits.live.changing import Change, step
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.reading import ReadableStudy
from dirichlet_bandits.storage.events import DONE, Transaction


class FiledStudy(ReadableStudy):
    """The part of a :class:`Study` that renames and archives it, with helpers for all changes."""

    def rename(self, name: str, *, token: str | None = None) -> None:
        """Rename the study. Other processes no longer find it by its old name."""
        checked_name("name", name)
        with self._lock:
            with self._taking(token, f"rename {name}") as transaction:
                changes = transaction is not None and name != self._name
                if transaction is not None and changes:
                    if not transaction.rename(name):
                        raise ConflictError(f"there is a study {name!r}")
                    self._new_name = name
            if changes:
                self._renamed(name)

    def archive(self, *, token: str | None = None) -> None:
        """Leave the study out of :func:`study_names`; it can still be used. Repeating the call changes nothing."""
        self._archive(time.time(), token)

    def unarchive(self, *, token: str | None = None) -> None:
        """Put the study back into :func:`study_names`."""
        self._archive(None, token)

    def _archive(self, at: float | None, token: str | None) -> None:
        with self._taking(token, "unarchive" if at is None else "archive") as transaction:
            if transaction is not None:
                transaction.archive(at)

    @contextmanager
    def _changing(self, token: str | None) -> Iterator[Change]:
        """Open a call with its token, whose events are stored at the end, all or none."""
        if token is not None:
            checked_name("token", token)
        with self._writing() as (state, draft, events):
            change = Change(state, draft, events, token)
            yield change
            change.end()

    @contextmanager
    def _taking(self, token: str | None, call: str) -> Iterator[Transaction | None]:
        """Open a change of the study itself, not of its trials; None if the call was made before."""
        if token is None:  # no event is read: a damaged study can be renamed and archived, too
            with self._lock:
                self._settle()
                with self.storage.transaction(self.name) as transaction:
                    self._check_settings(transaction.settings())
                    yield transaction
        else:
            checked_name("token", token)
            with self._writing_alone() as (state, draft, transaction):
                change = Change(state, draft, transaction, token)
                yield transaction if change.is_new(step(DONE, note=call)) else None
                change.end()
