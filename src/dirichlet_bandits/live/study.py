"""Studies: ask which arm to try, and tell its reward.

:class:`Study` has the methods that change a study. Its other parts, and the files of this folder that hold them:

    Opening, reading and managing
        opening.py                  creates, loads, lists and deletes studies by name
        reading.py                  ``ReadableStudy``, the base class: the methods that change nothing; ``Trial``
        managing.py                 ``ManagedStudy``, on top of it: names, archive, arms, floors
        estimating.py               ``estimate``, as a study and the client of a service both have it
        compile_live.py             compiles what the first decisions need ahead of time

    From events to decisions
        study_state.py              ``Following``, the base of ``ReadableStudy``: reads events, writes in transactions
        asking.py                   the asks: the next arm of a round, of a segment, of a unit
        event.py                    what all events have in common
        events.py                   what can happen: one class per kind of event
        journal.py                  ``Journal``, which applies the events one after the other
        view.py                     the counts that they amount to, of the study or of a segment
        records.py                  look-ups of trials, units and tokens
        counted_rewards.py          the rewards that count
        decider.py                  ``Decider``, which arms come next and with which probabilities
        warm_start.py               past rewards with a weight, which affect decisions and nothing else
        direction.py                whether rewards should be large or costs small
        floors.py                   the minimal probability of each arm
        lateness.py                 windows, and what a missing reward means after them
        idempotency.py              ``Change``, a call with a token: made once, however often it is sent
        group_commit.py             threads that share one commit
        interrupts.py               work that Ctrl-C cannot interrupt

    Checks of arguments
        description.py              policies and names, as a storage keeps them
        annotations.py              notes and attributes of trials
        trial_status.py             which trials take a reward, or another one
        past_trials.py              trials of the past, decided elsewhere
        bounds.py                   bounds of the rewards, declared or known

    Summaries and winners
        summary.py                  one row per arm, as a table and in a notebook
        best.py                     the best arm so far
        probability_best.py         the posterior probability of being best
        segment_means.py            means over all segments
        intervals.py                intervals for means that hold at all times at once
        differences.py              the same for the difference of two means
        risk.py                     the same for CVaR
        bands.py                    intervals for means after some numbers of trials, for charts
        winner.py                   the winner, with a bound on the probability of error
        forecast.py                 how many more trials it takes to name one
        drift.py                    arms whose rewards no longer look like one distribution

    The log
        export.py                   trials as a table, and as files
        audit.py                    what happened, event by event, and which key did it
        logged_rounds.py            the rounds of the log, with all propensities
        off_policy.py               what another choice of arms would have earned
        off_policy_intervals.py     intervals for that, and for the difference of two arms, that survive drift
        replay.py                   repeats every decision and compares
        recovery.py                 what can still be read if events are missing
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, overload

from dirichlet_bandits.errors import ArgumentError, ConflictError
from dirichlet_bandits.live.annotations import Attributes, annotation, merged, same
from dirichlet_bandits.live.asking import (
    check_asked_alike,
    checked_segment,
    next_ask,
    trials_of,
    waiting_for,
)
from dirichlet_bandits.live.bounds import check_within
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.events import (
    Abandoned,
    CallRecorded,
    Corrected,
    Noted,
    Reopened,
    Rewarded,
    Voided,
    WinnerDeclared,
)
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.managing import ManagedStudy
from dirichlet_bandits.live.past_trials import Past, past_events, place_in, read_past
from dirichlet_bandits.live.reading import Trial, trial_of
from dirichlet_bandits.live.records import ABANDONED, HELD, PENDING, REPEATED, TOLD, VOIDED
from dirichlet_bandits.live.study_state import new_row
from dirichlet_bandits.live.trial_status import revisable, status_of, takes_reward
from dirichlet_bandits.live.winner import DELTA, Question, Winner
from dirichlet_bandits.validation import LARGEST_SCALE, reward_number, whole_number

if TYPE_CHECKING:
    import pandas as pd

MOST_ASKED: Final = 1_000_000
"""Trials of one ask: they are decided and stored all at once."""


class Study(ManagedStudy):
    """A sequence of decisions whose rewards come later; create it with :func:`create_study` or :func:`load_study`.

    Threads may share a study; processes and machines share its storage. Every method first reads what others have
    done. When ``ask``, ``tell`` or another method that changes the study returns, its change is stored durably.

    Every method that changes something takes a ``token``, your own name for the call, such as
    ``str(uuid.uuid4())``. If the response was lost, call again with the same token: the change is not repeated, even
    if others have changed it since. A token that was used for another call is refused with a :class:`ConflictError`.

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
    def ask(
        self, n: None = None, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> Trial: ...

    @overload
    def ask(
        self, n: int, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> list[Trial]: ...

    def ask(
        self, n: int | None = None, *, segment: str | None = None, unit: str | None = None, token: str | None = None
    ) -> Trial | list[Trial]:
        """Return the next trial, or a list of ``n`` trials, all decided by the rewards so far.

        A study with segments needs the ``segment`` to decide for. A ``unit``, such as a user, gets the arm that it had
        before, with the propensity of its first assignment: the same trial while that trial is pending, then a new one.
        If that arm was retired, the unit gets another one, and keeps it. Only the first trial of a unit counts,
        whatever happens to it or to its arm (``docs/live.md`` explains why).

        A second call with the same token returns the same trials, not new ones.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> sorted(trial.arm for trial in study.ask(2))
        ['blue', 'red']
        """
        count = 1 if n is None else whole_number("n", n, 1, MOST_ASKED)
        checked_segment(segment, self.segments)
        if unit is not None:
            checked_name("unit", unit)
            if n is not None:
                raise ArgumentError("n", "left out with a unit, which has one trial at a time", n)
        if token is not None:
            checked_name("token", token)
        with self._writing() as (state, draft, _):
            journal = state.journal
            ids = trials_of(journal, token)
            if ids and journal.records.trial(ids[0]).past:
                raise ConflictError(f"token {token!r} has added trials of the past")
            if ids and len(ids) != count:
                raise ConflictError(f"token {token!r} has asked for {len(ids)} trials (now {count})")
            if ids:
                check_asked_alike(journal, ids[0], token, segment, unit)
            elif ids := waiting_for(journal, unit):
                if token is not None:
                    draft(new_row(journal, CallRecorded([], ids), token))
            else:
                first = len(journal.arm_of)
                ids = list(range(first, first + count))
                self._state = None  # the decider changes
                for _ in ids:
                    draft(new_row(journal, next_ask(state, segment, unit), token))
            trials = [trial_of(journal, trial) for trial in ids]
        return trials[0] if n is None else trials

    def tell(
        self,
        id: int | Trial,
        reward: float,
        *,
        note: str | None = None,
        attributes: Attributes | None = None,
        token: str | None = None,
    ) -> None:
        """Record the reward of a trial, given by its id or as the trial itself. True counts as 1 and False as 0.

        Repeating the same reward changes nothing; a different one raises a :class:`ConflictError`. A note and
        attributes are stored with it; see :meth:`annotate`.
        """
        trial, value = trial_id(id), self._reward(reward)
        self._tell({trial: value}, {trial: annotation(note, attributes)}, token)

    def tell_many(self, ids: Sequence[int | Trial], rewards: Sequence[float], *, token: str | None = None) -> None:
        """Record the rewards of several trials: either all are stored, or none.

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
                raise ConflictError(f"trial {trial} is given two rewards: {told[trial]!r} and {value!r}")
        self._tell(told, {}, token)

    def _tell(self, told: Mapping[int, float], said: Mapping[int, Mapping[str, Any]], token: str | None) -> None:
        rewards = [Rewarded(trial, value) for trial, value in told.items()]
        notes = [Noted(trial, dict(words)) for trial, words in said.items() if words]
        with self._changing(token) as change:
            if change.is_new(*rewards, *notes):
                news = [takes_reward(self.name, change.journal, trial, value) for trial, value in told.items()]
                change.add(*(told for told, new in zip(rewards, news, strict=True) if new))
                change.add(*(note for note in notes if _is_noteworthy(change.journal, note)))

    def annotate(
        self,
        id: int | Trial,
        *,
        note: str | None = None,
        attributes: Attributes | None = None,
        token: str | None = None,
    ) -> None:
        """Add a note, and attributes with names of your own, to a trial. No decision depends on them.

        A new note replaces the old one. Attributes are added to existing ones or replace them, and None removes one.
        :meth:`trials_dataframe` has both, with attributes as JSON.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
        >>> trial = study.ask()
        >>> study.tell(trial, 3120.0, note="hail in May", attributes={"plot": 7})
        >>> study.annotate(trial, attributes={"irrigated": True})
        >>> study.trials_dataframe()["attributes"].tolist()
        ['{"irrigated": true, "plot": 7}']
        """
        trial, said = trial_id(id), annotation(note, attributes)
        if not said:
            raise ArgumentError("note", "a text, unless attributes are given", note)
        noted = Noted(trial, said)
        with self._changing(token) as change:
            status_of(self.name, change.journal, trial)
            if change.is_new(noted) and _is_noteworthy(change.journal, noted):
                change.add(noted)

    def add_trials(self, frame: "pd.DataFrame | Any", *, token: str | None = None) -> list[int]:
        """Add past trials that were decided elsewhere, all or none, and return their ids.

        ``frame`` has the columns ``arm`` and ``reward``, and perhaps ``time`` and ``propensity``: the probability with
        which this arm alone was chosen then. All rewards count for summaries, and for decisions from the next round on.
        Trials with a propensity also count for estimates; the arms among them are assumed to have been possible in each
        of these trials, unless its propensity is 1. Trials without a propensity do not count for estimates, because it
        is not known how they were chosen.

        With the token of an earlier call, nothing is added again; trials other than those of that call are refused.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.add_trials({"arm": ["red", "blue", "red"], "reward": [1, 0, 0], "propensity": [0.5, 0.5, 0.5]})
        [0, 1, 2]
        >>> study.summary()["mean"].to_dict()
        {'red': 0.5, 'blue': 0.0}
        """
        rows = read_past(frame)
        if self.segments:
            raise ConflictError(f"the study {self.name!r} has segments, and past trials have none")
        for k, row in enumerate(rows):
            self._reward(row.reward, f"reward[{k}]")
        if token is not None:
            checked_name("token", token)
        journal = self._read()
        arm_of = {arm: self._arm(journal, arm) for arm in {row.arm: None for row in rows}}
        place = place_in(journal)
        events = past_events(rows, arm_of, place, token)
        with self._writing() as (state, draft, _):
            ids = trials_of(state.journal, token)
            if ids:
                if len(ids) != len(rows) or not all(map(partial(_is_stored, state.journal), ids, rows)):
                    raise ConflictError(f"token {token!r} has asked for, or added, other trials")
                return ids
            if place_in(state.journal) != place:  # another call came between
                events = past_events(rows, arm_of, place_in(state.journal), token)
            draft(*events)
        return [event.trial for event in events if event.trial is not None]

    def settle(self) -> list[int]:
        """Close the windows that have ended, and return the ids of the late trials, whose rewards were missing.

        Every method that changes the study does this first, so you need it only before you read a study that no longer
        changes. In a study without a window, it does nothing.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], window="24h", late=0, seed=1)
        >>> study.tell(study.ask(), 1.0)
        >>> study.settle(), study.trials_dataframe()["status"].tolist()
        ([], ['held'])
        """
        with self._writing():
            return self._newly_late

    def abandon(self, id: int | Trial, *, token: str | None = None) -> None:
        """Abandon a trial whose reward will never come; it does not count. Repeating the call changes nothing."""
        trial = trial_id(id)
        with self._changing(token) as change:
            status = status_of(self.name, change.journal, trial)
            if not change.is_new(Abandoned(trial)):
                return
            if status == VOIDED:
                raise ConflictError(f"trial {trial} was voided, so it already does not count")
            if status in (TOLD, HELD, REPEATED):
                reward = change.journal.records.trial(trial).reward
                raise ConflictError(f"trial {trial} was given {reward!r}: it cannot be abandoned, only voided")
            if status == PENDING:
                change.add(Abandoned(trial))

    def reopen(self, id: int | Trial, *, token: str | None = None) -> None:
        """Undo :meth:`abandon`, so that the trial is pending again. Reopening a pending trial changes nothing.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> trial = study.ask()
        >>> study.abandon(trial)
        >>> study.reopen(trial)
        >>> [pending.id for pending in study.pending]
        [0]
        """
        trial = trial_id(id)
        with self._changing(token) as change:
            status = status_of(self.name, change.journal, trial)
            if not change.is_new(Reopened(trial)) or status == PENDING:
                return
            if status != ABANDONED:
                raise ConflictError(f"trial {trial} was not abandoned: it cannot be reopened")
            if change.journal.records.trial(trial).late:
                raise ConflictError(f"trial {trial} is late: its window has closed, and it cannot be reopened")
            change.add(Reopened(trial))

    def void(self, id: int | Trial, reason: str, *, token: str | None = None) -> None:
        """Take back the reward of a trial, for a reason that the log shows. Repeating the call changes nothing.

        From now on, the reward does not count for decisions, summaries or estimates. Decisions that used it stay as
        recorded, and :meth:`replay` reproduces them. Use :meth:`correct` to give the trial another reward.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell_many([trial.id for trial in study.ask(2)], [1.0, 100.0])
        >>> study.void(1, "the counter was broken")
        >>> study.trials_dataframe()[["status", "original", "reason"]].to_dict("index")[1]
        {'status': 'voided', 'original': 100.0, 'reason': 'the counter was broken'}
        """
        trial = trial_id(id)
        checked_name("reason", reason)
        voided = Voided(trial, reason)
        with self._changing(token) as change:
            if change.is_new(voided) and revisable(self.name, change.journal, trial) != VOIDED:
                change.add(voided)

    def correct(self, id: int | Trial, reward: float, reason: str | None = None, *, token: str | None = None) -> None:
        """Replace a reward that was reported or voided by another one. Repeating the call changes nothing.

        From now on, the new reward counts as if it had been reported in the first place; see :meth:`void`.
        """
        trial, value = trial_id(id), self._reward(reward)
        if reason is not None:
            checked_name("reason", reason)
        corrected = Corrected(trial, value, reason)
        with self._changing(token) as change:
            if change.is_new(corrected):
                revisable(self.name, change.journal, trial)
                if change.journal.records.trial(trial).reward != value:
                    change.add(corrected)

    # The winner

    def winner(self, delta: float = DELTA, margin: float = 0.0, *, segment: str | None = None) -> Winner:
        found = super().winner(delta, margin, segment=segment)
        if found.arm is None or found.established_at is not None:
            return found
        question = Question(delta, margin, segment)
        with self._changing(None) as change:
            found = self._winner(change.journal, question)
            if found.arm is not None and found.established_at is None:  # as of the transaction
                arm = change.journal.names.index(found.arm)
                change.add(WinnerDeclared(arm, found.delta, found.margin, found.trials, found.proved, segment))
                found = self._winner(change.journal, question)
        return found

    winner.__doc__ = ManagedStudy.winner.__doc__

    # Shared by the methods above

    def _reward(self, reward: object, field: str = "reward") -> float:
        """Return a reward that the policy accepts."""
        value = reward_number(field, reward)
        if abs(value) > LARGEST_SCALE:
            raise ArgumentError(field, f"between -{LARGEST_SCALE:g} and {LARGEST_SCALE:g}", reward)
        self.policy.check_reward(value)
        check_within(field, value, self._declared)
        return value


def trial_id(id: object) -> int:
    """Return the id of a trial that was given as a number or as the trial itself."""
    return whole_number("id", id.id if isinstance(id, Trial) else id, 0)


def _is_noteworthy(journal: Journal, noted: Noted) -> bool:
    """Whether an annotation of a trial is new."""
    known = journal.records.trial(noted.trial).annotation
    return not same(merged(known, noted.said), known)


def _is_stored(journal: Journal, trial: int, row: Past) -> bool:
    """Whether a trial equals a row of past data as it was first stored."""
    record = journal.records.trial(trial)
    chance = None if math.isnan(record.propensity) else record.propensity
    stored = journal.names[record.arm], record.first_reward, chance
    same_time = row.time is None or row.time == record.asked_at
    return record.past and same_time and stored == (row.arm, row.reward, row.propensity)
