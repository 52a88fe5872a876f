"""The winner of a study: as its rewards establish it (``inference/winner.py``), or as it was named before.

A winner that was named is stored in the study and stays: the probability of error counts every time at which one
looked, and a winner that was withdrawn whenever the data wavered would be no promise. If the present rewards would no
longer establish it, ``note`` is set.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.environments import Mean
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.differences import sample
from dirichlet_bandits.inference.drift import drifting
from dirichlet_bandits.inference.forecast import Rates
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.inference.winner import ASSUMES, DELTA, Arms, Winner, find_winner
from dirichlet_bandits.live.direction import mirrored
from dirichlet_bandits.live.events import WinnerDeclared
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.policies import EqualSplit, Floored, Policy, TopTwo
from dirichlet_bandits.validation import finite_number, number_between

_KEEP_TRYING: Final = EqualSplit, Floored, TopTwo  # all others leave some arms behind, with what these earned early
_RECENT: Final = 0.5  # share of the latest trials from which present rates are computed


class Question(NamedTuple):
    """The probability of error, the margin, and the segment in which arms are compared."""

    delta: float = DELTA
    margin: float = 0.0
    segment: str | None = None


def winner(journal: Journal, policy: Policy, bounds: Bounds, direction: str, asked: Question) -> Winner:
    """Return the winner of a study, as it was established or as its rewards establish it now."""
    check_question(policy, asked)
    part = journal.of(asked.segment)
    found = replace(_judged(part, policy, bounds, direction, asked), assumes=assumed(journal, policy))
    before = established(journal, asked)
    if before is None:
        return found
    name, note = journal.names[before.arm], None
    if found.arm is None:
        note = f"the present rewards would not establish it ({found.reason})"
    elif found.arm != name:
        note = f"the present rewards would establish {found.arm} instead"
    words = f"established after {before.trials:,} trials"
    return replace(found, arm=name, established_at=before.trials, reason=words, note=note)


def assumed(journal: Journal, policy: Policy) -> str:
    """Return what a winner of a study assumes, in words."""
    floors = journal.floors()
    if isinstance(policy, _KEEP_TRYING) or (floors is not None and floors[journal.active_arms()].all()):
        return ASSUMES
    return f"{ASSUMES} and levels do not move (there is no floor)"


def check_question(policy: Policy, asked: Question) -> None:
    """Refuse a question for which no winner can be named."""
    number_between("delta", asked.delta, 0, 1)
    finite_number("margin", asked.margin)
    if not isinstance(policy.objective, Mean):
        expected = f"one that judges arms by their means: no winner is named by {policy.objective.name}"
        raise ArgumentError("policy", expected, policy)


def established(journal: Journal, asked: Question) -> WinnerDeclared | None:
    """Return the winner that was stored first for a question at least as strict as this one."""
    fits = (one for one in journal.winners if one.segment == asked.segment)
    return next((one for one in fits if one.delta <= asked.delta and one.margin <= asked.margin), None)


def _judged(journal: StudyView, policy: Policy, bounds: Bounds, direction: str, asked: Question) -> Winner:
    """Return the winner as the present rewards establish it."""
    rewards, turn = journal.told.by_arm(len(journal.names)), mirrored(direction, *bounds).turn
    active = journal.active_arms()
    arms = Arms(journal.names, journal.since, active, [sample(turn(x), bounds) for x in rewards])
    rates = _rates(journal, policy, active)
    found = find_winner(arms, float(asked.delta), float(asked.margin), len(journal.arm_of), rates)
    held = "" if found.leader is not None else _held(len(journal.numbered(journal.whole.held.keys())))
    changed = drifting(rewards, journal.since, bounds)
    return replace(found, reason=found.reason + held, drift=tuple(journal.names[arm] for arm in changed))


def _held(rewards: int) -> str:
    if rewards == 0:
        return ""
    return " (1 is held until its window closes)" if rewards == 1 else f" ({rewards:,} are held until windows close)"


def _rates(journal: StudyView, policy: Policy, active: Sequence[int]) -> Rates:
    """Return how often each active arm comes by the policy, as in the later half of the trials, and its floor."""
    counted = np.delete(np.array(journal.arm_of, np.int64), list(journal.repeats))
    recent = counted[int(_RECENT * counted.size) :]
    counts = np.bincount(recent, minlength=len(journal.names))[list(active)].astype(np.float64)
    every = journal.floors()
    floors = np.zeros(len(active)) if every is None else every[list(active)]
    by_policy = np.maximum(counts - recent.size * floors, 0.0)
    shares = by_policy / by_policy.sum() if by_policy.any() else np.full(len(active), 1.0 / len(active))
    return Rates(counted.size, shares, floors, fades=policy.guarantee not in ("linear", "none known"))
