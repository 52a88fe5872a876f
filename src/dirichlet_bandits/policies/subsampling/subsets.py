"""Duels with rewards drawn without replacement: WR-SDA and BESA.

A duel takes as many draws as the challenger has rewards. They come from a stream of their own (``further_words``), two
out of each word, mixed where they are used: with a call of the generator each they would take four times as long.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.seeding import mixed
from dirichlet_bandits.types import Floats, Words

HALF: Final = np.uint64(32)
LOW_HALF: Final = np.uint64(2**32 - 1)
_BEYOND: Final = np.uint64(2**32)
ROUNDING: Final = 1e-9
"""Of the rewards' range: sums of fewer than a million rewards are exact to this."""
_LAST_BITS: Final = 2.0**-51


@jit
def below(half: np.uint64, size: np.uint64) -> np.uint64:
    """A number below ``size`` from 32 random bits, all equally probable; ``size`` for the few that would spoil that.

    >>> [int(below(np.uint64(bits), np.uint64(10))) for bits in (2**32 - 1, 3 * 2**30, 0)]
    [9, 7, 10]

    Reference: Lemire, Fast random integer generation in an interval, 2019.
    """
    product = half * size
    rest = product & LOW_HALF
    return product >> HALF if rest >= size or rest >= _BEYOND % size else size


@jit
def draw_to_front(pool: Floats, first: int, size: int, n: int, low: float, bar: float, words: Words) -> float:
    """Bring n of an arm's rewards, drawn without replacement, to the front; the sum of their distances from ``low``.

    Fisher and Yates' shuffle, stopped after n steps, or soon after the sum exceeds ``bar``.
    """
    a, b, c, counter = words[0], words[1], words[2], words[3]
    # Unsigned: a signed index might count from the end, and that is looked at each time.
    here, last, end, one = np.uint64(first), np.uint64(first + n), np.uint64(first + size), np.uint64(1)
    distance = 0.0
    while here < last and distance <= bar:
        word, a, b, c, counter = mixed(a, b, c, counter)
        for half in (word & LOW_HALF, word >> HALF):
            there = here + below(half, end - here)
            if here < last and there != end:
                reward = pool[there]
                pool[there] = pool[here]
                pool[here] = reward
                distance += reward - low
                here += one
    words[0], words[1], words[2], words[3] = a, b, c, counter
    return distance


@jit
def bar_of(mean: float, n: int, low: float, high: float) -> float:
    """n (mean - low), beyond what rounding does to the sum, and to the mean where the rewards are far from 0."""
    return n * (mean - low + ROUNDING * (high - low) + _LAST_BITS * max(abs(low), abs(high)))


@jit
def lead_over_subset(
    mean: float, n: int, pool: Floats, first: int, size: int, total: float, low: float, high: float, words: Words
) -> float:
    """A mean, less that of n of an arm's rewards drawn without replacement; -inf as soon as it is sure to be negative.

    The arm's rewards change their places. ``total``, ``low`` and ``high`` are their sum and extremes: if the rewards
    drawn exceed ``low`` by n (mean - low) in all, the others cannot make up for it. More than half of the rewards are
    drawn by drawing those that are left out.
    """
    if low == high:
        return mean - low
    if 2 * n > size:
        left_out = draw_to_front(pool, first, size, size - n, low, math.inf, words)
        return mean - mean_from(low, total - size * low - left_out, n)
    bar = bar_of(mean, n, low, high)
    distance = draw_to_front(pool, first, size, n, low, bar, words)
    return mean - mean_from(low, distance, n) if distance <= bar else -math.inf


@jit
def wins_by(lead: float, tie: float, rng: np.random.Generator) -> bool:
    """Whether a duel is won, ``tie`` being the probability to win one without a lead."""
    return lead > 0.0 or (lead == 0.0 and (tie == 1.0 or rng.random() < tie))
