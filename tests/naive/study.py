"""A live study in plain Python: what docs/live.md promises, one operation after the other. Slow, and meant to be read.

The methods of ``Study`` are the operations, made with ``study.call("tell", 0, 1.0)``. To add one, write a method.
It may raise at any point, because a refused call changes nothing.

Arms are drawn at random, so this study does not draw: ``came`` has the arms that a real study has just assigned, and
``ask`` checks that each of them could come, with the probability that ``next_round.py`` expects.
"""

import copy
import math

from dirichlet_bandits.errors import ArgumentError, ConflictError, NotFoundError
from tests.naive.next_round import next_round, shares
from tests.naive.trials import Trial, Trials


class Calls(Trials):
    """What the operations share."""

    def call(self, operation, *args, token=None, **named):
        """Close windows, act once for each token, and take everything back if the call is refused."""
        before = copy.deepcopy(vars(self))
        try:
            self.missing, this = self.close_windows(), (operation, args, dict(named))
            if operation == "ask" and "unit" in named:  # whose segment is that of its first trial
                this[2].pop("segment", None)
            if token in self.calls:
                if self.calls[token][0] != this:
                    raise ConflictError("the token of another call")
                return self.calls[token][1]
            answer = getattr(self, operation)(*args, **named)
            self.calls |= {} if token is None else {token: (this, answer)}
            return answer
        except Exception:
            vars(self).update(before)
            raise

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
            chance, opening = rest[arm], set(rest.values()) == {1.0}  # other rounds are of one arm, with these policies
            if not mine:
                self.rounds[segment] = first, {one: 1.0 for one in rest if opening and one != arm}
        self.trials.append(Trial(id, arm, chance, first, self.now, segment, unit, counts=not mine))
        if unit is not None and not (home and self.arms[home.arm]):
            self.homes[unit] = self.trials[id]
        return id

    def revise(self, id, state, reward, reason):
        trial = self.found(id)
        if trial.state in ("pending", "abandoned"):
            raise ConflictError("has no reward")
        if (trial.state, trial.reward) != (state, reward):
            trial.revisions = [*(trial.revisions or [(trial.reward, None)]), (reward, reason)]
        trial.state, trial.reward = state, reward


class Study(Calls):
    def ask(self, n=1, segment=None, unit=None):
        self.check_segment(segment)
        return [self.assign(segment, unit) for _ in range(n)]

    def tell(self, id, reward, note=None, attributes=None):
        self.checked(reward)
        trial = self.found(id)
        if trial.state in ("abandoned", "voided") or trial.reward not in (None, reward):
            raise ConflictError("takes no reward, or has another one")
        trial.state, trial.reward = "answered", reward
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
        return self.missing  # windows close before each call

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

    def declare_winner(self, delta, segment=None):
        """Name the arm that ``came``, if any; it is active, and once it is named, it stays."""
        self.check_segment(segment)
        arm = self.came.pop()
        if arm is not None and segment not in self.winners:
            assert arm in self.active(), f"{arm} is named, which was retired"
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
