"""The winner of a study: as its rewards establish it (``inference/winner.py``), or as it was named before.

A winner that was named is stored in the study and stays: the probability of error counts every time at which one
looked, and a winner that was withdrawn whenever the data wavered would be no promise. If the present rewards would no
longer establish it, ``note`` is set.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler.interrupts import shielded
from dirichlet_bandits.display.numbers import drift_words
from dirichlet_bandits.environments import Mean
from dirichlet_bandits.errors import ArgumentError, DirichletBanditsError
from dirichlet_bandits.inference.differences import (
    AVERAGE,
    CLAIMS,
    CLIPPED,
    COUNTS,
    DECIDED,
    LOTTERY,
    PAIR_BET,
    PAST,
    Evidence,
    WinnerMethod,
)
from dirichlet_bandits.inference.drift import drifting
from dirichlet_bandits.inference.forecast import Rates
from dirichlet_bandits.inference.intervals import Bounds, are_finite
from dirichlet_bandits.inference.winner import DELTA, Arms, Winner, find_winner
from dirichlet_bandits.live.direction import mirrored
from dirichlet_bandits.live.events import WinnerDeclared
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.records import TOLD
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.policies.propensity import propensities
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_number, number_between

ARMS: Final = "arms"
ROUNDS: Final = "rounds"
_RECENT: Final = 0.5  # share of the latest trials from which present rates are computed,
_LATEST: Final = 5000  # and most of them


class Question(NamedTuple):
    """The probability of error, the margin, the segment in which arms are compared, and over what they differ."""

    delta: float = DELTA
    margin: float = 0.0
    segment: str | None = None
    over: str = ARMS


class LotteryEvidence:
    """The evidence of a study or a segment, brought up to date with each round whose rewards are all known.

    The lottery rule takes rounds in the order in which they were decided, with the rewards that they have now. So it
    waits for the first trial whose reward may still come, whatever came after it. Rounds that a change of arms cut
    short are left out, and abandoned and voided trials have no reward. If a reward changes that was counted, everything
    is read again.
    """

    def __init__(self, policy: Policy, bounds: Bounds, direction: str, over: str) -> None:
        self._policy, self._bounds, self._turn = policy, bounds, mirrored(direction, *bounds).turn
        self._average = over == ROUNDS
        self._as_of: tuple[object, ...] = ()
        self.evidence = Evidence(0, bounds)

    def follow(self, view: StudyView) -> Evidence:
        """Return the evidence of all rounds so far."""
        as_of = view.whole, view.revision, view.whole.waited_again, len(view.names)
        if as_of != self._as_of:  # a journal that was derived again is another one
            self._as_of, self._read = as_of, 0
            self._decided: list[int] = []  # trials that were decided here, and do not count yet, in order
            self.evidence = Evidence(len(view.names), self._bounds, self._average)
        records = view.whole.records.trials
        new = [trial for trial in map(view.id, range(self._read, len(view.arm_of))) if trial not in view.whole.repeats]
        self._read = len(view.arm_of)
        self._decided += [trial for trial in new if not records[trial].past]
        self._add_apart(view, [trial for trial in new if records[trial].past], PAST)
        rounds: dict[int, list[int]] = {}
        for trial in self._decided:
            start = records[trial].round
            if view.whole.is_waiting(trial):
                rounds.pop(start, None)
                break
            if view.rest and start == view.round:
                break
            rounds.setdefault(start, []).append(trial)
        self._decided = self._decided[sum(map(len, rounds.values())) :]
        self._add_rounds(view, {start: rounds[start] for start in rounds if start in view.whole.records.chances_of})
        return self.evidence

    def waits(self, view: StudyView) -> str | None:
        """Say which rewards do not count yet; None if all do."""
        held = len(view.numbered(view.whole.held.keys()))
        if held:
            return "1 is held until its window closes" if held == 1 else f"{held:,} are held until windows close"
        told = sum(view.whole.records.trials[trial].status == TOLD for trial in self._decided)
        if not told:
            return None
        first = next((trial for trial in self._decided if view.whole.is_waiting(trial)), None)
        behind = "a round that is not finished" if first is None else f"trial {first}, which is pending"
        return f"{told:,} later {'reward waits' if told == 1 else 'rewards wait'} for {behind}"

    def _add_rounds(self, view: StudyView, rounds: dict[int, list[int]]) -> None:
        """Add complete rounds; what a deterministic policy decided for certain was not drawn by lottery."""
        if not rounds:
            return
        chances = np.zeros((len(rounds), len(view.names)))
        for row, start in enumerate(rounds):
            known = np.frombuffer(view.whole.records.chances_of[start], "<f8")
            chances[row, : known.size] = known
        certain = (chances == np.round(chances)).all(axis=1) & _is_certain(self._policy)
        trials = list(rounds.values())
        self._add_apart(view, [trial for k in np.flatnonzero(certain) for trial in trials[k]], DECIDED)
        drawn = np.flatnonzero(~certain)
        ids = [trial for k in drawn for trial in trials[k]]
        rows = np.repeat(np.arange(drawn.size), [len(trials[k]) for k in drawn])
        self.evidence.add_rounds(chances[drawn], rows, *self._told(view, ids))

    def _add_apart(self, view: StudyView, trials: list[int], source: str) -> None:
        told = [trial for trial in trials if view.whole.records.trials[trial].status == TOLD]
        self.evidence.add_apart(*self._told(view, told), source)

    def _told(self, view: StudyView, trials: list[int]) -> tuple[Ints, Floats]:
        """Return the arms of some trials, and their rewards, NaN if they have none; large ones are good."""
        records = [view.whole.records.trials[trial] for trial in trials]
        rewards = [one.reward if one.status == TOLD else np.nan for one in records]
        return np.array([one.arm for one in records], np.int64), self._turn(np.array(rewards, np.float64))


def _propensities(policy: Policy, histories: list[list[float]]) -> Floats:
    return propensities(policy, histories)


@lru_cache
def _is_certain(policy: Policy) -> bool:
    """Whether a policy decides without a lottery, except perhaps between arms that tie."""
    low, high = policy.reward_bounds
    low = low if np.isfinite(low) else min(0.0, high - 1.0)
    high = high if np.isfinite(high) else low + 1.0
    try:
        chances = shielded(_propensities, policy, [[low, high, low], [high, high, low, high]])
    except DirichletBanditsError:  # they depend on more than rewards
        return False
    return bool((chances == np.round(chances)).all())


def winner(
    journal: Journal,
    policy: Policy,
    bounds: Bounds,
    direction: str,
    asked: Question,
    followed: LotteryEvidence | None = None,
) -> Winner:
    """Return the winner of a study, as it was established or as its rewards establish it now."""
    check_question(policy, bounds, asked)
    followed = followed or LotteryEvidence(policy, bounds, direction, asked.over)
    view = journal.of(asked.segment)
    found = _judged(view, followed.follow(view), policy, bounds, asked)
    if found.arm is None and (waits := followed.waits(view)) is not None:
        found = replace(found, reason=f"{found.reason} ({waits})", waits=waits)
    before = established(journal, asked)
    if before is None:
        return found
    name, note = journal.names[before.arm], None
    if found.arm is None:
        note = f"the present rewards would not establish it ({found.reason})"
    elif found.arm != name:
        note = f"the present rewards would establish {found.arm} instead"
    words, claim = f"established after {before.trials:,} trials", claimed(before)
    found = replace(found, arm=name, established_at=before.trials, reason=words, note=note)
    return replace(found, proved=before.proved, method=claim.method, assumes=claim.assumes)


def claim_of(found: Winner) -> str:
    """Return the name of what a winner claims, as it is stored."""
    return next(claim.name for claim in CLAIMS.values() if claim.method == found.method)


def claimed(winner: WinnerDeclared) -> WinnerMethod:
    """Return what a stored winner claims; those of earlier versions were named by counts."""
    if winner.claim is not None:
        return CLAIMS[winner.claim]
    return PAIR_BET._replace(method="statistic of the counts, of an earlier version") if winner.proved else COUNTS


def check_question(policy: Policy, bounds: Bounds, asked: Question) -> None:
    """Refuse a question for which no winner can be named."""
    if asked.over == ROUNDS and not are_finite(bounds):
        raise ArgumentError("over", f"{ARMS!r} in a study without bounds", asked.over)
    number_between("delta", asked.delta, 0, 1)
    finite_number("margin", asked.margin)
    if not isinstance(policy.objective, Mean):
        expected = f"one that judges arms by their means: no winner is named by {policy.objective.name}"
        raise ArgumentError("policy", expected, policy)


def established(journal: Journal, asked: Question) -> WinnerDeclared | None:
    """Return the winner that was stored first for a question at least as strict as this one."""
    average = asked.over == ROUNDS
    fits = (one for one in journal.winners if one.segment == asked.segment and (one.claim == AVERAGE.name) == average)
    return next((one for one in fits if one.delta <= asked.delta and one.margin <= asked.margin), None)


def _judged(journal: StudyView, evidence: Evidence, policy: Policy, bounds: Bounds, asked: Question) -> Winner:
    """Return the winner as the present rewards establish it."""
    rewards = None if evidence.bounded else journal.told.by_arm(len(journal.names))
    active = journal.active_arms()
    arms = Arms(journal.names, journal.since, active, evidence.samples(rewards), evidence)
    rates = _rates(journal, policy, active)
    found = find_winner(arms, float(asked.delta), float(asked.margin), len(journal.arm_of), rates)
    if evidence.claim in (LOTTERY, AVERAGE, CLIPPED):
        return found
    changed = [journal.names[arm] for arm in drifting(journal.told.by_arm(len(journal.names)), journal.since, bounds)]
    if changed and found.arm is not None and evidence.claim is COUNTS:
        found = replace(found, arm=None, more=None, reason=f"{found.arm} leads, but {drift_words(changed)}")
    return replace(found, drift=tuple(changed))


def _rates(journal: StudyView, policy: Policy, active: Sequence[int]) -> Rates:
    """Return how often each active arm comes by the policy, as in the later half of the trials, and its floor."""
    trials, n = len(journal.arm_of), len(journal.arm_of) - len(journal.repeats)
    latest = (journal.arm_of[trial] for trial in range(trials - 1, -1, -1) if trial not in journal.repeats)
    recent = np.fromiter(islice(latest, min(n - int(_RECENT * n), _LATEST)), np.int64)
    counts = np.bincount(recent, minlength=len(journal.names))[list(active)].astype(np.float64)
    every = journal.floors()
    floors = np.zeros(len(active)) if every is None else every[list(active)]
    by_policy = np.maximum(counts - recent.size * floors, 0.0)
    shares = by_policy / by_policy.sum() if by_policy.any() else np.full(len(active), 1.0 / len(active))
    return Rates(n, shares, floors, fades=policy.guarantee not in ("linear", "none known"))
