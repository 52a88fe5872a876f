"""Find the winner, with a bound on the probability of error that holds however often you look.

The leader b is named when for every other active arm a the wealth of bets on "b beats a by more than -margin" has
reached 1/delta_ab (``differences.py``; ``lottery.py`` and ``pair_bet.py`` have the theorems). With probability 1 -
delta, whatever is called a winner at any time is better than every other active arm less the margin. If arms are equal
and the margin is 0, no winner is ever named with that probability. What this assumes depends on how the arms were
assigned, and ``Winner.assumes`` has it in words. For the lottery rule, a wrong winner is an arm that was in no round
better than a rival by more than -margin: if differences between arms keep their sign, it is not better now.

The leader is the arm with the best mean. If the level that all arms share has moved, another arm may have the best
mean, so a rival takes its place if the evidence that it beats the leader is larger than the evidence against that.

The errors delta_ab. Let K arms be there from the start. Fix for each of them its best rival among these, a(b): it
depends on the means only, not on the rewards. If b is named wrongly against one of these arms, then mu_a(b) >= mu_b +
margin, and b has beaten a(b) nevertheless: with delta_ab = 0.9 delta/K that ever happens with probability at most 0.9
delta/K, so for one of the K arms with probability at most 0.9 delta. This holds if b has beaten all K - 1 rivals, also
those that were retired in the meantime: which ones are retired may depend on the rewards. For all other comparisons,
with arms that came later or without the retired ones, every pair of arms that the study ever has shares the rest: the 2
k ordered pairs of arm k = 1, 2, ... (in order of appearance) with the arms before it have delta_ab = 0.1 delta/(2 k^2
(k + 1)) each, in sum 0.1 delta. (With log((K - 1)/delta), as in the literature, a winner has the largest mean with
probability 1 - delta, but one of two equal arms may be named with probability 2 delta.) If the claim is about the
average so far, the best rival may change, so each of the K (K - 1) ordered pairs has delta_ab = 0.9 delta/(K (K - 1)).

Plot and rule. ``Rival.low`` and ``high`` are the confidence sequence for the lead mu_b - mu_a whose ends are each wrong
with probability delta_ab, by inversion of the same bets: the rival is beaten if and only if low >= -margin. With K arms
from the start this is the two-sided interval of level 1 - 1.8 delta/K.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Annotated, Final, NamedTuple

import numpy as np

from dirichlet_bandits.answers import Null
from dirichlet_bandits.display.numbers import drift_words, in_percent, number
from dirichlet_bandits.inference.differences import AVERAGE, CLIPPED, LOTTERY, ArmSample, Evidence, Prospect
from dirichlet_bandits.inference.forecast import Forecast, Rates, Rule, forecast
from dirichlet_bandits.types import Floats

DELTA: Final = 0.05
"""Probability of naming a wrong winner, unless another one is given."""

_FROM_START: Final = 0.9  # share of delta for the initial arms
_DOUBTED: Final = 1.0  # evidence of a rival against the arm with the best mean that takes its place


@dataclass(frozen=True)
class Rival:
    """A comparison of the leader with one other arm.

    The rival is beaten if the evidence ``statistic``, the logarithm of the wealth of bets, is at least ``threshold``,
    which is the same as ``low >= -margin``: ``lead`` is by how much the leader's mean is better, from ``low`` to
    ``high``.
    """

    arm: str
    statistic: float
    threshold: float
    lead: float
    low: Annotated[float, Null(-math.inf)]
    high: Annotated[float, Null(math.inf)]

    @property
    def beaten(self) -> bool:
        """Whether the leader is established as better than this arm."""
        return self.statistic >= self.threshold


@dataclass(frozen=True)
class Winner:
    """The winner of a study, or what is missing to name one.

    ``arm`` is the winner, None until there is one, and ``leader`` the active arm with the best mean. ``claim`` says
    what is claimed in one sentence: the probability of error, and what it ``assumes``. ``proved`` is True if it holds
    for any rewards within their bounds, and ``method`` describes how. ``trials`` is the number of trials so far,
    ``established_at`` that number when the winner was first named. ``more`` is about how many more trials it would take
    under the current policy and floor, None if it is not in sight, and ``more_low`` to ``more_high`` if the lead is one
    standard error larger or smaller; ``with_floor`` is how many it would take with a minimal probability of ``floor``
    for each arm, which halves it if possible (``inference/forecast.py``). ``note`` is set if the present rewards would
    not establish the winner any more. If the claim assumes that each arm keeps one mean, ``drift`` names the arms whose
    rewards no longer look like one distribution (``inference/drift.py``). ``waits`` says, as ``reason`` does, which
    rewards do not count yet.
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
    assumes: str = LOTTERY.assumes
    waits: str | None = None

    def __str__(self) -> str:
        lines = [f"winner: {self.arm}" if self.arm is not None else "no winner yet", self.reason]
        lines += [] if self.note is None else [f"note: {self.note}"]
        lines += [_line(rival, str(self.leader)) for rival in self.rivals]
        if self.arm is None and self.leader is not None:
            lines.append(self.forecast)
        sure = "proved" if self.proved else "not proved for all distributions"
        lines.append(f"error probability {self.delta:g}, margin {self.margin:g} ({sure}), {self.assumes}")
        lines += [f"careful: {drift_words(self.drift)}"] if self.drift else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the text as a notebook shows it."""
        return f"<pre>{escape(str(self))}</pre>"

    @property
    def claim(self) -> str:
        """The probability of error and what it assumes, in words."""
        return f"the probability of error is at most {in_percent(self.delta)}, {self.assumes}"

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


class Arms(NamedTuple):
    """The arms among which a winner is named, in order of appearance, with rewards of which large ones are good.

    ``since`` has the number of trials before each arm was added, and ``active`` the numbers of the active arms.
    """

    names: Sequence[str]
    since: list[int]
    active: Sequence[int]
    samples: Sequence[ArmSample]
    evidence: Evidence


def find_winner(arms: Arms, delta: float, margin: float, trials: int, rates: Rates) -> Winner:
    """Return the winner after these ``trials``, as the rewards establish it; ``rates`` are those of the active arms."""
    active, claim = arms.active, arms.evidence.claim
    best, reason = _leader(arms, margin)
    found = Winner(
        None, None, delta, margin, claim.proved, claim.method, rivals=(), trials=trials, established_at=None,
        reason=reason, **Forecast()._asdict(), assumes=claim.assumes,
    )  # fmt: skip
    if best is None:
        return found
    odds = _log_odds(arms, best, delta, margin)
    others = [arm for arm in active if arm != best]
    rivals = tuple(_rival(arms, best, arm, float(odds[arm]), margin) for arm in others)
    name, left = arms.names[best], [rival.arm for rival in rivals if not rival.beaten]
    found = replace(found, leader=name, rivals=rivals)
    if not left:
        return replace(found, arm=name, reason="its lead over every other arm is established", more=0)
    rules = [Rule(active.index(arm), float(odds[arm]), _prospect(arms, best, arm, margin)) for arm in others]
    ahead = forecast(active.index(best), rules, rates)
    reason = f"{name} leads, but not yet by enough over {', '.join(left)}"
    return replace(found, reason=reason, **ahead._asdict())


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


def _leader(arms: Arms, margin: float) -> tuple[int | None, str]:
    """Return the active arm with the best mean, if arms can be compared, or the reason why not.

    Within a margin, the first of several equally good arms may be a winner.
    """
    if len(arms.active) == 1:
        return None, "a single arm is active: there is nothing to compare it with"
    means = np.array([arms.samples[arm].mean for arm in arms.active])
    if np.isnan(means).all():
        drawn = " of a trial that was drawn by lottery" if arms.evidence.claim is AVERAGE else ""
        return None, f"no reward{drawn} yet"
    best = np.flatnonzero(means == np.nanmax(means))
    if best.size > 1 and margin <= 0.0:
        return None, f"{best.size} arms are equally good"
    leader, against = arms.active[int(best[0])], arms.evidence.log_wealth
    for arm in arms.active:
        if arm != leader and against(arm, leader, 0.0) > max(against(leader, arm, 0.0), _DOUBTED):
            leader = arm
    return leader, ""


def _log_odds(arms: Arms, best: int, delta: float, margin: float) -> Floats:
    """Return log(1/delta_ab) against each arm."""
    usual = log_odds(delta, arms.since, best, True)
    if arms.evidence.claim is AVERAGE:
        usual += math.log(max(arms.since.count(0) - 1, 1))
    gone = [arm for arm, at in enumerate(arms.since) if at == 0 and arm not in arms.active]
    beaten = (_evidence(arms, best, arm, usual[arm], margin) >= usual[arm] for arm in gone)
    return usual if all(beaten) else log_odds(delta, arms.since, best, False)


def _tell(arms: Arms, best: int, rival: int) -> bool:
    return arms.samples[best].tells and arms.samples[rival].tells


def _prospect(arms: Arms, best: int, rival: int, margin: float) -> Prospect | None:
    return arms.evidence.prospect(best, rival, -margin) if _tell(arms, best, rival) else None


def _evidence(arms: Arms, best: int, rival: int, log_odds: float, margin: float) -> float:
    """Return the evidence that the best arm beats a rival, 0 if their rewards cannot be compared yet.

    Without bounds, the difference of the means must also be large by its standard error, which rare rewards that have
    come up in one arm only may not be: this removes winners, and adds none.
    """
    if not _tell(arms, best, rival):
        return 0.0
    found = arms.evidence.log_wealth(best, rival, -margin)
    if arms.evidence.claim is CLIPPED and found >= log_odds:
        one, two = arms.samples[best], arms.samples[rival]
        gap, spread = one.mean - two.mean + margin, one.variance / one.n + two.variance / two.n
        if gap <= 0.0 or 0.5 * gap**2 < log_odds * spread:
            return 0.0
    return found


def _rival(arms: Arms, best: int, other: int, log_odds: float, margin: float) -> Rival:
    found, tells = _evidence(arms, best, other, log_odds, margin), _tell(arms, best, other)
    widest = arms.evidence.widest
    low, high = arms.evidence.lead(best, other, log_odds, -margin) if tells else (-widest, widest)
    if found < log_odds:
        low = min(low, math.nextafter(-margin, -math.inf))
    return Rival(arms.names[other], found, log_odds, arms.evidence.estimate(best, other), low, high)
