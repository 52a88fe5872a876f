"""What is known of one trial, one unit or one token of a study: look-ups, which keep all of it in memory for now.

Operations read a study through these look-ups and through the counts of its journal.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dirichlet_bandits.live.annotations import merged

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal

PENDING: Final = "pending"
TOLD: Final = "told"
ABANDONED: Final = "abandoned"
VOIDED: Final = "voided"
HELD: Final = "held"
REPEATED: Final = "repeated"


class Revision(NamedTuple):
    """A reward that a trial had at some time (None while it was voided), and the reason for the change to it."""

    reward: float | None
    reason: str | None


class TrialRecord(NamedTuple):
    """A trial: ``reward`` is its present one, whether it counts already or is held.

    ``revisions`` has all rewards of a trial that was voided or corrected, the first one first. ``asked_at`` and
    ``ended_at`` are in seconds since 1970, NaN if the trial is pending; ``past`` trials were not decided here.
    """

    arm: int
    status: str
    reward: float | None
    revisions: Sequence[Revision]
    late: bool
    segment: str | None
    unit: str | None
    propensity: float
    round: int
    asked_at: float
    ended_at: float
    past: bool
    annotation: Mapping[str, Any]

    @property
    def first_reward(self) -> float | None:
        """The reward that was reported first, even if it was changed later; None if there is none."""
        return self.revisions[0].reward if self.revisions else self.reward


class UnitRecord(NamedTuple):
    """A unit: the trial that assigned its present arm, and its last trial."""

    first: int
    last: int


class TokenRecord(NamedTuple):
    """What a call with a token did: it asked for, or added, ``trials``, or its first event has this ``number``."""

    trials: Sequence[int]
    number: int | None


class Records:
    """The look-ups of a study, and what they are made from, which events fill in."""

    def __init__(self, journal: "Journal") -> None:
        self._journal = journal
        self.round_of: list[int] = []
        self.chances_of: dict[int, bytes] = {}  # propensities of all arms, by the first trial of a round
        self.propensity_of: list[float] = []
        self.asked_at: list[float] = []
        self.ended_at: dict[int, float] = {}
        self.voided: set[int] = set()
        self.late: set[int] = set()  # trials whose rewards were missing when their windows closed
        self.aside: dict[int, float] = {}  # the rewards of trials that do not count
        self.past: set[int] = set()
        self._latest = -1  # round whose propensities are kept; often, the next one has the same
        self.last_at = -math.inf  # when the last trial was asked for, or ended
        self.history_of: dict[int, list[Revision]] = {}
        self.annotation_of: dict[int, dict[str, Any]] = {}
        self.segment_of: dict[int, str] = {}
        self.unit_of: dict[int, str] = {}
        self.assigned_by: dict[str, int] = {}
        self.last_of: dict[str, int] = {}
        self.trials_of: dict[str, list[int]] = {}  # by the token of their ask
        self.number_of: dict[str, int] = {}  # the first event of each other call with a token

    # What events do

    def add(self, propensity: float, start: int, at: float, past: bool = False, chances: bytes | None = None) -> None:
        """Add a trial of the round that began with the trial ``start``, with the propensities of all arms."""
        if chances is not None:
            before = self.chances_of.get(self._latest)
            self.chances_of[start] = before if before == chances else chances
            self._latest = start
        if past:
            self.past.add(len(self.round_of))
        self.propensity_of.append(propensity)
        self.round_of.append(start)
        self.asked_at.append(at)
        if at > self.last_at:
            self.last_at = at

    def end(self, trial: int, at: float) -> None:
        """Note when a trial ended."""
        self.ended_at[trial] = at
        if at > self.last_at:
            self.last_at = at

    def unend(self, trial: int) -> None:
        """Note that a trial has not ended after all."""
        del self.ended_at[trial]

    def miss(self, trial: int) -> None:
        """Note that the reward of a trial was missing when its window closed."""
        self.late.add(trial)

    def void(self, trial: int, at: float) -> None:
        """Note that a trial was voided."""
        self.voided.add(trial)
        self.end(trial, at)

    def unvoid(self, trial: int, at: float) -> bool:
        """Note that a trial has a reward again; return False if it was not voided."""
        if trial not in self.voided:
            return False
        self.voided.remove(trial)
        self.end(trial, at)
        return True

    def annotate(self, trial: int, said: Mapping[str, Any]) -> None:
        """Add to the annotation of a trial."""
        self.annotation_of[trial] = merged(self.annotation_of.get(trial, {}), said)

    def remember(self, token: str, number: int, asked: Sequence[int] | None) -> None:
        """Keep what a call with a token did, for a call that repeats it."""
        if asked is None:
            self.number_of.setdefault(token, number)
        else:
            self.trials_of.setdefault(token, []).extend(asked)

    # Look-ups

    def trial(self, trial: int) -> TrialRecord:
        """Return what is known of a trial."""
        return TrialRecord(
            self._journal.arm_of[trial],
            self.status(trial),
            self.answer(trial),
            self.history_of.get(trial, ()),
            trial in self.late,
            self.segment_of.get(trial),
            self.unit_of.get(trial),
            self.propensity_of[trial],
            self.round_of[trial],
            self.asked_at[trial],
            self.ended_at.get(trial, math.nan),
            trial in self.past,
            self.annotation_of.get(trial, {}),
        )

    def status(self, trial: int) -> str:
        """Return the status of a trial: pending, told, abandoned, voided, held or repeated."""
        journal = self._journal
        if trial in journal.reward_of:
            return TOLD
        if trial in journal.held:
            return HELD
        if trial in self.aside:
            return REPEATED
        if trial in journal.pending:
            return PENDING
        return VOIDED if trial in self.voided else ABANDONED

    def answer(self, trial: int) -> float | None:
        """Return the present reward of a trial, whether it counts already or is held; None if there is none."""
        journal = self._journal
        if trial in journal.held:
            return journal.held[trial][1]
        return self.aside[trial] if trial in self.aside else journal.reward_of.get(trial)

    def unit(self, name: str | None) -> UnitRecord | None:
        """Return what is known of a unit; None if it had no trial yet."""
        first = None if name is None else self.assigned_by.get(name)
        return None if name is None or first is None else UnitRecord(first, self.last_of[name])

    def token(self, token: str | None) -> TokenRecord | None:
        """Return what the call with a token did; None if there was none."""
        if token in self.number_of:
            return TokenRecord((), self.number_of[token])
        return TokenRecord(self.trials_of[token], None) if token in self.trials_of else None
