"""Estimate how many more trials it takes to name a winner at the present rates, and which floor would halve that.

This is a projection, not a promise: it assumes that future rewards are distributed like those seen so far.
"""

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.live.differences import Sample, costs, statistic
from dirichlet_bandits.types import Floats

_MOST: Final = 1e9
"""Trials beyond which a projection says "never": no study gets there."""

_PRECISION: Final = 1.02  # of a number of trials, as a ratio

_COMPANION: Final = 0.1
"""The floor that is suggested, or half an equal share if that is less, where without one no winner is in sight."""


class Rule(NamedTuple):
    """The evidence that the leader needs against one rival."""

    leader: int
    rival: int
    log_odds: float


class Forecast(NamedTuple):
    """Trials until a winner is named, None if that is not in sight; a floor per arm, and the trials with it."""

    more: int | None
    floor: float | None
    with_floor: int | None


def forecast(samples: Sequence[Sample], rules: Sequence[Rule], margin: float, chances: Floats) -> Forecast:
    """Return the number of trials that a winner takes if arms come with these chances, and a floor that halves it."""

    def trials(floor: float) -> float:
        mixed = floor + (1.0 - floor * chances.size) * chances
        return max(_trials(samples, rule, margin, mixed) for rule in rules)

    now = trials(0.0)
    if math.isfinite(now):
        floor = _smallest(lambda f: trials(f) <= 0.5 * now, 1.0 / chances.size)
    else:
        floor = min(_COMPANION, 0.5 / chances.size)
    after = math.inf if floor is None else trials(floor)
    if not math.isfinite(after):
        floor = None
    return Forecast(_whole(now), floor, _whole(after))


def _trials(samples: Sequence[Sample], rule: Rule, margin: float, chances: Floats) -> float:
    """Return the trials until one rival is beaten; infinite if that is not in sight."""
    best, rival = samples[rule.leader], samples[rule.rival]

    def beaten(n: float) -> bool:
        one, two = best.grown(n * float(chances[rule.leader])), rival.grown(n * float(chances[rule.rival]))
        return statistic(one, two, margin) >= rule.log_odds + costs(one, two)

    if beaten(0.0):
        return 0.0
    high = 1.0
    while not beaten(high):
        high *= 4.0
        if high > _MOST:
            return math.inf
    low = high / 4.0
    while high > _PRECISION * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if beaten(middle) else (middle, high)
    return high


def _smallest(enough: Callable[[float], bool], most: float) -> float | None:
    """Return the smallest sufficient floor, in steps of 1%, or finer below 2%; None if an equal share is not enough."""
    steps = np.concatenate([np.arange(0.001, 0.02, 0.001), np.arange(0.02, 0.5, 0.01)])
    steps = steps[steps < most]
    if not steps.size or not enough(float(steps[-1])):
        return None
    low, high = -1, steps.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(float(steps[middle])) else (middle, high)
    return round(float(steps[high]), 3)


def _whole(trials: float) -> int | None:
    return math.ceil(trials) if math.isfinite(trials) else None
