"""Random subsets of an array, drawn one element at a time or marked by random bits.

A draw takes less than a nanosecond, so a small share of the elements is drawn one at a time. For a larger share, random
bits mark every element with the same probability, 64 elements by a few operations. The marked elements are a random
subset: all subsets of the same size are equally probable. Then, until n elements are marked, a random element without a
mark gets one, or a random mark is removed. Both steps keep all subsets of the same size equally probable. For example,
to take 2 of 5 elements, the bits may be 10110, and removing one of the three marks may give 10010.

Draws come from a separate stream (``further_words``), two per word, mixed where they are used; calling the generator
for each draw would take four times as long.
"""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum, shared
from dirichlet_bandits.seeding import GOLDEN, mixed, scrambled
from dirichlet_bandits.types import Floats, Words

_ONE: Final = np.uint64(1)
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(2**32 - 1)
_BEYOND: Final = np.uint64(2**32)
_PLANES: Final = 7  # bits of the probability of a mark; with more of them, fewer marks have to be changed


@shared
def draw_to_front(rewards: Floats, n: int, low: float, bar: float, words: Words) -> float:
    """Draw n rewards without replacement, move them to the front, and return the sum of their distances from ``low``.

    This is Fisher and Yates' shuffle, stopped after n steps, or soon after the sum exceeds ``bar``; an odd n must be
    below the number of rewards. Each word gives two draws: a uniform number below k is the upper half of k times 32
    random bits, except for a few words that would bias it.

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
def sum_in_random_order(rewards: Floats, low: float, words: Words) -> float:
    """Return the sum of all distances from ``low``, rounded as if the rewards had been drawn one at a time."""
    even = rewards.size - rewards.size % 2  # draws come in pairs; the last of an odd number is what they leave
    distance = draw_to_front(rewards, even, low, math.inf, words)
    return distance + (rewards[even] - low) if even < rewards.size else distance


@jit
def count_bits(word: np.uint64) -> np.uint64:
    """Return how many bits of a word are set.

    >>> int(count_bits(np.uint64(7)))
    3
    """
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@jit_sum
def marked_sum(x: Floats, low: float, marks: Words) -> tuple[float, np.int64]:
    """Return the sum of the marked elements' distances from ``low``, and their number; clear the marks beyond the end.

    The order of additions is the compiler's, which may also subtract ``low`` before it adds an element.
    """
    total, count, last = 0.0, np.int64(0), np.uint64(x.size - 64)
    for word in range(marks.size):
        first = min(np.uint64(64 * word), last)
        known = np.uint64(64 * word) - first  # elements that the last word shares with the one before
        bits = marks[word] << known
        marks[word] = bits >> known
        count += np.int64(count_bits(bits))
        part = 0.0
        for i in range(64):
            part += x[first + np.uint64(i)] - low if bits & (_ONE << np.uint64(i)) != np.uint64(0) else 0.0
        total += part
    return total, count


@shared
def mark_subset(x: Floats, n: int, low: float, marks: Words, seed: np.uint64) -> float:
    """Mark a random subset of n elements, and return the sum of their distances from ``low``.

    ``marks`` gets one bit per element, 64 in each word, for at least 64 elements. Their number is corrected without a
    branch on single marks, because it could not be predicted.
    """
    chance, size = np.uint64((n << _PLANES) // x.size), np.uint64(x.size)
    for word in range(marks.size):
        bits = np.uint64(0)
        for plane in range(_PLANES):  # if bits have the chance p, bits | random have (1 + p) / 2, bits & random p / 2
            seed += GOLDEN
            random = scrambled(seed)
            bits = (bits & random) | ((bits | random) & (np.uint64(0) - ((chance >> np.uint64(plane)) & _ONE)))
        marks[word] = bits
    total, count = marked_sum(x, low, marks)
    biased, wanted, change = _BEYOND % size, np.uint64(count < n), 1 if count < n else -1
    while count != n:
        seed += GOLDEN
        product = (scrambled(seed) >> _HALF) * size  # Lemire's method: the upper half is uniform below size
        if product & _LOW_HALF >= biased:
            place = product >> _HALF
            at, bit = place >> np.uint64(6), place & np.uint64(63)
            changed = ((marks[at] >> bit) & _ONE) ^ wanted
            marks[at] ^= changed << bit
            step = change * np.int64(changed)
            count += step
            total += step * (x[place] - low)
    return total


@jit
def marked(x: Floats, n: int, marks: Words) -> Floats:
    """Return the n marked elements."""
    found, k = np.empty(n + 1), np.int64(0)
    for i in range(x.size):
        found[k] = x[i]
        k += np.int64((marks[i >> 6] >> np.uint64(i & 63)) & _ONE)
    return found[:n]
