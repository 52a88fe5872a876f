"""Repeat every decision of a study: does what was recorded follow from the events?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.live.decider import VERSION, Decider
from dirichlet_bandits.live.event_notes import Asked, read_ask
from dirichlet_bandits.live.interrupts import walk
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.storage.damage import intact
from dirichlet_bandits.storage.events import ASK, Row
from dirichlet_bandits.types import Floats

AS_NOW: Final = 4
"""The first version of the rules that read events as this one does; see :data:`decider.VERSION`."""

AGREEMENT: Final = 1e-9
"""Propensities come out again to this: kept sums may have been rounded in another order in another process."""

_SHOWN: Final = 20


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
    old = [event.number for event in events if event.kind == ASK and event.data and (event.decider or 1) < AS_NOW]
    journal = Journal(as_before=bool(old))

    def look(event: Row) -> None:
        nonlocal trials, rounds, n_wrong, journal, decider
        if old[-1:] == [event.number - 1]:
            journal, decider = Journal(), decider.fresh()
            journal.apply(events[: event.number])
        if event.kind == ASK:
            if not journal.names:
                raise FormatError(f"event {event.number} asks before there are arms: the storage is damaged")
            trials += 1
            with intact("the study"):
                asked = read_ask(event.note)
            part = journal.of(asked.segment)
            if event.trial != len(journal.arm_of):
                wrong = f"should be numbered {len(journal.arm_of)}"
            elif asked.first is None and part.rest:
                wrong = _check_rest(part, event)
            else:
                wrong = "" if asked.first is None else _check_unit(journal, event, asked)
                if asked.first is None or event.decider is not None:
                    wrong = wrong or _check_round(part, decider.of(asked.segment), event)
                    rounds += 1
            n_wrong += bool(wrong)
            if wrong and len(words) < _SHOWN:
                words.append(f"trial {event.trial}: {wrong}")
        journal.apply([event])

    walk(events, look, progress)
    return Replay(trials, rounds, n_wrong, tuple(words))


def _check_unit(journal: Journal, event: Row, asked: Asked) -> str:
    first = journal.assigned_by.get(str(asked.unit))
    if first is None or first != asked.first:
        return f"repeats trial {asked.first} for unit {asked.unit!r}, whose first is {first}"
    if event.decider is not None:  # it was assigned again
        return ""
    same = (event.arm, event.value) == (journal.arm_of[first], journal.propensity_of[first]) and event.data is None
    return "" if same else f"recorded arm {event.arm}, that of the unit is {journal.arm_of[first]}"


def _check_rest(journal: Journal, event: Row) -> str:
    arm, chance = journal.rest[0]
    same = event.arm == arm and event.value == chance and event.data is None
    return "" if same else f"recorded arm {event.arm}, the round continues with {arm}"


def _check_round(journal: Journal, decider: Decider, event: Row) -> str:
    wrong = _differences(journal, decider, event)
    version = event.decider or 1
    if not wrong or version == VERSION:
        return wrong
    return f"{wrong} (decided by version {version} of the rules, replayed by version {VERSION})"


def _differences(journal: Journal, decider: Decider, event: Row) -> str:
    trial = event.trial or 0
    version = event.decider or 1
    arms, chances = decider.decide(journal, trial, version)
    with intact("the study"):
        asked = read_ask(event.note)
        recorded = [event.arm, *(arm for arm, _ in asked.rest)]
    if asked.first is not None:  # only the first arm of such a round is assigned
        arms = arms[:1]
    if recorded != arms and version == 1:  # another process than before may have taken over: it had drawn nothing yet
        arms, chances = decider.decide(journal, trial)
    with intact("the study"):
        return _compare(event, recorded, arms, chances)


def _compare(event: Row, recorded: list[int | None], arms: list[int], chances: Floats) -> str:
    if recorded != arms:
        return f"recorded arms {recorded}, replayed {arms}"
    stored = np.frombuffer(event.data or b"", "<f8")
    if stored.shape != chances.shape or not np.allclose(stored, chances, rtol=AGREEMENT, atol=1e-300):
        return f"recorded propensities {stored.tolist()}, replayed {chances.tolist()}"
    if event.value is None or not math.isclose(event.value, stored[arms[0]], rel_tol=0.0):
        return f"recorded propensity {event.value} for its arm, {stored[arms[0]]} among all"
    for arm, chance in read_ask(event.note).rest:
        if chance != stored[arm]:
            return f"recorded propensity {chance} for arm {arm} of the round, {stored[arm]} among all"
    return ""
