"""A study: ask which arm to try, tell what came of it."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, overload

from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from dirichlet_bandits.live.annotations import Attributes, annotation, merged
from dirichlet_bandits.live.decider import VERSION
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.following import Known, new_event
from dirichlet_bandits.live.journal import ABANDONED, LARGEST_REWARD, PENDING, TOLD, VOIDED, Journal
from dirichlet_bandits.live.past import chances_of, read_past
from dirichlet_bandits.live.reading import ReadableStudy, Trial, trial_of
from dirichlet_bandits.storage.events import ABANDON, ARM, ASK, CORRECT, NOTE, PAST, RETIRE, TELL, VOID, Event
from dirichlet_bandits.validation import finite_number, whole_number

if TYPE_CHECKING:
    import pandas as pd

MOST_ASKED: Final = 1_000_000
"""Trials of one ask: they are decided and stored all at once."""


class Study(ReadableStudy):
    """Decisions one at a time, with rewards that come later; made by :func:`create_study` or :func:`load_study`.

    Threads may share a study; processes and machines share its storage. Every method first takes note of what
    others have done. What ``ask``, ``tell`` and the others have returned from is stored for good.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
    >>> trial = study.ask()
    >>> trial.id, trial.arm, trial.propensity
    (0, '13 Mar', 1.0)
    >>> study.tell(trial, 3120.0)
    >>> study.summary()["told"].to_dict()
    {'26 Feb': 0, '13 Mar': 1}
    """

    # Decisions

    @overload
    def ask(self, n: None = None, *, token: str | None = None) -> Trial: ...

    @overload
    def ask(self, n: int, *, token: str | None = None) -> list[Trial]: ...

    def ask(self, n: int | None = None, *, token: str | None = None) -> Trial | list[Trial]:
        """The next trial; with ``n`` a list of so many, all decided on the rewards told so far.

        ``token`` is a name of your own for this call, such as ``str(uuid.uuid4())``: whoever asks again with the
        same token, because the first answer was lost, gets the same trials, not new ones.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> sorted(trial.arm for trial in study.ask(2))
        ['blue', 'red']
        """
        count = 1 if n is None else whole_number("n", n, 1, MOST_ASKED)
        if token is not None:
            checked_name("token", token)
        with self._writing() as (known, draft):
            journal = known.journal
            ids = journal.trials_of.get(token, []) if token is not None else []
            if ids and ids[0] in journal.past:
                raise ConflictError(f"token {token!r} has added trials of the past")
            if ids and len(ids) != count:
                raise ConflictError(f"token {token!r} has asked for {len(ids)} trials (now {count})")
            if not ids:
                first = len(journal.arm_of)
                ids = list(range(first, first + count))
                self._derive(lambda: [draft(_next(known, trial)._replace(token=token)) for trial in ids])
            trials = [trial_of(journal, trial) for trial in ids]
        return trials[0] if n is None else trials

    def tell(
        self, id: int | Trial, reward: float, *, note: str | None = None, attributes: Attributes | None = None
    ) -> None:
        """The reward of a trial, given by its id or as it was asked for.

        The same reward twice is one tell; another one is a :class:`ConflictError`. A note and attributes of your own
        are stored with it; see :meth:`annotate`.
        """
        trial, value = trial_id(id), self._reward(reward)
        self._tell({trial: value}, {trial: annotation(note, attributes)})

    def tell_many(self, ids: Sequence[int | Trial], rewards: Sequence[float]) -> None:
        """The rewards of several trials: all are stored, or none if one of them cannot be.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 0.0])
        >>> study.summary()["told"].tolist()
        [1, 1]
        """
        ids, rewards = list(ids), list(rewards)
        if len(ids) != len(rewards):
            raise ArgumentError("rewards", f"as many as ids, {len(ids)}", rewards)
        told: dict[int, float] = {}
        for id, reward in zip(ids, rewards, strict=True):
            value = self._reward(reward)
            trial = trial_id(id)
            if told.setdefault(trial, value) != value:
                raise ConflictError(f"trial {trial} is told two rewards: {told[trial]!r} and {value!r}")
        self._tell(told, {})

    def _tell(self, told: Mapping[int, float], said: Mapping[int, Mapping[str, Any]]) -> None:
        with self._writing() as (known, draft):
            new = {trial: value for trial, value in told.items() if self._is_news(known.journal, trial, value)}
            for trial, value in new.items():
                draft(new_event(known.journal, TELL, trial=trial, value=value))
            for trial, words in said.items():
                _note(known.journal, draft, trial, words)

    def annotate(self, id: int | Trial, *, note: str | None = None, attributes: Attributes | None = None) -> None:
        """Remember something of a trial: a note, and values by names of your own. No decision looks at them.

        Another note takes the place of the first; attributes are added to those that are there, or replace them, and
        None removes one. :meth:`trials_dataframe` has both, attributes as JSON.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, 3120.0, note="hail in May", attributes={"plot": 7})
        >>> study.annotate(trial, attributes={"irrigated": True})
        >>> study.trials_dataframe()["attributes"].tolist()
        ['{"irrigated": true, "plot": 7.0}']
        """
        trial, said = trial_id(id), annotation(note, attributes)
        if not said:
            raise ArgumentError("note", "a text, unless attributes are given", note)
        with self._writing() as (known, draft):
            self._status(known.journal, trial)
            _note(known.journal, draft, trial, said)

    def add_trials(self, frame: "pd.DataFrame | Any", *, token: str | None = None) -> list[int]:
        """Trials of the past that were decided elsewhere, all or none; their ids.

        ``frame`` has the columns ``arm`` and ``reward``, and perhaps ``time`` and ``propensity``: the probability with
        which this arm alone was chosen then. All rewards count for summaries, and for decisions from the next round on.
        Those with a propensity also count for estimates; arms that occur among them are taken as possible in each,
        unless the propensity is 1. Those without do not: nobody knows how they were chosen.

        With the token of an earlier call nothing is added again; see :meth:`ask`.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.add_trials({"arm": ["red", "blue", "red"], "reward": [1, 0, 0], "propensity": [0.5, 0.5, 0.5]})
        [0, 1, 2]
        >>> study.summary()["mean"].to_dict()
        {'red': 0.5, 'blue': 0.0}
        """
        rows = read_past(frame)
        for k, row in enumerate(rows):
            self._reward(row.reward, f"reward[{k}]")
        if token is not None:
            checked_name("token", token)
        with self._writing() as (known, draft):
            journal = known.journal
            ids = journal.trials_of.get(token, []) if token is not None else []
            if ids:
                arms = [journal.names[journal.arm_of[trial]] for trial in ids]
                if ids[0] not in journal.past or arms != [row.arm for row in rows]:
                    raise ConflictError(f"token {token!r} has asked for, or added, other trials")
                return ids
            arm_of = [self._arm(journal, row.arm) for row in rows]
            possible = sorted({arm for arm, row in zip(arm_of, rows, strict=True) if row.propensity is not None})
            ids = list(range(len(journal.arm_of), len(journal.arm_of) + len(rows)))
            for trial, arm, row in zip(ids, arm_of, rows, strict=True):
                event = new_event(journal, PAST, trial=trial, arm=arm, value=row.reward, token=token)
                chance = None if row.propensity is None else repr(row.propensity)
                data = chances_of(row, arm, possible, len(journal.names))
                draft(event._replace(at=event.at if row.time is None else row.time, data=data, note=chance))
        return ids

    def abandon(self, id: int | Trial) -> None:
        """The reward of a trial will never come; it does not count. Twice is once."""
        trial = trial_id(id)
        with self._writing() as (known, draft):
            status = self._status(known.journal, trial)
            if status == VOIDED:
                raise ConflictError(f"trial {trial} was voided: it counts no more than an abandoned one")
            if status == TOLD:
                raise ConflictError(
                    f"trial {trial} was told {known.journal.reward_of[trial]!r}: it cannot be abandoned, but voided"
                )
            if status == PENDING:
                draft(new_event(known.journal, ABANDON, trial=trial))

    def void(self, id: int | Trial, reason: str) -> None:
        """Take the reward of a trial back, for a reason to be read in the log. Twice is once.

        The reward does not count for any decision from now on, nor for summaries and estimates. What was decided with
        it stays as it was recorded, and :meth:`replay` finds it again. Another reward for the trial comes by
        :meth:`correct`.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 100.0])
        >>> study.void(1, "the counter was broken")
        >>> study.trials_dataframe()[["status", "original", "reason"]].to_dict("index")[1]
        {'status': 'voided', 'original': 100.0, 'reason': 'the counter was broken'}
        """
        trial = trial_id(id)
        checked_name("reason", reason)
        with self._writing() as (known, draft):
            if self._revisable(known.journal, trial) != VOIDED:
                draft(new_event(known.journal, VOID, trial=trial, note=reason))

    def correct(self, id: int | Trial, reward: float, reason: str | None = None) -> None:
        """Another reward in place of the one that was told, or taken back. The same twice is one correction.

        From now on it counts as if it had been told in the first place; see :meth:`void`.
        """
        trial, value = trial_id(id), self._reward(reward)
        if reason is not None:
            checked_name("reason", reason)
        with self._writing() as (known, draft):
            if self._revisable(known.journal, trial) == VOIDED or known.journal.reward_of[trial] != value:
                draft(new_event(known.journal, CORRECT, trial=trial, value=value, note=reason))

    # Arms

    def add_arm(self, name: str) -> None:
        """One more arm from now on, without rewards; an arm that was retired comes back with those it had."""
        checked_name("name", name)
        with self._writing() as (known, draft):
            names = known.journal.names
            arm = names.index(name) if name in names else len(names)
            if arm < len(names) and known.journal.active[arm]:
                raise ConflictError(f"the study has an arm {name!r}")
            draft(new_event(known.journal, ARM, arm=arm, note=name))

    def retire_arm(self, name: str) -> None:
        """Never hand this arm out again; its pending trials may still be told, and its log stays. Twice is once."""
        with self._writing() as (known, draft):
            arm = self._arm(known.journal, name)
            if not known.journal.active[arm]:
                return
            if len(known.journal.active_arms()) == 1:
                raise ConflictError(f"{name!r} is the last arm: add another before you retire it")
            draft(new_event(known.journal, RETIRE, arm=arm))

    # The study itself

    def rename(self, name: str) -> None:
        """Give the study another name. Whoever uses it by the old one does not find it any more."""
        checked_name("name", name)
        with self._lock:
            if name == self.name:
                return
            self._settle()
            with self.storage.transaction(self.name) as transaction:
                if not transaction.rename(name):
                    raise ConflictError(f"there is a study {name!r}")
            self.name = name

    def archive(self) -> None:
        """Leave the study out of :func:`study_names`; it can still be loaded and used. Twice is once."""
        self._archive(time.time())

    def unarchive(self) -> None:
        """Put the study back into :func:`study_names`."""
        self._archive(None)

    def _archive(self, at: float | None) -> None:
        with self._lock:
            self._settle()
            with self.storage.transaction(self.name) as transaction:
                transaction.archive(at)

    # Within

    def _status(self, journal: Journal, trial: int) -> str:
        if trial >= len(journal.arm_of):
            raise NotFoundError(f"no trial {trial} in the study {self.name!r}: {len(journal.arm_of)} were handed out")
        return journal.status(trial)

    def _arm(self, journal: Journal, name: str) -> int:
        if name not in journal.names:
            raise NotFoundError(f"no arm {name!r} in the study {self.name!r}")
        return journal.names.index(name)

    def _reward(self, reward: object, field: str = "reward") -> float:
        """A reward that the policy takes."""
        value = finite_number(field, reward)
        if abs(value) > LARGEST_REWARD:
            raise ArgumentError(field, f"between -{LARGEST_REWARD:g} and {LARGEST_REWARD:g}", reward)
        self.policy.check_reward(value)
        return value

    def _revisable(self, journal: Journal, trial: int) -> str:
        """The status of a trial that has, or had, a reward."""
        status = self._status(journal, trial)
        if status == PENDING:
            raise ConflictError(f"trial {trial} has no reward yet: tell or abandon it")
        if status == ABANDONED:
            raise ConflictError(f"trial {trial} was abandoned: it has no reward")
        return status

    def _is_news(self, journal: Journal, trial: int, value: float) -> bool:
        status = self._status(journal, trial)
        if status == ABANDONED:
            raise ConflictError(f"trial {trial} was abandoned: it takes no reward")
        if status == VOIDED:
            raise ConflictError(f"trial {trial} was voided: a new reward comes by correcting it")
        if status == TOLD and journal.reward_of[trial] != value:
            done = "corrected to" if trial in journal.original_of else "told"
            raise ConflictError(f"trial {trial} was {done} {journal.reward_of[trial]!r} (now {value!r})")
        return status == PENDING


def trial_id(id: object) -> int:
    """The number of a trial that was given by it or as it was asked for."""
    return whole_number("id", id.id if isinstance(id, Trial) else id, 0)


def _note(journal: Journal, draft: Callable[[Event], None], trial: int, said: Mapping[str, Any]) -> None:
    """Store what is said of a trial, if it is news."""
    known = journal.annotation_of.get(trial, {})
    if merged(known, said) != known:
        draft(new_event(journal, NOTE, trial=trial, note=json.dumps(said)))


def _next(known: Known, trial: int) -> Event:
    """The ask that hands out the next arm of the round, or the first one of a new round."""
    journal, decider = known
    if journal.rest:
        arm, chance = journal.rest[0]
        return new_event(journal, ASK, trial=trial, arm=arm, value=chance)
    arms, chances = decider.decide(journal, trial)
    return new_event(
        journal,
        ASK,
        trial=trial,
        arm=arms[0],
        value=float(chances[arms[0]]),
        data=chances.astype("<f8").tobytes(),
        note=json.dumps([(arm, chances[arm]) for arm in arms[1:]]) if len(arms) > 1 else None,
        decider=VERSION,
    )
