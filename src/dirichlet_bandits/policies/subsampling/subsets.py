"""Duels with rewards drawn without replacement: WR-SDA and BESA.

A duel takes as many draws as the challenger has rewards. They come from a separate stream (``further_words``), two per
word, mixed where they are used; calling the generator for each draw would take four times as long.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.seeding import mixed
from dirichlet_bandits.types import Floats, Ints, Words

_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(2**32 - 1)
_BEYOND: Final = np.uint64(2**32)
_ROUNDING: Final = 1e-9
"""Relative to the range of the rewards: sums of fewer than a million rewards are exact to this."""
_LAST_BITS: Final = 2.0**-51


@shared
def draw_to_front(rewards: Floats, n: int, low: float, bar: float, words: Words) -> float:
    """Draw n rewards without replacement, move them to the front, and return the sum of their distances from ``low``.

    This is Fisher and Yates' shuffle, stopped after n steps, or soon after the sum exceeds ``bar``; n is at most half
    of the number of rewards. Each word gives two draws: a uniform number below k is the upper half of k times 32 random
    bits, except for a few words that would bias it.

    Reference: Lemire, Fast random integer generation in an interval, 2019.
    """
    a, b, c, counter = words[0], words[1], words[2], words[3]
    # A signed index might count from the end, and compiled code would check that each time.
    here, last, end, one = np.uint64(0), np.uint64(n), np.uint64(rewards.size), np.uint64(1)
    distance, before, there = 0.0, 0.0, here
    while here < last and distance <= bar:
        word, a, b, c, counter = mixed(a, b, c, counter)
        left = end - here
        first, second = (word & _LOW_HALF) * left, (word >> _HALF) * (left - one)
        rest, other = first & _LOW_HALF, second & _LOW_HALF
        if (rest >= end or rest >= _BEYOND % left) and (other >= end or other >= _BEYOND % (left - one)):
            for product in (first, second):
                there = here + (product >> _HALF)
                reward = rewards[there]
                rewards[there] = rewards[here]
                rewards[here] = reward
                before = distance
                distance += reward - low
                here += one
    words[0], words[1], words[2], words[3] = a, b, c, counter
    if here <= last:
        return distance
    rewards[last], rewards[there] = rewards[there], rewards[last]  # n is odd: the last draw does not count
    return before


@jit
def lead_over_subset(n: int, mean: float, state: History, arm: int, rewards: Floats, words: Words) -> float:
    """Return a mean minus that of n of the arm's rewards, drawn at random; -inf once the difference is surely negative.

    If the drawn rewards' distances from the minimum exceed n (mean - low) in total, the other rewards cannot
    compensate. There is a margin for the rounding of the sum, and of the mean where rewards are far from 0. To draw
    more than half of the rewards, draw those that are left out.
    """
    size, total, low, high = rewards.size, state.sums[arm] + state.carry[arm], state.lows[arm], state.highs[arm]
    if low == high:
        return mean - low
    if 2 * n > size:
        left_out = draw_to_front(rewards, size - n, low, math.inf, words)
        return mean - mean_from(low, total - size * low - left_out, n)
    bar = n * (mean - low + _ROUNDING * (high - low) + _LAST_BITS * max(abs(low), abs(high)))
    distance = draw_to_front(rewards, n, low, bar, words)
    return mean - mean_from(low, distance, n) if distance <= bar else -math.inf


@jit
def wins_by(lead: float, tie: float, rng: np.random.Generator) -> bool:
    """Whether a duel with this lead is won, where ``tie`` is the probability of winning with a lead of 0."""
    return lead > 0.0 or (lead == 0.0 and (tie == 1.0 or rng.random() < tie))


@jit
def wins_against(
    tie: float, state: History, few: int, many: int, rewards: Floats, words: Words, rng: np.random.Generator
) -> bool:
    """Whether the mean of the arm with fewer rewards wins against as many of the other arm's.

    ``rewards`` are those of the other arm, in any order, or a copy, because draws change their order.
    """
    return wins_by(lead_over_subset(state.pulls[few], state.means[few], state, many, rewards, words), tie, rng)


@jit
def tournament(tie: float, state: History, pool: Floats, arms: Ints, words: Words, rng: np.random.Generator) -> None:
    """Hold BESA's knockout tournament in a random order of all arms; the winner is ``arms[0]``.

    ``pool`` is that of the state or a copy, because the rewards change their places.
    """
    state, pool = borrowed(state), borrowed(pool)
    pulls, means = state.pulls, state.means
    left = arms.size
    for arm in range(left):
        arms[arm] = arm
    shuffle(arms, rng)
    while left > 1:
        for pair in range(left // 2):
            few, many = arms[2 * pair], arms[2 * pair + 1]
            if pulls[few] > pulls[many]:
                few, many = many, few
            if pulls[few] == pulls[many]:
                wins = wins_by(means[few] - means[many], 0.5, rng)
            else:
                first = state.start[many]
                wins = wins_against(tie, state, few, many, pool[first : first + pulls[many]], words, rng)
            arms[pair] = few if wins else many
        if left % 2 == 1:
            arms[left // 2] = arms[left - 1]
        left = (left + 1) // 2
