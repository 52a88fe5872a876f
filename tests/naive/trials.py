"""The trials of a naive study, and what can be counted from them."""

import math
from dataclasses import dataclass, field

from dirichlet_bandits.errors import ArgumentError, NotFoundError


@dataclass
class Trial:
    id: int
    arm: str
    propensity: float
    round: int  # the first trial of its round
    asked_at: float
    segment: str | None = None
    unit: str | None = None
    counts: bool = True  # False for all trials of a unit but the first
    past: bool = False  # decided elsewhere
    state: str = "pending"  # then answered, abandoned or voided
    reward: float | None = None
    late: bool = False  # whether it had no reward when its window closed
    revisions: list = field(default_factory=list)  # the first reward, and each one after it, with its reason
    note: str | None = None
    attributes: dict = field(default_factory=dict)


class Trials:
    """The state of a study. Little is kept that can be counted from the trials."""

    def __init__(self, arms, policy="EqualSplit", direction="maximize", floor=None, segments=(), window=None, late=None,
                 history=None, weight=0.0, borrow=0.0, seed=None, bounds=(0.0, 1.0)):  # fmt: skip
        self.arms = dict.fromkeys(arms, True)  # all arms, and whether they are active
        self.policy, self.sign, self.segments = policy, 1 if direction == "maximize" else -1, segments
        self.window, self.late, self.history, self.weight, self.borrow = window, late, history or {}, weight, borrow
        self.floor, self.name, self.archived, self.now = floor or 0.0, "study", False, 0.0
        self.trials, self.homes, self.winners, self.calls, self.came = [], {}, {}, {}, []
        self.rounds = {}  # by segment: the first trial of the round, and what it has yet to assign, with propensities
        self.others, self.closed = {"taken"}, 0  # names of other studies; the windows of the trials below have closed

    def active(self):
        return [arm for arm, active in self.arms.items() if active]

    def status(self, trial):
        if trial.state == "answered" and trial.counts:
            return "held" if isinstance(self.late, float) and trial.id >= self.closed and not trial.past else "told"
        return "repeated" if trial.state == "answered" else trial.state

    def counting(self, arm, segment=None):
        """The trials of an arm that are not repeated; of all segments, if it is None."""
        return [t for t in self.trials if t.counts and t.arm == arm and segment in (None, t.segment)]

    def rewards(self, arm, segment=None):
        return [trial.reward for trial in self.counting(arm, segment) if self.status(trial) == "told"]

    def counts(self, arm, segment=None):
        """What became of the trials of an arm."""
        found = [self.status(trial) for trial in self.counting(arm, segment)]
        counts = {status: found.count(status) for status in ("told", "pending", "abandoned", "voided", "held")}
        return counts | {"late": sum(trial.late for trial in self.counting(arm, segment)), "active": self.arms[arm]}

    def mean(self, arm, segment=None):
        """The mean of the rewards; over all segments, as if each had tried the arm in proportion to all its trials."""
        mine = [trial.segment for trial in self.trials if trial.counts]
        if segment is None and self.segments and mine:
            return sum(self.mean(arm, one) * mine.count(one) / len(mine) for one in set(mine))
        rewards = self.rewards(arm, segment)
        return sum(rewards) / len(rewards) if rewards else math.nan

    def found(self, id):
        if id >= len(self.trials):
            raise NotFoundError("no such trial")
        return self.trials[id]

    def checked(self, reward):
        if not 0.0 <= reward <= 1.0:
            raise ArgumentError("reward", "within the bounds of the study", reward)
        return reward

    def check_segment(self, segment):
        if segment not in (self.segments or [None]):
            raise ArgumentError("segment", "one of the study's", segment)
