"""Repeat every decision of a study: does what was recorded follow from the events?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import numpy as np

from dirichlet_bandits.compiler import shielded
from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.decider import VERSION, Decider
from dirichlet_bandits.live.events import Asked, event_of
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.live.view import StudyView
from dirichlet_bandits.storage.events import Row, intact
from dirichlet_bandits.types import Floats

AS_NOW: Final = 4
"""The first version of the rules that read events as this one does; see :data:`decider.VERSION`."""

AGREEMENT: Final = 1e-9
"""Propensities come out again to this: kept sums may have been rounded in another order in another process."""

_SHOWN: Final = 20
_STEP: Final = 1000
T = TypeVar("T")


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay: the numbers of trials and rounds, and the first differences in words."""

    trials: int
    rounds: int
    n_differences: int
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the replay reproduced every decision and propensity."""
        return self.n_differences == 0

    def __str__(self) -> str:
        head = f"{_counted(self.trials, 'trial')} in {_counted(self.rounds, 'round')}: "
        if self.same:
            return head + "every decision and every propensity came out again"
        return "\n".join([f"{head}{_counted(self.n_differences, 'difference')}", *self.differences])


def _counted(number: int, noun: str) -> str:
    """Return a number of things.

    >>> _counted(1, "round"), _counted(2, "round")
    ('1 round', '2 rounds')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def replay(events: Sequence[Row], decider: Decider, progress: Callable[[int, int], object] | None = None) -> Replay:
    """Replay events that were read with their data; ``decider`` is a fresh one with the study's seed."""
    trials, rounds, n_wrong, words = 0, 0, 0, list[str]()
    with intact("the study"):
        asks = ((row.number, event_of(row)) for row in events if row.data)
        old = [number for number, event in asks if isinstance(event, Asked) and (event.decider or 1) < AS_NOW]
        first_as_now = old[-1] + 1 if old else -1
    journal = Journal(as_before=bool(old))

    def look(row: Row) -> None:
        nonlocal trials, rounds, n_wrong, journal, decider
        if row.number == first_as_now:
            journal, decider = Journal(), decider.fresh()
            journal.apply(events[: row.number])
        with intact("the study"):
            asked = event_of(row)
        if isinstance(asked, Asked):
            if not journal.names:
                raise FormatError(f"event {row.number} asks before there are arms: the storage is damaged")
            trials += 1
            part = journal.of(asked.segment)
            if asked.trial != len(journal.arm_of):
                wrong = f"should be numbered {len(journal.arm_of)}"
            elif asked.first is None and part.rest:
                wrong = _check_rest(part, asked)
            else:
                wrong = "" if asked.first is None else _check_unit(journal, asked)
                if asked.first is None or asked.decider is not None:
                    wrong = wrong or _check_round(part, decider.of(asked.segment), asked)
                    rounds += 1
            n_wrong += bool(wrong)
            if wrong and len(words) < _SHOWN:
                words.append(f"trial {asked.trial}: {wrong}")
        journal.apply([row])

    walk(events, look, progress)
    return Replay(trials, rounds, n_wrong, tuple(words))


def walk(items: Sequence[T], look: Callable[[T], object], progress: Callable[[int, int], object] | None = None) -> None:
    """Call ``look`` for each item, shielded from interrupts, which may come only after every thousandth item.

    ``progress(done, total)`` is called then, too.
    """

    def look_at(some: Sequence[T]) -> None:
        for item in some:
            look(item)

    for first in range(0, len(items), _STEP):
        shielded(partial(look_at, items[first : first + _STEP]))
        if progress is not None:
            progress(min(first + _STEP, len(items)), len(items))


def _check_unit(journal: Journal, asked: Asked) -> str:
    known = journal.records.unit(asked.unit)
    first = None if known is None else known.first
    if first is None or first != asked.first:
        return f"repeats trial {asked.first} for unit {asked.unit!r}, whose first is {first}"
    if asked.decider is not None:  # it was assigned again
        return ""
    record = journal.records.trial(first)
    same = (asked.arm, asked.propensity) == (record.arm, record.propensity) and asked.propensities is None
    return "" if same else f"recorded arm {asked.arm}, that of the unit is {record.arm}"


def _check_rest(journal: StudyView, asked: Asked) -> str:
    arm, chance = journal.rest[0]
    same = asked.arm == arm and asked.propensity == chance and asked.propensities is None
    return "" if same else f"recorded arm {asked.arm}, the round continues with {arm}"


def _check_round(journal: StudyView, decider: Decider, asked: Asked) -> str:
    trial, version = asked.trial, asked.decider or 1
    arms, chances = decider.decide(journal, trial, version)
    recorded = [asked.arm, *(arm for arm, _ in asked.rest or ())]
    if asked.first is not None:  # only the first arm of such a round is assigned
        arms = arms[:1]
    if recorded != arms and version == 1:  # another process than before may have taken over: it had drawn nothing yet
        arms, chances = decider.decide(journal, trial)
    with intact("the study"):
        wrong = _compare(asked, recorded, arms, chances)
    rules = f" (decided by version {version} of the rules, replayed by version {VERSION})"
    return wrong + rules if wrong and version != VERSION else wrong


def _compare(asked: Asked, recorded: list[int], arms: list[int], chances: Floats) -> str:
    if recorded != arms:
        return f"recorded arms {recorded}, replayed {arms}"
    stored = np.frombuffer(asked.propensities or b"", "<f8")
    if stored.shape != chances.shape or not np.allclose(stored, chances, rtol=AGREEMENT, atol=1e-300):
        return f"recorded propensities {stored.tolist()}, replayed {chances.tolist()}"
    if asked.propensity is None or not math.isclose(asked.propensity, stored[arms[0]], rel_tol=0.0):
        return f"recorded propensity {asked.propensity} for its arm, {stored[arms[0]]} among all"
    for arm, chance in asked.rest or ():
        if chance != stored[arm]:
            return f"recorded propensity {chance} for arm {arm} of the round, {stored[arm]} among all"
    return ""
