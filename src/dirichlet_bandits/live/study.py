"""A study: ask which arm to try, tell what came of it."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

from dirichlet_bandits.arms import CVaR, Mean, Objective
from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from dirichlet_bandits.live import frames
from dirichlet_bandits.live.annotations import Attributes, annotation, merged
from dirichlet_bandits.live.decider import VERSION
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.direction import MAXIMIZE
from dirichlet_bandits.live.estimates import Estimate, estimate
from dirichlet_bandits.live.following import Following, Known, new_event
from dirichlet_bandits.live.journal import ABANDONED, PENDING, TOLD, VOIDED, Journal
from dirichlet_bandits.live.past import chances_of, read_past
from dirichlet_bandits.live.replay import Replay, replay
from dirichlet_bandits.live.risk import RiskEstimate, checked_bounds, estimate_cvar
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import ABANDON, ARM, ASK, CORRECT, NOTE, PAST, RETIRE, TELL, VOID, Event, Storage
from dirichlet_bandits.validation import finite_number, whole_number

if TYPE_CHECKING:
    import pandas as pd

LARGEST_REWARD: Final = 1e100
"""Rewards beyond it are refused: sums of their squares would overflow."""


class Trial(NamedTuple):
    """An arm that was handed out: try it, then tell the reward under this id.

    ``propensity`` is the exact probability with which the arm was to be in its round (see ``docs/live.md``).
    """

    id: int
    arm: str
    propensity: float
    asked_at: datetime


class Study(Following):
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

    def __init__(
        self,
        storage: Storage,
        name: str,
        policy: Policy,
        seed: int,
        *,
        direction: str = MAXIMIZE,
        control: str | None = None,
    ) -> None:
        super().__init__(storage, name, policy, seed, direction)
        self.control = control

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.policy!r}, {len(self.arms)} arms, {len(self)} trials>"

    def _repr_html_(self) -> str:
        from dirichlet_bandits.live.html import study_html

        return study_html(self)

    def __len__(self) -> int:
        """Number of trials handed out so far, and of those added from the past."""
        return len(self._read().arm_of)

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
        count = 1 if n is None else whole_number("n", n, 1)
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
            trials = [_trial(journal, trial) for trial in ids]
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

    @property
    def arms(self) -> list[str]:
        """Names of the arms that may be handed out."""
        journal = self._read()
        return [journal.names[arm] for arm in journal.active_arms()]

    # The study itself

    def rename(self, name: str) -> None:
        """Give the study another name. Whoever uses it by the old one does not find it any more."""
        checked_name("name", name)
        with self._lock:
            if name == self.name:
                return
            with self.storage.transaction(self.name) as transaction:
                if not transaction.rename(name):
                    raise ConflictError(f"there is a study {name!r}")
            self.name = name

    def archive(self) -> None:
        """Leave the study out of :func:`study_names`; it can still be loaded and used. Twice is once."""
        with self._lock, self.storage.transaction(self.name) as transaction:
            transaction.archive(time.time())

    def unarchive(self) -> None:
        """Put the study back into :func:`study_names`."""
        with self._lock, self.storage.transaction(self.name) as transaction:
            transaction.archive(None)

    @property
    def archived(self) -> bool:
        """Whether the study was archived."""
        return self.name in self.storage.names(archived=True)

    # Looking

    @property
    def pending(self) -> list[Trial]:
        """Trials that were neither told nor abandoned, the oldest first."""
        with self._lock:
            journal = self._read()
            return [_trial(journal, trial) for trial in journal.pending]

    @property
    def best_arm(self) -> str | None:
        """The best arm so far among those that may be handed out; None while there is nothing to say.

        By the mean of its rewards, or by what the policy judges arms by: their CVaR for those of the CVaR family. An
        arm is named when it alone is the best of at least two, with ten rewards or more;
        ``summary().attrs["best_arm_reason"]`` says why it is, or why none is.
        """
        best: str | None = self.summary().attrs["best_arm"]
        return best

    def propensities(self) -> dict[str, float]:
        """For every arm the exact probability that it is in the next round; see ``docs/live.md``."""
        with self._lock:
            known = self._look()
            chances = self._derive(lambda: known.decider.propensities(known.journal))
            self._known = known
            return dict(zip(known.journal.names, chances.tolist(), strict=True))

    def summary(self, level: float = 0.95, bounds: tuple[float, float] | None = None) -> "pd.DataFrame":
        """A row an arm: trials, mean and standard deviation of the rewards, an interval for the mean.

        With a policy that judges arms otherwise, a column ``value`` has that of each arm's rewards;
        ``.attrs["objective"]`` says what it is. For a CVaR ``value_low`` and ``value_high`` are the ends of its
        interval, and ``.attrs["value_interval"]`` says what it assumes.

        The interval holds at all times at once, however the arms were chosen; ``.attrs["interval"]`` names the
        method and what it assumes (``docs/live.md``). Where there is none, ``no_interval`` says why. ``bounds`` are two
        numbers between which all rewards lie, where the policy does not know them.

        With a control, ``lift`` is the mean less that of the control, with an interval of the same kind.
        """
        with self._lock:
            return frames.summary(self._read(), self.policy, level, self._direction, self.control, bounds)

    def trials_dataframe(self) -> "pd.DataFrame":
        """A row a trial: arm, propensity, round, status, reward, times.

        Of a trial that was voided or corrected, ``original`` is the reward told first, and ``reason`` says why. Trials
        of the past have no propensity if none was given.
        """
        with self._lock:
            return frames.trials(self._read())

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a ``.parquet`` or ``.csv`` file."""
        frames.write(self._events(), path)

    @overload
    def estimate(
        self,
        choice: "Policy | Mapping[str, float] | str",
        *,
        objective: Mean | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> Estimate: ...

    @overload
    def estimate(
        self,
        choice: "Policy | Mapping[str, float] | str",
        *,
        objective: CVaR,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> RiskEstimate: ...

    def estimate(
        self,
        choice: "Policy | Mapping[str, float] | str",
        *,
        objective: Objective | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = 0.95,
    ) -> Estimate | RiskEstimate:
        """What another choice of arms would have earned a trial, judged from the log.

        ``choice`` is an arm, weights of arms, or a policy: what it would have done with the rewards known at
        each decision. See :class:`Estimate`.

        With ``objective=CVaR(level)`` it is the average over the bad rewards of the choice, with an interval of this
        ``confidence`` (:class:`RiskEstimate`). It needs two numbers between which all rewards lie: those that the
        policy was told, or ``bounds``.
        """
        if objective is None or isinstance(objective, Mean):
            return estimate(self._events(), choice, self.seed, self.direction)
        if not isinstance(objective, CVaR):
            raise ArgumentError("objective", "Mean() or CVaR(level)", objective)
        limits = checked_bounds(bounds, self.policy, self._read().told_rewards)
        return estimate_cvar(self._events(), choice, self.seed, objective, limits, confidence, self.direction)

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Decide everything again from the stored events and compare with what was recorded.

        ``progress(done, total)`` is called now and then, with numbers of events.
        """
        return replay(self._events(), self._nothing().decider, progress)

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


def _trial(journal: Journal, trial: int) -> Trial:
    asked_at = datetime.fromtimestamp(journal.asked_at[trial], UTC)
    return Trial(trial, journal.names[journal.arm_of[trial]], journal.propensity_of[trial], asked_at)
