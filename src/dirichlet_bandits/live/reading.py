"""The methods of a study that do not change it."""

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, overload

from dirichlet_bandits.environments import CVaR, Mean, Objective
from dirichlet_bandits.inference.intervals import Bounds, are_finite
from dirichlet_bandits.inference.off_policy import Estimate
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate
from dirichlet_bandits.inference.winner import DELTA, Winner
from dirichlet_bandits.live import readings as ask
from dirichlet_bandits.live.fields import Choice
from dirichlet_bandits.live.local import local_of
from dirichlet_bandits.live.operation import Operation
from dirichlet_bandits.live.readings import CONFIDENCE, AuditEntry, AuditEvent, asked_cvar
from dirichlet_bandits.live.records import Trial
from dirichlet_bandits.live.replay import Replay
from dirichlet_bandits.live.settings import StudySettings
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.storage.events import Storage

if TYPE_CHECKING:
    import pandas as pd

R = TypeVar("R")


class Transport(Protocol):
    """Where the operations of a study are carried out: here, with its storage, or in a service."""

    settings: StudySettings
    identity: str

    @property
    def name(self) -> str:
        """The name of the study."""

    def do(self, operation: Operation[R], token: str | None = None) -> R:
        """Carry out an operation, and return its answer."""

    def rename(self, name: str, token: str | None) -> str:
        """Rename the study, and return the name that it has now."""

    def archive(self, archived: bool, token: str | None) -> None:
        """Leave the study out of the list of names, or put it back."""

    def trials(self) -> "pd.DataFrame":
        """Return one row per trial."""

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a file."""


class ReadableStudy:
    """The half of a :class:`Study` that reads: arms, trials, summaries, estimates, replay."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __bool__(self) -> bool:
        """Return True: a study is there, even without trials."""
        return True

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.policy!r}, {len(self.arms)} arms, {len(self)} trials>"

    def _repr_html_(self) -> str:
        from dirichlet_bandits.live.summary import study_html  # tables need pandas

        return study_html(self)

    def __len__(self) -> int:
        """Return the number of trials so far, including past trials that were added."""
        return self._transport.do(ask.ReadStudy()).trials

    # What the study was created with

    @property
    def name(self) -> str:
        """The name of the study."""
        return self._transport.name

    @property
    def identity(self) -> str:
        """What was drawn when the study was created, and no other study has; empty for older studies."""
        return self._transport.identity

    @property
    def storage(self) -> Storage:
        """Where the study is stored; a study of a service has no storage here."""
        return local_of(self).storage

    @property
    def settings(self) -> StudySettings:
        """What the study was created with; see :func:`create_study`."""
        return self._transport.settings

    @property
    def policy(self) -> Policy:
        """The policy that decides."""
        return self.settings.policy

    @property
    def seed(self) -> int:
        """The seed of all decisions."""
        return self.settings.seed or 0

    @property
    def direction(self) -> str:
        """Whether rewards are maximized, or costs minimized."""
        return self.settings.direction

    @property
    def control(self) -> str | None:
        """The arm that others are compared with."""
        return self.settings.control

    @property
    def reward_unit(self) -> str | None:
        """What rewards are measured in; only shown."""
        return self.settings.reward_unit

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments that learn separately; empty if there are none."""
        return tuple(self.settings.segments or ())

    @property
    def history(self) -> dict[str, list[float]] | None:
        """Past rewards with which the policy started."""
        history = self.settings.history
        return None if history is None else {arm: list(rewards) for arm, rewards in history.items()}

    @property
    def weight(self) -> float | None:
        """How much each past reward counts for decisions."""
        return self.settings.weight

    @property
    def borrow(self) -> float:
        """How much a reward counts for decisions in the other segments."""
        return self.settings.borrow or 0.0

    @property
    def bounds(self) -> Bounds | None:
        """Bounds of all rewards: those declared with the study, else those of its policy, else None."""
        return self.settings.limits if are_finite(self.settings.limits) else None

    @property
    def window(self) -> float | None:
        """Seconds after which a missing reward is late; None if there is no window."""
        return self.settings.window

    @property
    def late(self) -> float | Literal["abandon"] | None:
        """The reward that counts if none has come within the window, or ``"abandon"``; None without a window."""
        lateness = self.settings.lateness
        return None if lateness is None else lateness.as_given

    # Its present state

    @property
    def arms(self) -> list[str]:
        """Names of the active arms."""
        return self._transport.do(ask.ReadStudy()).arms

    @property
    def floor(self) -> float | dict[str, float]:
        """The minimal probability of each arm: one number for all arms, or numbers by name; 0 if there is no floor."""
        return self._transport.do(ask.ReadStudy()).floor

    @property
    def archived(self) -> bool:
        """Whether the study is archived."""
        return self._transport.do(ask.ReadArchived())

    @property
    def pending(self) -> list[Trial]:
        """The trials that are pending, oldest first."""
        return self._transport.do(ask.ReadPending())

    @property
    def best_arm(self) -> str | None:
        """The best active arm so far; None if no arm can be named yet.

        Arms are compared by the means of their rewards, or by the policy's own objective, such as the CVaR. An arm is
        named if it alone is the best of at least two and has ten rewards or more;
        ``summary().attrs["best_arm_reason"]`` gives the reason.
        """
        return self._transport.do(ask.ReadBestArm())

    def propensities(self, *, segment: str | None = None) -> dict[str, float]:
        """Return the exact probability that each arm is in the next round (of the segment); see ``docs/live.md``."""
        return self._transport.do(ask.ReadPropensities(segment))

    def summary(
        self, confidence: float = CONFIDENCE, bounds: tuple[float, float] | None = None, *, segment: str | None = None
    ) -> "pd.DataFrame":
        """Return one row per arm: trials, mean and standard deviation of the rewards, an interval for the mean.

        If the policy judges arms by another objective, which ``.attrs["objective"]`` names, the column ``value`` has
        it for each arm's rewards. For a CVaR, ``value_low`` and ``value_high`` are the ends of its interval, and
        ``.attrs["value_interval"]`` describes its assumptions.

        The intervals of all arms hold together, at all times at once, however the arms were chosen: with probability
        ``confidence``, none of them ever misses its mean. ``.attrs["interval"]`` names the method and what it assumes,
        and warns if a few rewards determine a mean (``docs/live.md``). Where there is no interval, ``no_interval``
        gives the reason. ``bounds`` are two numbers between which all rewards lie, where the policy does not declare
        them.

        ``lift_percent`` compares the mean with that of the control, or of the arm with the best mean if there is no
        control (``.attrs["compared_with"]``); ``probability_best`` is the posterior probability of having the best mean
        (``inference/probability_best.py``). ``.attrs["earned"]`` is the sum of all rewards, and
        ``.attrs["equal_split"]`` what it would be if all arms had been tried equally often, by the present means.
        ``.attrs["drift"]`` names the arms whose rewards do not look like one distribution any more; arms that do not
        change are ever named with a probability of at most 5% (``inference/drift.py``). Without bounds this is not
        tested.

        In a study with a window, ``late`` counts the trials whose rewards were missing when it closed, and ``held``
        those whose rewards count once it closes.

        With a ``segment``, the summary describes its trials alone. Without a ``segment``, in a study that has segments,
        the mean of an arm averages its means in the segments, weighted by their shares of all trials, and the interval
        is for this average.

        With a control, ``lift`` is the mean less that of the control, from ``lift_low`` to ``lift_high``: a confidence
        sequence of the difference (``inference/differences.py``). With probability ``confidence``, no lift ever leaves
        its interval.
        """
        return self._transport.do(ask.ReadSummary(confidence, bounds, segment))

    def winner(
        self, delta: float = DELTA, margin: float = 0.0, *, segment: str | None = None, over: str = "arms"
    ) -> Winner:
        """Name the winner of the study, or of a segment, or report what is missing.

        The probability of ever naming a wrong arm, however often you call, is at most ``delta``. An arm is wrong if its
        mean is not better than that of every other active arm less ``margin``. With a positive margin, in the unit of
        the rewards, the winner may be that much worse than the best arm; with a negative one, it must be that much
        better than all others. ``claim`` says what is claimed in one sentence. ``over="arms"`` assumes that differences
        between arms keep their sign, while the level of all arms may move in any way. ``over="rounds"`` claims that the
        winner was better on average over the rounds so far, whatever has changed; it takes longer, and needs bounds.
        Deterministic policies, imported trials and rewards without bounds assume more (``docs/live.md``). Print the
        result to read it; see :class:`Winner`.

        Nothing is stored: a later call may name no winner any more. :meth:`declare_winner` stores it, and it stays.

        In a study with segments, arms are compared within one ``segment``, with a probability ``delta`` of error each.

        >>> import numpy as np
        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
        >>> study.winner().arm is None
        True
        >>> trials, draws = study.ask(800), np.random.default_rng(0).random(800)
        >>> rewards = [x < {"red": 0.3, "blue": 0.6}[trial.arm] for trial, x in zip(trials, draws, strict=True)]
        >>> study.tell_many(trials, rewards)
        >>> study.winner().arm
        'blue'
        """
        return self._transport.do(ask.ReadWinner(delta, margin, segment, over))

    def trials_dataframe(self) -> "pd.DataFrame":
        """Return one row per trial: arm, propensity, round, status, reward, times, and whether its reward was late.

        The status ``held`` means that the reward counts when the window of its trial closes.

        For a trial that was voided or corrected, ``original`` is the first reward, ``reason`` the last reason, and
        ``revisions`` all rewards and reasons in order, as JSON: null is the reward of a voided trial. Past trials have
        no propensity if none was given.
        """
        return self._transport.trials()

    def events(self, *, trial: int | None = None, below: int | None = None, limit: int = 100) -> list[AuditEvent]:
        """Return what happened in the study, or to one trial, newest first, and which key of a service did it.

        These are the newest ``limit`` events; for earlier ones, pass the number of the last one as ``below``.
        ``study.audit_log()`` has what was done to the study as a whole.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.tell(study.ask(), 1.0)
        >>> [(event.what, event.arm, event.reward) for event in study.events(trial=0)]
        [('tell', 'blue', 1.0), ('ask', 'blue', None)]
        """
        return self._transport.do(ask.ReadEvents(trial, below, limit))

    def audit_log(self) -> list[AuditEntry]:
        """Return what was done to the study as a whole, newest first: it was created, renamed, archived.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.rename("home page")
        >>> [(entry.what, entry.study, entry.note) for entry in study.audit_log()]
        [('renamed', 'page', 'home page'), ('created', 'page', None)]
        """
        return self._transport.do(ask.ReadAuditLog())

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a ``.parquet`` or ``.csv`` file."""
        self._transport.export(path)

    @overload
    def estimate(
        self,
        choice: Choice,
        *,
        objective: Mean | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = CONFIDENCE,
    ) -> Estimate: ...

    @overload
    def estimate(
        self,
        choice: Choice,
        *,
        objective: CVaR,
        bounds: tuple[float, float] | None = None,
        confidence: float = CONFIDENCE,
    ) -> RiskEstimate: ...

    def estimate(
        self,
        choice: Choice,
        *,
        objective: Objective | None = None,
        bounds: tuple[float, float] | None = None,
        confidence: float = CONFIDENCE,
    ) -> Estimate | RiskEstimate:
        """Estimate from the log what another choice of arms would have earned per trial.

        ``choice`` is an arm, weights of arms, or a policy: what it would have done with the rewards known at
        each decision. See :class:`Estimate`. If bounds of all rewards are known, from the study or from ``bounds``,
        the estimate has an interval of this ``confidence``.

        With ``objective=CVaR(level)``, the result is the average over the bad rewards of the choice, with an interval
        of this ``confidence`` (:class:`RiskEstimate`). This needs bounds of all rewards: those of the policy, or
        ``bounds``.
        """
        goal = asked_cvar(objective)
        if goal is None:
            return self._transport.do(ask.EstimateMean(choice, bounds, confidence))
        return self._transport.do(ask.EstimateCVaR(choice, goal.level, bounds, confidence))

    def estimate_difference(
        self, a: str, b: str, *, bounds: tuple[float, float] | None = None, confidence: float = CONFIDENCE
    ) -> DifferenceEstimate:
        """Estimate by how much the rewards of arm ``a`` exceed those of arm ``b``, even if the arms change.

        The estimate uses the recorded propensities: it averages x/p(a) where a came, less x/p(b) where b came, over the
        rounds in which both could come. The interval holds at all times at once, whatever the distributions of the
        rewards and however they change within the bounds: those of the study, or ``bounds``. See
        :class:`DifferenceEstimate`.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], policy="EqualSplit", bounds=(0, 1), seed=1)
        >>> for trial in study.ask(2000):
        ...     study.tell(trial, float(trial.arm == "red"))
        >>> found = study.estimate_difference("red", "blue")
        >>> 0.8 < found.low < found.value <= found.high <= 1.0
        True
        """
        return self._transport.do(ask.EstimateDifference(a, b, bounds, confidence))

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Repeat every decision from the stored events and compare it with what was recorded.

        ``progress(done, total)`` is called from time to time, with numbers of events; a service does not call it.
        """
        repeat = ask.RepeatDecisions()
        if progress is not None:
            object.__setattr__(repeat, "progress", progress)
        return self._transport.do(repeat)
