"""A study: ask which arm to try, tell what came of it."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from typing import Any, Final, NamedTuple, overload

import pandas as pd

from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from dirichlet_bandits.live import frames
from dirichlet_bandits.live.decider import Decider
from dirichlet_bandits.live.description import checked_name
from dirichlet_bandits.live.estimates import Estimate, estimate
from dirichlet_bandits.live.journal import ABANDONED, PENDING, TOLD, Journal
from dirichlet_bandits.live.replay import Replay, replay
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import ABANDON, ARM, ASK, RETIRE, TELL, Event, Storage
from dirichlet_bandits.validation import finite_number, whole_number

LARGEST_REWARD: Final = 1e100
"""Rewards beyond it are refused: sums of their squares would overflow, and what was told cannot be taken back."""


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
        self._lock = threading.RLock()
        self._forget()

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
        with self._writing() as draft:
            ids = self._journal.trials_of.get(token, []) if token is not None else []
            if ids and len(ids) != count:
                raise ConflictError(f"token {token!r} has asked for {len(ids)} trials (now {count})")
            if not ids:
                first = len(self._journal.arm_of)
                ids = list(range(first, first + count))
                for trial in ids:
                    draft(self._next(trial)._replace(token=token))
            trials = [self._trial(trial) for trial in ids]
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
        with self._writing() as draft:
            new = {trial: value for trial, value in told.items() if self._is_news(trial, value)}
            for trial, value in new.items():
                draft(self._event(TELL, trial=trial, value=value))

    def abandon(self, id: int) -> None:
        """The reward of a trial will never come; it does not count. Twice is once."""
        trial = whole_number("id", id, 0)
        with self._writing() as draft:
            status = self._status(trial)
            if status == TOLD:
                raise ConflictError(
                    f"trial {trial} was told {self._journal.reward_of[trial]!r}: it cannot be abandoned"
                )
            if status == PENDING:
                draft(self._event(ABANDON, trial=trial))

    # Arms

    def add_arm(self, name: str) -> None:
        """One more arm from now on, without rewards; an arm that was retired comes back with those it had."""
        checked_name("name", name)
        with self._writing() as draft:
            names = self._journal.names
            arm = names.index(name) if name in names else len(names)
            if arm < len(names) and self._journal.active[arm]:
                raise ConflictError(f"the study has an arm {name!r}")
            draft(self._event(ARM, arm=arm, note=name))

    def retire_arm(self, name: str) -> None:
        """Never hand this arm out again; its pending trials may still be told, and its log stays. Twice is once."""
        with self._writing() as draft:
            arm = self._arm(name)
            if not self._journal.active[arm]:
                return
            if len(self._journal.active_arms()) == 1:
                raise ConflictError(f"{name!r} is the last arm: add another before you retire it")
            draft(self._event(RETIRE, arm=arm))

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
            self._read()
            return [self._trial(trial) for trial in self._journal.pending]

    @property
    def best_arm(self) -> str | None:
        """The arm with the largest mean reward among those that may be handed out; None before any reward."""
        summary = self.summary()
        means = summary.loc[summary["active"], "mean"].dropna()
        return None if means.empty else str(means.idxmax())

    def propensities(self) -> dict[str, float]:
        """For every arm the exact probability that it is in the next round; see ``docs/live.md``."""
        with self._lock:
            journal = self._read()
            return dict(zip(journal.names, self._decider.propensities(journal).tolist(), strict=True))

    def summary(self, level: float = 0.95) -> pd.DataFrame:
        """A row an arm: trials, mean and standard deviation of the rewards, an interval for the mean.

        The interval holds at all times at once, however the arms were chosen; ``.attrs["interval"]`` names the
        method and what it assumes (``docs/live.md``).
        """
        with self._lock:
            return frames.summary(self._read(), self.policy, level)

    def trials_dataframe(self) -> pd.DataFrame:
        """A row a trial: arm, propensity, round, status, reward, times."""
        with self._lock:
            return frames.trials(self._read())

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a ``.parquet`` or ``.csv`` file."""
        frames.write(self._events(), path)

    def estimate(self, choice: "Policy | Mapping[str, float] | str") -> Estimate:
        """What another choice of arms would have earned a trial, judged from the log.

        ``choice`` is an arm, weights of arms, or a policy: what it would have done with the rewards known at
        each decision. See :class:`Estimate`.
        """
        return estimate(self._events(), choice, self.seed)

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Decide everything again from the stored events and compare with what was recorded.

        ``progress(done, total)`` is called now and then, with numbers of events.
        """
        return replay(self._events(), Decider(self.policy, self.seed), progress)

    # Within

    def _forget(self) -> None:
        self._journal = Journal()
        self._decider = Decider(self.policy, self.seed)

    def _read(self) -> Journal:
        """The journal with what others have added."""
        with self._lock:
            self._journal.apply(self.storage.read(self.name, self._journal.last))
            return self._journal

    def _events(self) -> Sequence[Event]:
        return self.storage.read(self.name, data=True)

    @contextmanager
    def _writing(self) -> Iterator[Callable[[Event], None]]:
        """Take the study, take note of what others did; drafted events are stored at the end, all or none."""
        drafted: list[Event] = []

        def draft(event: Event) -> None:
            drafted.append(event)
            self._journal.apply([event])

        with self._lock:
            try:
                with self.storage.transaction(self.name) as transaction:
                    self._journal.apply(transaction.read(self._journal.last))
                    yield draft
                    transaction.append(drafted)
            except BaseException:
                if drafted:  # not stored, or nobody knows: the storage will tell
                    self._forget()
                raise

    def _event(self, kind: int, **fields: Any) -> Event:
        return Event(self._journal.last + 1, kind, at=time.time(), **fields)

    def _next(self, trial: int) -> Event:
        """The ask that hands out the next arm of the round, or the first one of a new round."""
        journal = self._journal
        if journal.rest:
            arm, chance = journal.rest[0]
            return self._event(ASK, trial=trial, arm=arm, value=chance)
        arms, chances = self._decider.decide(journal, trial)
        return self._event(
            ASK,
            trial=trial,
            arm=arms[0],
            value=float(chances[arms[0]]),
            data=chances.astype("<f8").tobytes(),
            note=json.dumps([(arm, chances[arm]) for arm in arms[1:]]) if len(arms) > 1 else None,
        )

    def _trial(self, trial: int) -> Trial:
        journal = self._journal
        asked_at = datetime.fromtimestamp(journal.asked_at[trial], UTC)
        return Trial(trial, journal.names[journal.arm_of[trial]], journal.propensity_of[trial], asked_at)

    def _status(self, trial: int) -> str:
        if trial >= len(self._journal.arm_of):
            raise NotFoundError(
                f"no trial {trial} in the study {self.name!r}: {len(self._journal.arm_of)} were handed out"
            )
        return self._journal.status(trial)

    def _is_news(self, trial: int, value: float) -> bool:
        status = self._status(trial)
        if status == ABANDONED:
            raise ConflictError(f"trial {trial} was abandoned: it takes no reward")
        if status == TOLD and self._journal.reward_of[trial] != value:
            raise ConflictError(f"trial {trial} was told {self._journal.reward_of[trial]!r} (now {value!r})")
        return status == PENDING

    def _arm(self, name: str) -> int:
        try:
            return self._journal.names.index(name)
        except ValueError:
            raise NotFoundError(f"no arm {name!r} in the study {self.name!r}") from None
