"""The methods of a study that do not change it."""

from collections.abc import Callable
from datetime import UTC, datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from dirichlet_bandits.arms import CVaR
from dirichlet_bandits.inference.off_policy import Estimate
from dirichlet_bandits.inference.off_policy_intervals import DifferenceEstimate
from dirichlet_bandits.inference.risk import RiskEstimate
from dirichlet_bandits.inference.winner import DELTA, Winner
from dirichlet_bandits.live import export, summary
from dirichlet_bandits.live.asking import checked_segment
from dirichlet_bandits.live.audit import MOST_ENTRIES, MOST_EVENTS, AuditEntry, AuditEvent, audit_entry, audit_event
from dirichlet_bandits.live.bounds import checked_bounds
from dirichlet_bandits.live.estimating import Choice, Estimating
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.off_policy import estimate_cvar, estimate_difference, estimate_mean
from dirichlet_bandits.live.replay import Replay, replay
from dirichlet_bandits.live.study_state import Following
from dirichlet_bandits.live.winner import Question, assumed, check_question, established, winner
from dirichlet_bandits.validation import whole_number

if TYPE_CHECKING:
    import pandas as pd

_MOST_ANSWERS: Final = 100
CONFIDENCE: Final = 0.95
"""Of the intervals in a summary, unless another one is given."""


class Trial(NamedTuple):
    """An arm that was assigned: try it, then tell the reward under this id.

    ``propensity`` is the exact probability with which the arm was to be in its round (see ``docs/live.md``).
    """

    id: int
    arm: str
    propensity: float
    asked_at: datetime
    segment: str | None = None
    unit: str | None = None


class ReadableStudy(Following, Estimating):
    """The half of a :class:`Study` that reads: arms, trials, summaries, estimates, replay."""

    _answered: tuple[Any, dict[Question, Winner]] | None = None  # as of which event, and winners by question

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {self.policy!r}, {len(self.arms)} arms, {len(self)} trials>"

    def _repr_html_(self) -> str:
        return summary.study_html(self)

    def __len__(self) -> int:
        """Return the number of trials so far, including past trials that were added."""
        return len(self._read().arm_of)

    @property
    def arms(self) -> list[str]:
        """Names of the active arms."""
        journal = self._read()
        return [journal.names[arm] for arm in journal.active_arms()]

    @property
    def window(self) -> float | None:
        """Seconds after which a missing reward is late; None if there is no window."""
        lateness = self._read().lateness
        return None if lateness is None else lateness.window

    @property
    def late(self) -> float | Literal["abandon"] | None:
        """The reward that counts if none has come within the window, or ``"abandon"``; None without a window."""
        lateness = self._read().lateness
        return None if lateness is None else lateness.as_given

    @property
    def archived(self) -> bool:
        """Whether the study is archived."""
        name = self.name
        archived = name in self.storage.names(archived=True)
        self._check_settings(self.storage.settings(name))
        return archived

    @property
    def pending(self) -> list[Trial]:
        """The trials that are pending, oldest first."""
        with self._lock:
            journal = self._read()
            return [trial_of(journal, trial) for trial in journal.pending]

    @property
    def best_arm(self) -> str | None:
        """The best active arm so far; None if no arm can be named yet.

        Arms are compared by the means of their rewards, or by the policy's own objective, such as the CVaR. An arm is
        named if it alone is the best of at least two and has ten rewards or more;
        ``summary().attrs["best_arm_reason"]`` gives the reason.
        """
        with self._lock:
            study = summary.Summarized(
                self._read(), self.policy, CONFIDENCE, self._direction, self.control, self._limits
            )
            return summary.best(study).arm

    def propensities(self, *, segment: str | None = None) -> dict[str, float]:
        """Return the exact probability that each arm is in the next round (of the segment); see ``docs/live.md``."""
        checked_segment(segment, self.segments)
        with self._lock:
            state = self._look()
            self._state = None  # the decider changes
            chances = state.decider.of(segment).propensities(state.journal.of(segment))
            self._state = state
            return dict(zip(state.journal.names, chances.tolist(), strict=True))

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
        if segment is not None:
            checked_segment(segment, self.segments)
        with self._lock:
            journal = self._read().of(segment)
            limits = checked_bounds(bounds, self._limits, journal.told.rewards)
            study = summary.Summarized(journal, self.policy, confidence, self._direction, self.control, limits)
            return summary.summary(study)

    def winner(self, delta: float = DELTA, margin: float = 0.0, *, segment: str | None = None) -> Winner:
        """Name the winner of the study, or of a segment, or report what is missing.

        If each arm's rewards keep one mean, the probability of ever naming a wrong arm, however often you call, is at
        most ``delta``; ``assumes`` says what else must hold. An arm is wrong if its mean is not better than that of
        every other active arm less ``margin``. With a positive margin, in the unit of the rewards, the winner may be
        that much worse than the best arm; with a negative one, it must be that much better than all others. With bounds
        of the rewards, this is proved. Without bounds, it holds in the limit of many rewards, and ``proved`` is False.
        Print the result to read it; see :class:`Winner`.

        A winner that is named is stored in the study, and stays: later calls return it with the number of trials at
        that time, and with a note if the present rewards would no longer establish it.

        In a study with segments, arms are compared within one ``segment``, with a probability ``delta`` of error each.

        >>> import numpy as np
        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], bounds=(0, 1), seed=1)
        >>> study.winner().arm is None
        True
        >>> rewards = np.random.default_rng(0).random((400, 2)) < [0.3, 0.6]
        >>> _ = study.add_trials({"arm": ["red", "blue"] * 400, "reward": rewards.astype(float).ravel()})
        >>> study.winner().arm
        'blue'
        """
        with self._lock:
            return self._winner(self._read(), Question(delta, margin, segment))

    def _named_winner(self, segment: str | None = None) -> tuple[str, int, str] | None:
        """Return the winner that was stored for the default question, after how many trials, and what it assumes."""
        with self._lock:
            journal = self._read()
        found = established(journal, Question(segment=segment))
        return None if found is None else (journal.names[found.arm], found.trials, assumed(journal, self.policy))

    def _winner(self, journal: Journal, question: Question) -> Winner:
        """Return the winner as of the journal's last event, for which each question is answered once.

        A dashboard asks every few seconds, and an answer takes one pass over all rewards.
        """
        checked_segment(question.segment, self.segments)
        check_question(self.policy, question)
        if self._answered is None or self._answered[0] != journal.tail or len(self._answered[1]) >= _MOST_ANSWERS:
            self._answered = journal.tail, {}
        answers = self._answered[1]
        if question not in answers:
            answers[question] = winner(journal, self.policy, self._limits, self.direction, question)
        return answers[question]

    def trials_dataframe(self) -> "pd.DataFrame":
        """Return one row per trial: arm, propensity, round, status, reward, times, and whether its reward was late.

        The status ``held`` means that the reward counts when the window of its trial closes.

        For a trial that was voided or corrected, ``original`` is the first reward, ``reason`` the last reason, and
        ``revisions`` all rewards and reasons in order, as JSON: null is the reward of a voided trial. Past trials have
        no propensity if none was given.
        """
        with self._lock:
            return export.trials(self._read())

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
        numbers = {"trial": trial, "below": below}
        asked = {name: None if value is None else whole_number(name, value, 0) for name, value in numbers.items()}
        with self._lock:
            found = self.storage.newest(self.name, whole_number("limit", limit, 1, MOST_EVENTS), **asked)
            journal = self._read()  # afterwards, so that it has all of these events
        return [audit_event(event, journal) for event in found]

    def audit_log(self) -> list[AuditEntry]:
        """Return what was done to the study as a whole, newest first: it was created, renamed, archived.

        >>> import dirichlet_bandits as db
        >>> study = db.create_study("page", arms=["red", "blue"], seed=1)
        >>> study.rename("home page")
        >>> [(entry.what, entry.study, entry.note) for entry in study.audit_log()]
        [('renamed', 'page', 'home page'), ('created', 'page', None)]
        """
        return [audit_entry(entry) for entry in self.storage.audit_log(MOST_ENTRIES, self.name)]

    def export(self, path: str | PathLike[str]) -> None:
        """Write the trials with the propensities of all arms to a ``.parquet`` or ``.csv`` file."""
        export.write(self._events(), path)

    def _estimate(self, choice: Choice, bounds: tuple[float, float] | None, confidence: float) -> Estimate:
        limits = checked_bounds(bounds, self._limits, self._read().told.rewards)
        return estimate_mean(self._events(), choice, self.seed, limits, confidence, self.direction)

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
        limits = checked_bounds(bounds, self._limits, self._read().told.rewards)
        return estimate_difference(self._events(), a, b, limits, confidence)

    def _estimate_cvar(
        self, choice: Choice, goal: CVaR, bounds: tuple[float, float] | None, confidence: float
    ) -> RiskEstimate:
        limits = checked_bounds(bounds, self._limits, self._read().told.rewards)
        return estimate_cvar(self._events(), choice, self.seed, goal, limits, confidence, self.direction)

    def replay(self, progress: Callable[[int, int], object] | None = None) -> Replay:
        """Repeat every decision from the stored events and compare it with what was recorded.

        ``progress(done, total)`` is called from time to time, with numbers of events.
        """
        return replay(self._events(), self._nothing().decider, progress)


def trial_of(journal: Journal, trial: int) -> Trial:
    """Return the trial with this number."""
    asked_at = datetime.fromtimestamp(journal.asked_at[trial], UTC)
    arm, segment, unit = journal.names[journal.arm_of[trial]], journal.segment_of.get(trial), journal.unit_of.get(trial)
    return Trial(trial, arm, journal.propensity_of[trial], asked_at, segment, unit)
