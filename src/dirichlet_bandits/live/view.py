"""What decisions and statistics see of a study: its arms, counts, rounds and counted rewards, whole or of a segment.

A view does not apply events itself. ``journal.py`` does, and tells the view of its segment what happens to a trial.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dirichlet_bandits.engine.tally import untried_arms
from dirichlet_bandits.live.floors import all_floors
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.types import Floats

if TYPE_CHECKING:
    from dirichlet_bandits.live.journal import Journal


class Told(NamedTuple):
    """The rewards that count as lists, in the order in which they were reported."""

    arms: list[int]
    rewards: list[float]
    numbers: list[int]  # of the events that reported them
    trials: list[int]
    asked: list[int]  # the number of trials when each was reported

    def by_arm(self, n_arms: int) -> list[Floats]:
        """Return the rewards of each arm."""
        arms, rewards = np.array(self.arms, np.int64), np.array(self.rewards, np.float64)
        return [rewards[arms == arm] for arm in range(n_arms)]


class StudyView:
    """Arms and trials are known by their numbers, in the order in which they came.

    When a reward that counts is taken back or replaced, ``revision`` changes: it is the number of the last event that
    did so.
    """

    whole: "Journal"  # the view of the whole study

    def __init__(self, names: list[str], active: list[bool]) -> None:
        self.names = names  # these two lists are the same for all views of a study
        self.active = active
        self.floor: float | dict[str, float] = 0.0  # see floors.py
        self.lateness: Lateness | None = None
        self.since = [0] * len(names)  # number of trials before the arm was added
        self.n_told = [0] * len(names)
        self.n_pending = [0] * len(names)
        self.arm_of: list[int] = []
        self.pending: dict[int, None] = {}  # a set that keeps the order
        self.repeats: set[int] = set()  # trials of a unit after its first, which do not count
        self.rest: list[tuple[int, float]] = []  # what the round has yet to assign: arms and propensities
        self.round = -1  # the first trial of the current one, as the study numbers it
        self.revision = -1
        self._told: Told | None = Told([], [], [], [], [])  # None: to be listed again
        self.views: dict[str, SegmentView] = {}  # of the segments that have trials, if this is the whole study

    @property
    def told(self) -> Told:
        """The rewards that count, as lists in the order in which they were reported."""
        # Listed on demand, not at each revision, so that opening a study with many revisions takes linear time.
        if self._told is None:
            rows = list(self._rows())
            self._told = Told(*map(list, zip(*rows, strict=True))) if rows else Told([], [], [], [], [])
        return self._told

    def _rows(self) -> Iterable[tuple[int, float, int, int, int]]:
        """Return the rewards that count as the rows of :class:`Told`."""
        raise NotImplementedError

    def tell(self, event: int, trial: int, arm: int, reward: float) -> None:
        """Add a reward that counts after all others, reported by the event of this number."""
        self.n_pending[arm] -= 1
        self.n_told[arm] += 1
        if self._told is not None:
            arms, rewards, numbers, trials, asked = self._told
            arms.append(arm)
            rewards.append(reward)
            numbers.append(event)
            trials.append(trial)
            asked.append(len(self.arm_of))

    def list_again(self, event: int) -> None:
        """List the rewards again, because the event of this number has changed one."""
        self.revision, self._told = event, None

    def siblings(self) -> "Sequence[StudyView]":
        """Return the views of the other segments, if this is of one."""
        return ()

    def numbered(self, trials: AbstractSet[int]) -> AbstractSet[int]:
        """Return those of some trials of the study that are in this view, as it numbers them."""
        return trials

    def id(self, trial: int) -> int:
        """Return the number in the study of a trial of this view."""
        return trial

    def add(self, trial: int, arm: int, counts: bool) -> None:
        """Add a pending trial."""
        self.arm_of.append(arm)
        self.pending[trial] = None
        if counts:
            self.n_pending[arm] += 1
        else:
            self.repeats.add(trial)

    def wait_again(self, trial: int) -> None:
        """Put a trial back among the pending ones, the oldest first."""
        self.pending = dict.fromkeys(sorted([*self.pending, trial]))

    def add_arm(self) -> None:
        """Begin the counts of an arm whose name is new."""
        self.since.append(len(self.arm_of))
        self.n_told.append(0)
        self.n_pending.append(0)

    def active_arms(self) -> list[int]:
        """Return the arms that may be assigned."""
        return [arm for arm, active in enumerate(self.active) if active]

    def active_names(self) -> list[str]:
        """Return the names of the arms that may be assigned."""
        return [name for name, active in zip(self.names, self.active, strict=True) if active]

    def floors(self) -> Floats | None:
        """Return the floor of every arm, 0 for retired ones; None if no arm has one."""
        return all_floors(self.floor, self.names, self.active)

    def known_arms(self, past: Sequence[int] = ()) -> list[int]:
        """Return the active arms with a reward, present or past: those that the policy chooses from."""
        told = self._with_past(past)
        return [arm for arm, active in enumerate(self.active) if active and told[arm]]

    def _with_past(self, past: Sequence[int]) -> Sequence[int]:
        """Return the number of rewards of each arm, including past ones."""
        return [n + more for n, more in zip(self.n_told, past, strict=True)] if past else self.n_told

    def opening(self, past: Sequence[int] = ()) -> list[int]:
        """Return the arms that come before the policy decides: those never tried, or all until two have a reward.

        Pending trials count as tries, abandoned ones do not. While every arm has been tried and fewer than two
        have a reward, the arms with the fewest tries are assigned once more. Past rewards count as rewards, too.
        """
        arms, told = self.active_arms(), self._with_past(past)
        tries = [told[arm] + self.n_pending[arm] for arm in arms]
        return [arms[place] for place in untried_arms(tries, [told[arm] for arm in arms], 2)]


class SegmentView(StudyView):
    """The trials of one segment, numbered from 0; ``ids`` are their numbers in the study."""

    def __init__(self, whole: "Journal") -> None:
        super().__init__(whole.names, whole.active)
        self.whole = whole
        self.floor, self.lateness = whole.floor, whole.lateness
        self.ids: list[int] = []

    def number(self, trial: int) -> int:
        """Return the number in this segment of a trial of the study."""
        return bisect_left(self.ids, trial)

    def id(self, trial: int) -> int:
        """Return the number in the study of a trial of this segment."""
        return self.ids[trial]

    def siblings(self) -> Sequence[StudyView]:
        """Return the views of the other segments."""
        return [view for view in self.whole.views.values() if view is not self]

    def numbered(self, trials: AbstractSet[int]) -> AbstractSet[int]:
        """Return those of some trials of the study that are in this segment, as it numbers them."""
        return {self.number(trial) for trial in trials if self.whole.view_of.get(trial) is self}

    def _rows(self) -> Iterable[tuple[int, float, int, int, int]]:
        view_of = self.whole.view_of
        for arm, reward, event, trial, asked in zip(*self.whole.told, strict=True):
            if view_of.get(trial) is self:
                yield arm, reward, event, self.number(trial), self.number(asked)
