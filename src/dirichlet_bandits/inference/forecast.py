"""Estimate how many more trials it takes to name a winner, and which floor would halve that.

This is a projection, not a promise: it assumes that future rewards are distributed like those seen so far, and that the
policy and the floor stay as they are. Write p for the share of trials that the policy now gives to an arm other than
the leader, f for the floor of that arm, and F for the sum of all floors.

A policy with linear regret keeps giving that share, so after n more trials, the arm has n (f + (1 - F) p) more rewards.
A policy that earns well gives it less and less: a few more rewards m, each with the evidence k that the arm is worse
than the leader, make the next one less likely by the factor exp(-k m). That is Thompson Sampling, and the optimal rate
1/k before log(n) for all others. So dm/dn = f + q exp(-k m) with q = (1 - F) p, and

    m = f n + log(1 + q (1 - exp(-k f n))/f) / k,       or   log(1 + k q n) / k   without a floor.

Where a policy explores more than it has to, its share now is a better guide than k: if its m grows like c log(n), its
share after t trials is c/t, so k is at most 1/(p t). The leader has all other trials. How the evidence
grows with the rewards of both arms is in ``differences.py`` (``Prospect``).
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.inference.differences import Prospect
from dirichlet_bandits.types import Floats

_IN_SIGHT: Final = 1000.0
"""Trials beyond this many times those so far are not in sight: so little is known about them."""

_MOST: Final = 1e9
"""Trials beyond which no study gets, however many it has had."""

_PRECISION: Final = 1.02  # of a number of trials, as a ratio

_COMPANION: Final = 0.1
"""The floor that is suggested, or half an equal share if that is less, where without one no winner is in sight."""


class Rule(NamedTuple):
    """What the leader needs against one rival: its place among the active arms, and the evidence, now and with more."""

    rival: int
    log_odds: float
    prospect: Prospect | None


class Rates(NamedTuple):
    """How often arms come: trials so far, the share of each arm by the policy alone, and the floor of each arm.

    ``fades`` is True if the policy tries arms less and less often, the more is known against them.
    """

    trials: int
    shares: Floats
    floors: Floats
    fades: bool


class Forecast(NamedTuple):
    """Trials until a winner is named, None if that is not in sight; a floor per arm, and the trials with it.

    ``more_low`` and ``more_high`` are the numbers of trials if the lead is one standard error larger or smaller.
    """

    more: int | None = None
    more_low: int | None = None
    more_high: int | None = None
    floor: float | None = None
    with_floor: int | None = None


def forecast(leader: int, rules: Sequence[Rule], rates: Rates) -> Forecast:
    """Return the number of trials that a winner takes, and a floor for each arm that halves it."""

    def trials(floors: Floats, errors: float = 0.0) -> float:
        return max(_trials(leader, rule, rules, rates._replace(floors=floors), errors) for rule in rules)

    def with_floor(floor: float) -> float:
        return trials(np.full(rates.floors.size, floor))

    now = trials(rates.floors)
    equal = 1.0 / rates.shares.size
    if math.isfinite(now):
        floor = _smallest(lambda f: with_floor(f) <= 0.5 * now, equal)
    else:
        floor = min(_COMPANION, 0.5 * equal)
    after = math.inf if floor is None else with_floor(floor)
    if not math.isfinite(after):
        floor = None
    low, high = trials(rates.floors, 1.0), trials(rates.floors, -1.0)
    return Forecast(_whole(now), _whole(low), _whole(high), floor, _whole(after))


def _trials(leader: int, rule: Rule, rules: Sequence[Rule], rates: Rates, errors: float) -> float:
    """Return the trials until one rival is beaten if the lead is larger by so many standard errors."""
    prospect = rule.prospect
    if prospect is None:
        return math.inf
    doubts = {one.rival: _doubt(one, rates) for one in rules}

    def beaten(n: float) -> bool:
        gained = {arm: _gained(n, k, arm, rates) for arm, k in doubts.items()}
        ours, theirs = max(n - sum(gained.values()), 0.0), gained[rule.rival]
        more = ours * theirs / (ours + theirs) if ours + theirs > 0.0 else 0.0
        return prospect.after(more, errors) >= rule.log_odds

    if beaten(0.0):
        return 0.0
    most, high = min(_MOST, _IN_SIGHT * rates.trials), 1.0
    while not beaten(high):
        high *= 4.0
        if high > most:
            return math.inf
    low = high / 4.0
    while high > _PRECISION * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if beaten(middle) else (middle, high)
    return high


def _doubt(rule: Rule, rates: Rates) -> float:
    """Return k: by how much one more reward of an arm makes its next one less likely, as a logarithm."""
    share = float(rates.shares[rule.rival])
    if not rates.fades or share <= 0.0 or rule.prospect is None:
        return 0.0
    return min(rule.prospect.per_reward, 1.0 / (share * rates.trials))


def _gained(n: float, k: float, arm: int, rates: Rates) -> float:
    """Return how many rewards an arm gains in n trials."""
    f, q = float(rates.floors[arm]), (1.0 - float(rates.floors.sum())) * float(rates.shares[arm])
    if k <= 0.0:
        return n * (f + q)
    span = n if f <= 0.0 else -math.expm1(-k * f * n) / (k * f)  # the limit of the latter, as f goes to 0
    return f * n + math.log1p(k * q * span) / k


def _smallest(enough: Callable[[float], bool], equal: float) -> float | None:
    """Return the smallest sufficient floor, in twentieths of an equal share; None if 19 of them are not enough."""
    steps = [float(f"{equal * k / 20:.2g}") for k in range(20)]  # the first one is no floor
    if not enough(steps[-1]):
        return None
    low, high = 0, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(steps[middle]) else (middle, high)
    return steps[high]


def _whole(trials: float) -> int | None:
    return math.ceil(trials) if math.isfinite(trials) else None
