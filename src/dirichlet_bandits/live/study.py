"""A study: ask which arm to try, tell what came of it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, overload

from dirichlet_bandits.arms import CVaR, Mean, Objective
from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from dirichlet_bandits.live import frames
from dirichlet_bandits.live.decider import VERSION, Decider
from dirichlet_bandits.live.description import checked_name, describe
from dirichlet_bandits.live.estimates import Estimate, estimate
from dirichlet_bandits.live.journal import ABANDONED, PENDING, TOLD, Journal
from dirichlet_bandits.live.replay import Replay, replay
from dirichlet_bandits.live.risk import RiskEstimate, checked_bounds, estimate_cvar
from dirichlet_bandits.live.undisturbed import undisturbed
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import ABANDON, ARM, ASK, RETIRE, TELL, Event, Storage
from dirichlet_bandits.storage.forks import fresh_lock_in_children
from dirichlet_bandits.validation import finite_number, whole_number

if TYPE_CHECKING:
    import pandas as pd

LARGEST_REWARD: Final = 1e100
"""Rewards beyond it are refused: sums of their squares would overflow, and what was told cannot be taken back."""

T = TypeVar("T")


class Trial(NamedTuple):
    """An arm that was handed out: try it, then tell the reward under this id.

    ``propensity`` is the exact probability with which the arm was to be in its round (see ``docs/live.md``).
    """

    id: int
    arm: str
    propensity: float
    asked_at: datetime


class Study:
    """Decisions one at a time, with rewards that come later; made by :func:`create_study` or :func:`load_study`.

    Threads may share a study; processes and machines share its storage. Every method first takes note of what
    others have done. What ``ask``, ``tell`` and the others have returned from is stored for good.

    >>> import dirichlet_bandits as db
    >>> study = db.create_study("maize", arms=["26 Feb", "13 Mar"], seed=0)
    >>> trial = study.ask()
    >>> trial.id, trial.arm, trial.propensity
    (0, '13 Mar', 1.0)
    >>> study.tell(trial.id, 3120.0)
    >>> study.best_arm
    '13 Mar'
    """

    def __init__(self, storage: Storage, name: str, policy: Policy, seed: int) -> None:
        self.name = name
        self.policy = policy
        self.seed = seed
        self.storage = storage
        self._known: _Known | None = None
        self._lock = threading.RLock()
        fresh_lock_in_children(self)

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.policy!r}, {len(self.arms)} arms, {len(self)} trials>"

    def __len__(self) -> int:
        """Number of trials handed out so far."""
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
            if ids and len(ids) != count:
                raise ConflictError(f"token {token!r} has asked for {len(ids)} trials (now {count})")
            if not ids:
                first = len(journal.arm_of)
                ids = list(range(first, first + count))
                self._derive(lambda: [draft(_next(known, trial)._replace(token=token)) for trial in ids])
            trials = [_trial(journal, trial) for trial in ids]
        return trials[0] if n is None else trials

    def tell(self, id: int, reward: float) -> None:
        """The reward of a trial. The same reward twice is one tell; another one is a :class:`ConflictError`."""
        self.tell_many([id], [reward])

    def tell_many(self, ids: Sequence[int], rewards: Sequence[float]) -> None:
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
            value = finite_number("reward", reward)
            if abs(value) > LARGEST_REWARD:
                raise ArgumentError("reward", f"between -{LARGEST_REWARD:g} and {LARGEST_REWARD:g}", reward)
            self.policy.check_reward(value)
            trial = whole_number("id", id, 0)
            if told.setdefault(trial, value) != value:
                raise ConflictError(f"trial {trial} is told two rewards: {told[trial]!r} and {value!r}")
        with self._writing() as (known, draft):
            new = {trial: value for trial, value in told.items() if self._is_news(known.journal, trial, value)}
            for trial, value in new.items():
                draft(_event(known.journal, TELL, trial=trial, value=value))

    def abandon(self, id: int) -> None:
        """The reward of a trial will never come; it does not count. Twice is once."""
        trial = whole_number("id", id, 0)
        with self._writing() as (known, draft):
            status = self._status(known.journal, trial)
            if status == TOLD:
                raise ConflictError(
                    f"trial {trial} was told {known.journal.reward_of[trial]!r}: it cannot be abandoned"
                )
            if status == PENDING:
                draft(_event(known.journal, ABANDON, trial=trial))

    # Arms

    def add_arm(self, name: str) -> None:
        """One more arm from now on, without rewards; an arm that was retired comes back with those it had."""
        checked_name("name", name)
        with self._writing() as (known, draft):
            names = known.journal.names
            arm = names.index(name) if name in names else len(names)
            if arm < len(names) and known.journal.active[arm]:
                raise ConflictError(f"the study has an arm {name!r}")
            draft(_event(known.journal, ARM, arm=arm, note=name))

    def retire_arm(self, name: str) -> None:
        """Never hand this arm out again; its pending trials may still be told, and its log stays. Twice is once."""
        with self._writing() as (known, draft):
            if name not in known.journal.names:
                raise NotFoundError(f"no arm {name!r} in the study {self.name!r}")
            arm = known.journal.names.index(name)
            if not known.journal.active[arm]:
                return
            if len(known.journal.active_arms()) == 1:
                raise ConflictError(f"{name!r} is the last arm: add another before you retire it")
            draft(_event(known.journal, RETIRE, arm=arm))

    @property
    def arms(self) -> list[str]:
        """Names of the arms that may be handed out."""
        journal = self._read()
        return [journal.names[arm] for arm in journal.active_arms()]

    # Looking

    @property
    def pending(self) -> list[Trial]:
        """Trials that were neither told nor abandoned, the oldest first."""
        with self._lock:
            journal = self._read()
            return [_trial(journal, trial) for trial in journal.pending]

    @property
    def best_arm(self) -> str | None:
        """The best arm so far among those that may be handed out; None before any reward.

        By the mean of its rewards, or by what the policy judges arms by: their CVaR for those of the CVaR family.
        """
        summary = self.summary()
        values = summary.loc[summary["active"], "value" if "value" in summary else "mean"].dropna()
        return None if values.empty else str(values.idxmax())

    def propensities(self) -> dict[str, float]:
        """For every arm the exact probability that it is in the next round; see ``docs/live.md``."""
        with self._lock:
            known = self._follow(partial(self.storage.read, self.name))
            chances = self._derive(lambda: known.decider.propensities(known.journal))
            self._known = known
            return dict(zip(known.journal.names, chances.tolist(), strict=True))

    def summary(self, level: float = 0.95, bounds: tuple[float, float] | None = None) -> "pd.DataFrame":
        """A row an arm: trials, mean and standard deviation of the rewards, an interval for the mean.

        With a policy that judges arms otherwise, a column ``value`` has that of each arm's rewards;
        ``.attrs["objective"]`` says what it is. For a CVaR ``value_low`` and ``value_high`` are the ends of its
        interval, and ``.attrs["value_interval"]`` says what it assumes.

        The interval holds at all times at once, however the arms were chosen; ``.attrs["interval"]`` names the
        method and what it assumes (``docs/live.md``). ``bounds`` are two numbers between which all rewards lie, where
        the policy does not know them.
        """
        with self._lock:
            return frames.summary(self._read(), self.policy, level, bounds)

    def trials_dataframe(self) -> "pd.DataFrame":
        """A row a trial: arm, propensity, round, status, reward, times."""
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
            return estimate(self._events(), choice, self.seed)
        if not isinstance(objective, CVaR):
            raise ArgumentError("objective", "Mean() or CVaR(level)", objective)
        limits = checked_bounds(bounds, self.policy, self._read().told_rewards)
        return estimate_cvar(self._events(), choice, self.seed, objective, limits, confidence)

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Decide everything again from the stored events and compare with what was recorded.

        ``progress(done, total)`` is called now and then, with numbers of events.
        """
        return replay(self._events(), Decider(self.policy, self.seed), progress)

    # Within

    def _read(self) -> Journal:
        """The journal with what others have added."""
        with self._lock:
            return self._follow(partial(self.storage.read, self.name)).journal

    def _events(self) -> Sequence[Event]:
        return self.storage.read(self.name, data=True)

    # While ``_known`` is changed it is nobody's: whatever is raised meanwhile, by a signal handler for one, leaves
    # None behind, and the next call derives all of it again.

    def _follow(self, read: Callable[[int], Sequence[Event]]) -> "_Known":
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
        self._known = known
        return known

    def _nothing(self) -> "_Known":
        return _Known(Journal(), Decider(self.policy, self.seed))

    def _check_settings(self) -> None:
        """Is the stored study of this name still this one?"""
        stored = self.storage.settings(self.name)
        if stored is None:
            raise NotFoundError(f"no study {self.name!r} in {self.storage.url!r} any more")
        if (stored["policy"], stored["seed"]) != (describe(self.policy), str(self.seed)):
            raise ConflictError(f"the study {self.name!r} was replaced by another one of this name: load it again")

    def _derive(self, work: Callable[[], T]) -> T:
        """The answer of work on what is known, which is to be put back when all went well."""
        self._known = None
        return undisturbed(work)

    @contextmanager
    def _writing(self) -> Iterator[tuple["_Known", Callable[[Event], None]]]:
        """Take the study, take note of what others did; drafted events are stored at the end, all or none."""
        drafted: list[Event] = []
        over = False
        with self._lock:
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

    def _status(self, journal: Journal, trial: int) -> str:
        if trial >= len(journal.arm_of):
            raise NotFoundError(f"no trial {trial} in the study {self.name!r}: {len(journal.arm_of)} were handed out")
        return journal.status(trial)

    def _is_news(self, journal: Journal, trial: int, value: float) -> bool:
        status = self._status(journal, trial)
        if status == ABANDONED:
            raise ConflictError(f"trial {trial} was abandoned: it takes no reward")
        if status == TOLD and journal.reward_of[trial] != value:
            raise ConflictError(f"trial {trial} was told {journal.reward_of[trial]!r} (now {value!r})")
        return status == PENDING


class _Known(NamedTuple):
    """What was derived from the events so far."""

    journal: Journal
    decider: Decider


def _event(journal: Journal, kind: int, **fields: Any) -> Event:
    return Event(journal.last + 1, kind, at=time.time(), **fields)


def _next(known: _Known, trial: int) -> Event:
    """The ask that hands out the next arm of the round, or the first one of a new round."""
    journal, decider = known
    if journal.rest:
        arm, chance = journal.rest[0]
        return _event(journal, ASK, trial=trial, arm=arm, value=chance)
    arms, chances = decider.decide(journal, trial)
    return _event(
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
