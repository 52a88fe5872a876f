"""The methods of a study that manage it: rename and archive it, add and retire arms, set floors."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dirichlet_bandits.errors import ConflictError, NotFoundError, ReplacedError
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.event import Step
from dirichlet_bandits.live.events import ArmAdded, ArmRetired, FloorSet, named_step
from dirichlet_bandits.live.floors import Floor, check_room, check_sum, checked_floor
from dirichlet_bandits.live.idempotency import Change, renamed_before, renaming
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.reading import ReadableStudy
from dirichlet_bandits.storage.events import Transaction


class ManagedStudy(ReadableStudy):
    """The part of a :class:`Study` that renames and archives it and changes its arms, with helpers for all changes."""

    def rename(self, name: str, *, token: str | None = None) -> None:
        """Rename the study. Other processes no longer find it by its old name.

        With the token of an earlier call, the study keeps the name that it has by now, which :attr:`name` then returns.
        """
        checked_name("name", name)
        with self._lock:
            try:
                with self._taking(token, renaming(name)) as transaction:
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

    def archive(self, *, token: str | None = None) -> None:
        """Leave the study out of :func:`study_names`; it can still be used. Repeating the call changes nothing."""
        self._archive(time.time(), token)

    def unarchive(self, *, token: str | None = None) -> None:
        """Put the study back into :func:`study_names`."""
        self._archive(None, token)

    def add_arm(self, name: str, *, token: str | None = None) -> None:
        """Add an arm without rewards, or bring back a retired arm with the rewards that it had."""
        checked_name("name", name)
        with self._changing(token) as change:
            names = change.journal.names
            added = ArmAdded(names.index(name) if name in names else len(names), name)
            if change.is_new(added):
                if name in names and change.journal.active[names.index(name)]:
                    raise ConflictError(f"the study has an arm {name!r}")
                active = [*change.journal.active_names(), name]
                check_room(change.journal.floor, active)
                self.policy.check_arms(len(active))
                change.add(added)

    def retire_arm(self, name: str, *, token: str | None = None) -> None:
        """Stop assigning this arm, also to units that had it; its pending trials still accept rewards.

        Repeating the call changes nothing.
        """
        with self._changing(token) as change:
            retired = ArmRetired(self._arm(change.journal, name))
            if change.is_new(retired) and change.journal.active[retired.arm]:
                if len(change.journal.active_arms()) == 1:
                    raise ConflictError(f"{name!r} is the last arm: add another before you retire it")
                change.add(retired)

    @property
    def floor(self) -> float | dict[str, float]:
        """The minimal probability of each arm: one number for all arms, or numbers by name; 0 if there is no floor."""
        floor = self._read().floor
        return dict(floor) if isinstance(floor, dict) else floor

    def set_floor(self, floor: Floor | None, *, token: str | None = None) -> None:
        """Change the minimal probability of each arm from the next round on. Repeating the call changes nothing.

        ``floor`` is one number for all active arms, or numbers by the names of arms; 0 or None removes it. With a
        floor f_i for arm i, a decision tries arm i alone with probability f_i, and with probability 1 - sum_j f_j the
        policy decides. So arm i is in the next round with probability

            f_i + (1 - sum_j f_j) p_i,

        where p_i is its probability under the policy. This is the propensity that is recorded. Floors of active arms
        must not sum to more than 1. See ``docs/live.md``.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["control", "new"], policy=db.UCB1(sigma=0.5), seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
        >>> study.propensities()
        {'control': 0.0, 'new': 1.0}
        >>> study.set_floor({"control": 0.2})
        >>> study.propensities(), study.floor
        ({'control': 0.2, 'new': 0.8}, {'control': 0.2})
        """
        with self._changing(token) as change:
            journal = change.journal
            floors = checked_floor(floor, journal.names)
            changed = FloorSet(floors)
            if change.is_new(changed) and floors != journal.floor:
                check_sum(floors, journal.active_names())
                change.add(changed)

    def _archive(self, at: float | None, token: str | None) -> None:
        with self._taking(token, named_step("unarchive" if at is None else "archive")) as transaction:
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
    def _taking(self, token: str | None, call: Step) -> Iterator[Transaction | None]:
        """Open a change of the study itself, which closes no windows; None if the call was made before."""
        if token is None:  # no event is read: a damaged study can be renamed and archived, too
            with self._lock:
                self._settle()
                with self.storage.transaction(self.name) as transaction:
                    self._check_settings(transaction.settings())
                    yield transaction
        else:
            checked_name("token", token)
            with self._writing_alone(closing=False) as (state, draft, transaction):
                change = Change(state, draft, transaction, token)
                yield transaction if change.is_new(call) else None
                change.end()

    def _arm(self, journal: Journal, name: str) -> int:
        if name not in journal.names:
            raise NotFoundError(f"no arm {name!r} in the study {self.name!r}")
        return journal.names.index(name)
