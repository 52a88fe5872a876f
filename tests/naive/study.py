"""A live study in plain Python: what docs/live.md promises, one operation after the other. Slow, and meant to be read.

The methods of ``Study`` are the operations, made with ``study.call("tell", 0, 1.0)``. To add one, write a method: it may
raise at any point, because a refused call changes nothing. Little is kept that can be counted from the trials.

Arms are drawn at random, so this study does not draw: ``came`` has the arms that a real study has just assigned, and
``ask`` checks that each of them could come, with the probability that ``next_round.py`` expects.
"""

import copy
import math
from dataclasses import dataclass, field

from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from tests.naive.next_round import next_round, shares


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


class Questions:
    """The state of a study, and what follows from it."""

    def __init__(self, arms, policy="EqualSplit", direction="maximize", floor=None, segments=(), window=None, late=None,
                 history=None, weight=0.0, borrow=0.0, seed=None, bounds=(0.0, 1.0)):  # fmt: skip
        self.arms = dict.fromkeys(arms, True)  # all arms, and whether they are active
        self.policy, self.sign, self.segments = policy, 1 if direction == "maximize" else -1, segments
        self.window, self.late, self.history, self.weight, self.borrow = window, late, history or {}, weight, borrow
        self.floor, self.name, self.archived, self.now = floor or 0.0, "study", False, 0.0
        self.others = {"taken"}  # names of other studies
        self.trials, self.homes, self.winners, self.calls, self.came = [], {}, {}, {}, []
        self.rounds = {}  # by segment: the first trial of the round, and what it has yet to assign, with propensities
        self.closed = 0  # the windows of the trials below have closed

    def call(self, operation, *args, token=None, **named):
        """Close windows, act once for each token, and take everything back if the call is refused."""
        before = copy.deepcopy(vars(self))
        try:
            missing, this = self.close_windows(), (operation, args, named)
            made, answer = self.calls.get(token, (this, None))
            if made != this:
                raise ConflictError("the token of another call")
            if token is None or token not in self.calls:
                answer = missing if operation == "settle" else getattr(self, operation)(*args, **named)
                self.calls[token] = this, answer
            self.calls.pop(None, None)
            return answer
        except Exception:
            vars(self).update(before)
            raise

    def active(self):
        return [arm for arm, active in self.arms.items() if active]

    def pending(self):
        return [trial.id for trial in self.trials if trial.state == "pending"]

    def status(self, trial):
        if trial.state == "answered" and trial.counts:
            waits = isinstance(self.late, float) and trial.id >= self.closed and not trial.past
            return "held" if waits else "told"
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

    def close_windows(self):
        """Close the windows that have ended, oldest first; return the trials whose rewards are missing."""
        missing = []
        waiting = [trial for trial in self.trials if self.status(trial) in ("pending", "held")]
        for trial in waiting if self.window else ():
            if trial.asked_at + self.window > self.now:
                break
            self.closed = trial.id + 1
            if trial.state == "pending":
                missing.append(trial.id)
                trial.late, abandoned = True, self.late == "abandon"
                trial.state, trial.reward = ("abandoned", None) if abandoned else ("answered", self.late)
        return missing

    def found(self, id):
        if id >= len(self.trials):
            raise NotFoundError("no such trial")
        return self.trials[id]

    def check_segment(self, segment):
        if segment not in (self.segments or [None]):
            raise ArgumentError("segment", "one of the study's", segment)

    def checked(self, reward):
        if not 0.0 <= reward <= 1.0:
            raise ArgumentError("reward", "within the bounds of the study", reward)
        return reward

    def revise(self, id, state, reward, reason):
        trial = self.found(id)
        if trial.state in ("pending", "abandoned"):
            raise ConflictError("has no reward")
        if (trial.state, trial.reward) != (state, reward):
            trial.revisions = [*(trial.revisions or [(trial.reward, None)]), (reward, reason)]
            trial.state, trial.reward = state, reward

    def assign(self, segment, unit):
        """Return the trial of an ask: the waiting one of the unit, or a new one of its arm, or of the next arm."""
        mine = [trial for trial in self.trials if unit is not None and trial.unit == unit]
        if mine and mine[-1].state == "pending" and self.arms[mine[-1].arm]:
            return mine[-1].id
        id, segment = len(self.trials), mine[0].segment if mine else segment
        home = self.homes.get(unit)  # the trial that assigned the unit's arm
        if home and self.arms[home.arm]:
            arm, chance, first = home.arm, home.propensity, home.round
        else:
            first, rest = self.rounds.get(segment, (id, {}))
            if mine or not rest:  # a unit that needs another arm has a round of its own
                first, rest = id, next_round(self, segment)
            arm = self.came.pop(0)
            assert arm in rest, f"{arm} came, but only {list(rest)} could"
            chance, opening = rest[arm], set(rest.values()) == {1.0}  # in other rounds, the policies here choose one arm
            if not mine:
                self.rounds[segment] = first, {one: 1.0 for one in rest if opening and one != arm}
        self.trials.append(Trial(id, arm, chance, first, self.now, segment, unit, counts=not mine))
        if unit is not None and not (home and self.arms[home.arm]):
            self.homes[unit] = self.trials[id]
        return id


class Study(Questions):
    def ask(self, n=None, segment=None, unit=None):
        self.check_segment(segment)
        if n and unit:
            raise ArgumentError("n", "left out with a unit", n)
        ids = [self.assign(segment, unit) for _ in range(n or 1)]
        return ids if n else ids[0]

    def tell(self, id, reward, note=None, attributes=None):
        self.checked(reward)
        trial = self.found(id)
        if trial.state in ("abandoned", "voided") or trial.reward not in (None, reward):
            raise ConflictError("takes no reward, or has another one")
        trial.state, trial.reward = "answered", reward
        if note or attributes:
            self.annotate(id, note, attributes)

    def tell_many(self, ids, rewards):
        for id, reward in zip(ids, rewards, strict=True):
            self.tell(id, reward)

    def annotate(self, id, note=None, attributes=None):
        trial = self.found(id)
        trial.note = note or trial.note
        both = trial.attributes | (attributes or {})
        trial.attributes = {name: value for name, value in both.items() if value is not None}

    def abandon(self, id):
        trial = self.found(id)
        if trial.state in ("answered", "voided"):
            raise ConflictError("has, or had, a reward")
        trial.state = "abandoned"

    def reopen(self, id):
        trial = self.found(id)
        if trial.state in ("answered", "voided") or trial.late:
            raise ConflictError("was not abandoned, or its window has closed")
        trial.state = "pending"

    def void(self, id, reason):
        self.revise(id, "voided", None, reason)

    def correct(self, id, reward, reason=None):
        self.revise(id, "answered", self.checked(reward), reason)

    def add_trials(self, rows):
        if self.segments:
            raise ConflictError("past trials have no segments")
        for arm, reward in rows:
            if arm not in self.arms:
                raise NotFoundError("no such arm")
            told = {"past": True, "state": "answered", "reward": self.checked(reward)}
            self.trials.append(Trial(len(self.trials), arm, math.nan, len(self.trials), self.now, **told))
        return [trial.id for trial in self.trials[len(self.trials) - len(rows) :]]

    def settle(self):
        """Close windows, as every call does."""

    def add_arm(self, name):
        if self.arms.get(name) or sum(shares(self.floor, [*self.active(), name]).values()) > 1.0 + 1e-9:
            raise ConflictError("is there already, or has no room for its floor")
        self.arms[name], self.rounds = True, {}

    def retire_arm(self, name):
        if name not in self.arms:
            raise NotFoundError("no such arm")
        if self.active() == [name]:
            raise ConflictError("the last arm")
        if self.arms[name]:
            self.arms[name], self.rounds = False, {}

    def set_floor(self, floor):
        named = dict(floor) if isinstance(floor, dict) else {}
        if not set(named) <= set(self.arms) or sum(shares(floor or 0.0, self.active()).values()) > 1.0 + 1e-9:
            raise ArgumentError("floor", "of arms of the study, at most 1 in all", floor)
        self.floor = {arm: share for arm, share in named.items() if share} or (0.0 if named else floor or 0.0)

    def winner(self, delta, segment=None):
        """Name the arm that ``came``, if any; it has the best mean, and once it is named, it stays."""
        self.check_segment(segment)
        means = [self.sign * self.mean(arm, segment) for arm in self.active()]
        arm = self.came.pop()
        best = max((mean for mean in means if not math.isnan(mean)), default=None)
        if arm is not None and segment not in self.winners:
            assert self.sign * self.mean(arm, segment) == best, f"{arm} is named, with the means {means}"
            self.winners[segment] = arm
        return self.winners.get(segment)

    def rename(self, name):
        if name in self.others:
            raise ConflictError("there is such a study")
        self.name = name

    def archive(self):
        self.archived = True

    def unarchive(self):
        self.archived = False
