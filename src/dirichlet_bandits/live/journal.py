"""What the events of a study say: its arms, its trials, the round that is being handed out, the rewards told.

Everything here follows from the events alone; the policy comes in only with ``decider.py``.
"""

import json
from collections.abc import Iterable
from typing import Final

from dirichlet_bandits.errors import FormatError
from dirichlet_bandits.storage.events import ABANDON, ARM, ASK, RETIRE, TELL, Event

PENDING: Final = "pending"
TOLD: Final = "told"
ABANDONED: Final = "abandoned"


class Journal:
    """The study as of its last event.

    Arms and trials are known by their numbers, in the order in which they came. The lists ``told_*`` hold the
    rewards in the order in which they were told.
    """

    def __init__(self) -> None:
        self.last = -1
        self.names: list[str] = []
        self.active: list[bool] = []
        self.n_told: list[int] = []
        self.n_pending: list[int] = []
        self.arm_of: list[int] = []
        self.round_of: list[int] = []
        self.propensity_of: list[float] = []
        self.asked_at: list[float] = []
        self.ended_at: dict[int, float] = {}
        self.reward_of: dict[int, float] = {}
        self.pending: dict[int, None] = {}  # a set that keeps the order
        self.rest: list[tuple[int, float]] = []  # what the round still has to hand out: arms and propensities
        self.told_arms: list[int] = []
        self.told_rewards: list[float] = []
        self.told_numbers: list[int] = []

    def status(self, trial: int) -> str:
        """Whether a trial waits, was told or was abandoned."""
        if trial in self.reward_of:
            return TOLD
        return PENDING if trial in self.pending else ABANDONED

    def active_arms(self) -> list[int]:
        """The arms that may be handed out."""
        return [arm for arm, active in enumerate(self.active) if active]

    def known_arms(self) -> list[int]:
        """The active arms with a reward: those that the policy chooses from."""
        return [arm for arm, active in enumerate(self.active) if active and self.n_told[arm]]

    def opening(self) -> list[int]:
        """The arms that come next before the policy is asked: those never tried; all until two have a reward.

        Pending trials count as tries, abandoned ones do not. While every arm has been tried and fewer than two
        have a reward, the arms with the fewest tries are handed out once more.
        """
        arms = self.active_arms()
        tries = [self.n_told[arm] + self.n_pending[arm] for arm in arms]
        least = min(tries)
        if least > 0 and sum(self.n_told[arm] > 0 for arm in arms) > 1:
            return []
        return [arm for arm, tried in zip(arms, tries, strict=True) if tried == least]

    def apply(self, events: Iterable[Event]) -> None:
        """Take note of the next events."""
        for event in events:
            if event.number != self.last + 1:
                raise FormatError(f"event {self.last + 1} of the study is missing: the storage is damaged")
            kind, trial = event.kind, event.trial
            if kind == ASK:
                self._ask(event)
            elif kind == TELL:
                assert trial is not None
                assert event.value is not None
                arm = self.arm_of[trial]
                del self.pending[trial]
                self.n_pending[arm] -= 1
                self.n_told[arm] += 1
                self.reward_of[trial] = event.value
                self.ended_at[trial] = event.at
                self.told_arms.append(arm)
                self.told_rewards.append(event.value)
                self.told_numbers.append(event.number)
            elif kind == ABANDON:
                assert trial is not None
                del self.pending[trial]
                self.n_pending[self.arm_of[trial]] -= 1
                self.ended_at[trial] = event.at
            elif kind in (ARM, RETIRE):
                self._change_arms(event)
            else:
                raise FormatError(f"event {event.number} has kind {kind}, unknown to this version")
            self.last = event.number

    def _ask(self, event: Event) -> None:
        trial, arm, value = event.trial, event.arm, event.value
        assert trial is not None
        assert arm is not None
        assert value is not None
        if self.rest:  # the round goes on
            self.rest.pop(0)
            self.round_of.append(self.round_of[-1])
        else:
            self.rest = json.loads(event.note) if event.note else []
            self.round_of.append(trial)
        self.arm_of.append(arm)
        self.propensity_of.append(value)
        self.asked_at.append(event.at)
        self.pending[trial] = None
        self.n_pending[arm] += 1

    def _change_arms(self, event: Event) -> None:
        assert event.arm is not None
        self.rest = []  # the round ends: what was not handed out of it never will be
        if event.kind == RETIRE:
            self.active[event.arm] = False
        elif event.arm < len(self.names):  # an arm that was retired comes back
            self.active[event.arm] = True
        else:
            self.names.append(str(event.note))
            self.active.append(True)
            self.n_told.append(0)
            self.n_pending.append(0)
