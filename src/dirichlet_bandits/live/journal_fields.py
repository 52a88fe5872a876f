"""What the events of a study amount to: arms, trials, rewards and the current round, and questions about them.

``journal.py`` fills in the fields by applying the events.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from dirichlet_bandits.live.counted_rewards import Counted, Told
from dirichlet_bandits.live.event_notes import Established
from dirichlet_bandits.live.floors import all_floors
from dirichlet_bandits.live.lateness import Lateness
from dirichlet_bandits.types import Floats

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


class JournalFields:
    """A study as of its last event.

    Arms and trials are known by their numbers, in the order in which they came. When a reward that counts is
    taken back or replaced, ``revision`` changes: it is the number of the last event that did so.
    """

    def __init__(self) -> None:
        self.last = -1
        self.tail: tuple[Any, ...] = ()  # the last event, to recognize it later
        self.names: list[str] = []
        self.active: list[bool] = []
        self.floor: float | dict[str, float] = 0.0  # see floors.py
        self.since: list[int] = []  # number of trials before the arm was added
        self.n_told: list[int] = []
        self.n_pending: list[int] = []
        self.arm_of: list[int] = []
        self.round_of: list[int] = []
        self.round = -1  # the current one
        self.propensity_of: list[float] = []
        self.asked_at: list[float] = []
        self.ended_at: dict[int, float] = {}
        self.counted = Counted(self.arm_of)
        self.pending: dict[int, None] = {}  # a set that keeps the order
        self.trials_of: dict[str, list[int]] = {}  # by the token of their ask
        self.number_of: dict[str, int] = {}  # the first event of each other call with a token
        self.rest: list[tuple[int, float]] = []  # what the round has yet to assign: arms and propensities
        self.revision = -1
        self.voided: set[int] = set()
        self.history_of: dict[int, list[Revision]] = {}  # of trials voided or corrected, the first reward first
        self.past: set[int] = set()  # trials that were not decided here
        self.annotation_of: dict[int, dict[str, Any]] = {}
        self.winners: list[Established] = []
        self.segment_of: dict[int, str] = {}
        self.unit_of: dict[int, str] = {}
        self.assigned_by: dict[str, int] = {}  # the trial that assigned the present arm of each unit
        self.last_of: dict[str, int] = {}  # the last trial of each unit
        self.repeats: set[int] = set()  # trials of a unit after its first, which do not count
        self.aside: dict[int, float] = {}  # the rewards of these
        self.lateness: Lateness | None = None
        self.late: set[int] = set()  # trials whose rewards were missing when their windows closed
        self.held: dict[int, tuple[int, float]] = {}  # rewards that count when windows close, and their events' numbers
        self._n_closed = 0  # trials below have closed windows
        self._first_open = 0  # trials below are neither pending nor held

    def status(self, trial: int) -> str:
        """Return the status of a trial: pending, told, abandoned, voided, held or repeated."""
        if trial in self.reward_of:
            return TOLD
        if trial in self.held:
            return HELD
        if trial in self.aside:
            return REPEATED
        if trial in self.pending:
            return PENDING
        return VOIDED if trial in self.voided else ABANDONED

    @property
    def told(self) -> Told:
        """The rewards that count, as lists in the order in which they were reported."""
        return self.counted.listed()

    @property
    def reward_of(self) -> dict[int, float]:
        """The rewards that count, by trial."""
        return self.counted.reward_of

    def answer(self, trial: int) -> float | None:
        """Return the present reward of a trial, whether it counts already or is held; None if there is none."""
        if trial in self.held:
            return self.held[trial][1]
        return self.aside[trial] if trial in self.aside else self.reward_of.get(trial)

    def first_reward(self, trial: int) -> float | None:
        """Return the reward that was reported first, even if it was changed later; None if there is none."""
        return self.history_of[trial][0].reward if trial in self.history_of else self.reward_of.get(trial)

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
        least = min(tries)
        if least > 0 and sum(told[arm] > 0 for arm in arms) > 1:
            return []
        return [arm for arm, tried in zip(arms, tries, strict=True) if tried == least]

    def open_trials_asked_by(self, asked: float) -> list[int]:
        """Return the trials with open windows that were asked by this time, up to the first one asked later."""
        n = len(self.arm_of)
        while self._first_open < n and not self._is_waiting(self._first_open):
            self._first_open += 1
        found: list[int] = []
        for trial in range(self._first_open, n):
            if self._is_waiting(trial):
                if self.asked_at[trial] > asked:
                    break
                found.append(trial)
        return found

    def _is_waiting(self, trial: int) -> bool:
        return trial in self.pending or trial in self.held
