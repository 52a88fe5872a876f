"""Find the winner, with a bound on the probability of error that holds however often you look.

The leader b, the active arm with the best mean, is named when for every other active arm a

    Z_a(margin) >= log(1/delta_ab) + r(n_a) + r(n_b)                                  (``live/differences.py``),

where Z_a is the evidence against mu_a >= mu_b + margin. With probability 1 - delta, whatever is called a winner at any
time is better than every other active arm less the margin: mu_b > mu_a - margin. If arms are equal and the margin is 0,
no winner is ever named with that probability.

The errors delta_ab. Let K arms be there from the start. Fix for each of them its best rival among these, a(b): it
depends on the means only, not on the rewards. If b is named wrongly against one of these arms, then mu_a(b) >= mu_b +
margin, and b has beaten a(b) nevertheless: with delta_ab = 0.9 delta/K that ever happens with probability at most 0.9
delta/K, so for one of the K arms with probability at most 0.9 delta. This holds if b has beaten all K - 1 rivals, also
those that were retired in the meantime: which ones are retired may depend on the rewards. For all other comparisons,
with arms that came later or without the retired ones, every pair of arms that the study ever has shares the rest: the 2
k ordered pairs of arm k = 1, 2, ... (in order of appearance) with the arms before it have delta_ab = 0.1 delta/(2 k^2
(k + 1)) each, in sum 0.1 delta. (With log((K - 1)/delta), as in the literature, a winner has the largest mean with
probability 1 - delta, but one of two equal arms may be named with probability 2 delta.)

Plot and rule. ``Rival.low`` and ``high`` are the confidence sequence for the lead mu_b - mu_a whose ends are each wrong
with probability delta_ab, by inversion of the same statistic: the rival is beaten if and only if low > -margin, up to
rounding. With K arms from the start this is the two-sided interval of level 1 - 1.8 delta/K.

A winner that was named is stored in the study and stays: the probability of error counts every time at which one
looked, and a winner that was withdrawn whenever the data wavered would be no promise. If the present rewards would no
longer establish it, ``note`` is set. The proof needs arms that do not change, so ``drift`` names those that seem to
change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.arms import Mean
from dirichlet_bandits.display.numbers import in_percent, number
from dirichlet_bandits.display.readings import drift_words
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.live.bounds import Bounds, are_finite
from dirichlet_bandits.live.differences import (
    ASYMPTOTIC,
    PROVED,
    Sample,
    costs,
    lead,
    rewards_by_arm,
    sample,
    statistic,
)
from dirichlet_bandits.live.direction import Direction, mirrored
from dirichlet_bandits.live.drift import drifting_arms
from dirichlet_bandits.live.event_notes import Established
from dirichlet_bandits.live.forecast import Forecast, Rates, Rule, forecast
from dirichlet_bandits.live.journal import Journal
from dirichlet_bandits.policies import EqualSplit, Floored, Policy, TopTwo
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number, number_between

DELTA: Final = 0.05
"""Probability of naming a wrong winner, unless another one is given."""

ASSUMES: Final = "if each arm's rewards keep one mean"
"""What every winner assumes, in words for people."""

_KEEP_TRYING: Final = EqualSplit, Floored, TopTwo  # all others leave some arms behind, with what these earned early

_FROM_START: Final = 0.9  # share of delta for the initial arms
_RECENT: Final = 0.5  # share of the latest trials from which present rates are computed
_COARSE: Final = 64  # steps of the grid with which the forecast is computed


@dataclass(frozen=True)
class Rival:
    """A comparison of the leader with one other arm.

    The rival is beaten if ``statistic`` is at least ``threshold``, which is the same as ``low > -margin``: ``lead`` is
    by how much the leader's mean is better, from ``low`` to ``high``.
    """

    arm: str
    statistic: float
    threshold: float
    lead: float
    low: float
    high: float

    @property
    def beaten(self) -> bool:
        """Whether the leader is established as better than this arm."""
        return self.statistic >= self.threshold


@dataclass(frozen=True)
class Winner:
    """The winner of a study, or what is missing to name one.

    ``arm`` is the winner, None until there is one, and ``leader`` the active arm with the best mean. ``proved`` is True
    if the probability of error is at most ``delta`` for any distributions within the bounds of the rewards, and False
    if only in the limit of many rewards; ``method`` describes how. ``trials`` is the number of trials so far,
    ``established_at`` that number when the winner was first named. ``more`` is about how many more trials it would take
    under the current policy and floor, None if it is not in sight, and ``more_low`` to ``more_high`` if the lead is one
    standard error larger or smaller; ``with_floor`` is how many it would take with a minimal probability of ``floor``
    for each arm, which halves it if possible (``live/forecast.py``). ``note`` is set if the present rewards would not
    establish the winner any more. ``drift`` names the arms whose rewards no longer look like one distribution
    (``live/drift.py``): if they have changed, the probability of error may be larger. ``assumes`` is what the
    probability of error assumes, in words. Without a floor, a policy that leaves weak arms behind compares early
    rewards with late ones, so then a level that all arms share must not move either.
    """

    arm: str | None
    leader: str | None
    delta: float
    margin: float
    proved: bool
    method: str
    rivals: tuple[Rival, ...]
    trials: int
    established_at: int | None
    more: int | None
    floor: float | None
    with_floor: int | None
    reason: str
    note: str | None = None
    more_low: int | None = None
    more_high: int | None = None
    drift: tuple[str, ...] = ()
    assumes: str = ASSUMES

    def __str__(self) -> str:
        lines = [f"winner: {self.arm}" if self.arm is not None else "no winner yet", self.reason]
        lines += [] if self.note is None else [f"note: {self.note}"]
        lines += [_line(rival, str(self.leader)) for rival in self.rivals]
        if self.arm is None and self.leader is not None:
            lines.append(self.forecast)
        sure = "proved" if self.proved else "asymptotic, not proved"
        lines.append(f"error probability {self.delta:g}, margin {self.margin:g} ({sure}), {self.assumes}")
        lines += [f"careful: {drift_words(self.drift)}"] if self.drift else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the text as a notebook shows it."""
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def claim(self) -> str:
        """The probability of error and what it assumes, in words."""
        limit = "" if self.proved else ", in the limit of many trials"
        return f"the probability of error is at most {in_percent(self.delta)}{limit}, {self.assumes}"

    @property
    def forecast(self) -> str:
        """The number of further trials needed, in words."""
        if any(math.isnan(rival.lead) or rival.low == -math.inf for rival in self.rivals):
            return "too few rewards to estimate how many more trials it takes"
        about = "no winner is in sight under the current policy and floor"
        if self.more is not None and self.more_low is not None:
            low = _rough(self.more_low)
            unsure = f"{low} or more" if self.more_low else "the lead is too uncertain for a range"
            ends = f"({unsure if self.more_high is None else f'{low} to {_rough(self.more_high)}'})"
            about = f"about {_rough(self.more)} more trials {ends} under the current policy and floor"
        if self.floor is None or self.with_floor is None:
            return about
        trials = _rough(self.with_floor) + ("" if self.more is not None else " more trials")
        return f"{about}; about {trials} with a floor of {self.floor:g} for each arm"


def _rough(trials: int) -> str:
    """Return a projection with two digits, which is as much as is known.

    >>> _rough(7), _rough(3371)
    ('7', '3,400')
    """
    return f"{round(trials, min(0, 2 - len(str(trials)))):,}"


def _line(rival: Rival, leader: str) -> str:
    verb = ">=" if rival.beaten else "<"
    ends = f"{number(rival.low)} to {number(rival.high)}"
    return f"  {leader} over {rival.arm}: {ends}; evidence {rival.statistic:.2f} {verb} {rival.threshold:.2f}"


class Question(NamedTuple):
    """The probability of error, the margin, and the segment in which arms are compared."""

    delta: float = DELTA
    margin: float = 0.0
    segment: str | None = None


def winner(journal: Journal, policy: Policy, bounds: Bounds, direction: str, asked: Question) -> Winner:
    """Return the winner of a study, as it was established or as its rewards establish it now."""
    check_question(policy, asked)
    part = journal.of(asked.segment)
    found = _judged(part, policy, bounds, direction, asked)
    found = replace(found, drift=tuple(drifting_arms(part, bounds)), assumes=assumed(journal, policy))
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


def established(journal: Journal, asked: Question) -> Established | None:
    """Return the winner that was stored first for a question at least as strict as this one."""
    fits = (one for one in journal.winners if one.segment == asked.segment)
    return next((one for one in fits if one.delta <= asked.delta and one.margin <= asked.margin), None)


def error_shares(since: Sequence[int], leader: int, usual: bool) -> Floats:
    """Return delta_ab / delta of the leader against each arm; ``usual`` if it has beaten all initial arms.

    >>> error_shares([0, 0, 0], leader=0, usual=True).round(3).tolist()
    [0.3, 0.3, 0.3]
    >>> error_shares([0, 0, 100], leader=0, usual=True).round(5).tolist()
    [0.45, 0.45, 0.00417]
    """
    from_start = np.array(since) == 0
    k = np.maximum(np.arange(len(since)), leader)
    reserve = (1.0 - _FROM_START) / (2.0 * np.maximum(k, 1) ** 2 * (k + 1.0))
    return np.where(usual & from_start & from_start[leader], _FROM_START / max(from_start.sum(), 1), reserve)


def log_odds(delta: float, since: Sequence[int], leader: int, usual: bool) -> Floats:
    """Return log(1/delta_ab) of the leader against each arm; the other arguments are those of :func:`error_shares`.

    >>> log_odds(0.05, [0, 0], leader=0, usual=True).round(4).tolist()
    [3.7942, 3.7942]
    """
    return np.asarray(-math.log(delta) - np.log(error_shares(since, leader, usual)))  # the product may round to 0


def _judged(journal: Journal, policy: Policy, bounds: Bounds, direction: str, asked: Question) -> Winner:
    """Return the winner as the present rewards establish it."""
    delta, margin, proved = float(asked.delta), float(asked.margin), are_finite(bounds)
    turned = mirrored(direction, *bounds) if proved else Direction(direction)
    seen = [turned.turn(x) for x in rewards_by_arm(journal)]
    samples = [sample(x, bounds) for x in seen]
    active = journal.active_arms()
    leader, reason = _leader([samples[arm] for arm in active], margin)
    common: dict[str, Any] = {"delta": delta, "margin": margin, "trials": len(journal.arm_of), "established_at": None}
    common |= {"proved": proved, "method": PROVED if proved else ASYMPTOTIC}
    if leader is None:
        reason += _held(len(journal.held))
        return Winner(None, None, rivals=(), reason=reason, **common, **Forecast()._asdict())
    best = active[leader]
    odds = _log_odds(journal, samples, best, delta, margin)
    others = [arm for arm in active if arm != best]
    rivals = tuple(_rival(journal.names[arm], samples[best], samples[arm], odds[arm], margin) for arm in others)
    name, left = journal.names[best], [rival.arm for rival in rivals if not rival.beaten]
    if not left:
        words = "its lead over every other arm is established"
        return Winner(name, name, rivals=rivals, reason=words, **common, **Forecast(more=0)._asdict())
    rough = [sample(seen[arm], bounds, _COARSE) for arm in active]
    rules = [Rule(leader, active.index(arm), float(odds[arm])) for arm in others]
    ahead = forecast(rough, rules, margin, _rates(journal, policy, active))
    words = f"{name} leads, but not yet by enough over {', '.join(left)}"
    return Winner(None, name, rivals=rivals, reason=words, **common, **ahead._asdict())


def _leader(samples: Sequence[Sample], margin: float) -> tuple[int | None, str]:
    """Return the active arm with the best mean, if arms can be compared, or the reason why not.

    Within a margin, the first of several equally good arms may be a winner.
    """
    if len(samples) == 1:
        return None, "a single arm is active: there is nothing to compare it with"
    means = np.array([one.mean for one in samples])
    if np.isnan(means).all():
        return None, "no reward yet"
    best = np.flatnonzero(means == np.nanmax(means))
    if best.size > 1 and margin <= 0.0:
        return None, f"{best.size} arms are equally good"
    return int(best[0]), ""


def _held(rewards: int) -> str:
    if rewards == 0:
        return ""
    return " (1 is held until its window closes)" if rewards == 1 else f" ({rewards:,} are held until windows close)"


def _log_odds(journal: Journal, samples: Sequence[Sample], best: int, delta: float, margin: float) -> Floats:
    """Return log(1/delta_ab) against each arm."""
    usual = log_odds(delta, journal.since, best, True)
    gone = [arm for arm, at in enumerate(journal.since) if at == 0 and not journal.active[arm]]
    left = [statistic(samples[best], samples[arm], margin) - costs(samples[best], samples[arm]) for arm in gone]
    if all(z >= usual[arm] for z, arm in zip(left, gone, strict=True)):
        return usual
    return log_odds(delta, journal.since, best, False)


def _rival(name: str, best: Sample, other: Sample, log_odds: float, margin: float) -> Rival:
    low, high = lead(best, other, log_odds)
    threshold = log_odds + costs(best, other)
    return Rival(name, statistic(best, other, margin), threshold, best.mean - other.mean, low, high)


def _rates(journal: Journal, policy: Policy, active: Sequence[int]) -> Rates:
    """Return how often each active arm comes by the policy, as in the later half of the trials, and its floor."""
    counted = [arm for trial, arm in enumerate(journal.arm_of) if trial not in journal.repeats]
    recent = np.array(counted[int(_RECENT * len(counted)) :], np.int64)
    counts = np.bincount(recent, minlength=len(journal.names))[list(active)].astype(np.float64)
    every = journal.floors()
    floors = np.zeros(len(active)) if every is None else every[list(active)]
    by_policy = np.maximum(counts - recent.size * floors, 0.0)
    shares = by_policy / by_policy.sum() if by_policy.any() else np.full(len(active), 1.0 / len(active))
    return Rates(len(counted), shares, floors, fades=policy.guarantee not in ("linear", "none known"))
