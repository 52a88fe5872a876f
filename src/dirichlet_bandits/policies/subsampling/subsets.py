"""Duels with rewards drawn without replacement: WR-SDA and BESA."""

import math
from typing import Final

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.subsets import draw_to_front, mark_subset, marked, sum_in_random_order
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.numerics.costs import MARKS_COST, MARKS_SHARE
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.seeding import mixed
from dirichlet_bandits.types import Floats, Ints, Words

_ROUNDING: Final = 1e-9
"""Relative to the range of the rewards: sums of fewer than a million rewards are exact to this."""
_LAST_BITS: Final = 2.0**-51


@jit
def lead_over_subset(state: History, few: int, many: int, rewards: Floats, words: Words, by_marks: bool) -> float:
    """Return the mean of the arm with fewer rewards minus that of as many of the other arm's, or a number of this sign.

    ``rewards`` are those of the other arm, in any order, or a copy, because draws change their order. If the distances
    of the drawn rewards from the minimum exceed n (mean - low) in total, the rewards still to be drawn cannot
    compensate. There is a margin for the rounding of the sum, and of the mean where rewards are far from 0. With
    ``by_marks``, a large subset is marked instead of drawn. If the margin does not decide then, its rewards are added
    in the order of draws, so a tie is as probable as with draws.
    """
    n, mean, size, low, high = state.pulls[few], state.means[few], rewards.size, state.lows[many], state.highs[many]
    if low == high:
        return mean - low
    margin = _ROUNDING * (high - low) + _LAST_BITS * max(abs(low), abs(high))
    bar = n * (mean - low + margin)
    if by_marks and n > size // MARKS_SHARE + MARKS_COST:
        word, words[0], words[1], words[2], words[3] = mixed(words[0], words[1], words[2], words[3])
        marks = np.empty((size + 63) // 64, np.uint64)
        lead = n * (mean - low) - mark_subset(rewards, n, low, marks, word)
        if abs(lead) > size * margin:
            return lead
        distance = sum_in_random_order(marked(rewards, n, marks), low, words)
    else:
        distance = draw_to_front(rewards, n, low, bar, words)
    return mean - mean_from(low, distance, n) if distance <= bar else -math.inf


@jit
def wins_by(lead: float, tie: float, rng: np.random.Generator) -> bool:
    """Whether a duel with this lead is won, where ``tie`` is the probability of winning with a lead of 0."""
    return lead > 0.0 or (lead == 0.0 and (tie == 1.0 or rng.random() < tie))


@jit
def tournament(tie: float, state: History, pool: Floats, arms: Ints, words: Words, rng: np.random.Generator) -> None:
    """Hold BESA's knockout tournament in a random order of all arms; the winner is ``arms[0]``.

    ``pool`` is a copy of that of the state, because the rewards change their places.
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
                rewards = pool[first : first + pulls[many]]
                wins = wins_by(lead_over_subset(state, few, many, rewards, words, False), tie, rng)
            arms[pair] = few if wins else many
        if left % 2 == 1:
            arms[left // 2] = arms[left - 1]
        left = (left + 1) // 2
