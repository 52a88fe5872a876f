"""Duels with rewards drawn without replacement, nearly all of them decided by one random number.

A challenger with n rewards rarely beats a leader with N: a duel takes n draws and is nearly always lost. Here a number
that the probability of a win cannot exceed, the ceiling, decides first: with probability 1 - ceiling the duel is lost
without a draw. Otherwise n rewards are drawn from a distribution that favors small ones, under which the challenger
often wins, and a win counts with such a probability that the product of all three is the true probability.

1. The challenger wins if the distances S of the n rewards drawn from the leader's minimum, ``low``, are at most
   ``bar`` = n (mean - low) in all (see ``subsets.py`` for ties and rounding).
2. Give each of the leader's rewards the weight w = exp(-tilt distance), W in all, and draw in proportion to the weights
   of those that are left. A sequence of draws that has probability prod 1/(N - j), j = 0, ..., n - 1, in a plain duel
   now has probability prod w_j/(W - V_j), where V_j is the sum of the weights drawn before the j-th. So

       P(win) = E[ ratio 1{the tilted draws win} ],    ratio = exp(tilt S) prod (W - V_j)/(N - j).

3. In a duel that is won, the first j distances add up to at most ``bar`` too. Because exp is convex, V_j is at least
   f(j) = j exp(-tilt bar/j), and because f is convex, the sum of all f(j) is at least n f((n - 1)/2). With
   log(1 - x) <= -x and -log(1 - x) <= x + x^2/(2 (1 - x)), the ratio is at most the ceiling, whose logarithm is

       tilt bar + n log(W/N) + n (n - 1)/(2 N) - n f((n - 1)/2)/W + n (n - 1) (2 n - 1)/(12 N (N - n)).

4. So a duel may be decided like this: it is lost with probability 1 - ceiling; else it is lost if the tilted draws
   lose, and if they win it is won with probability ratio/ceiling.

Every duel of every round is decided by random numbers of its own, whatever the tilt. The tilt only affects the cost. It
is best where the tilted mean of the leader's rewards is the challenger's mean (Chernoff, 1952).
"""

import math
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.costs import (
    TILT_MOST,
    TILT_PATIENCE,
    TILT_SAMPLE,
    TILT_STEPS,
    TILTED_DRAW_COST,
    TILTED_DUEL_COST,
)
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.policies.subsampling.subsets import (
    HALF,
    Sample,
    bar_of,
    below,
    lead_over_subset,
    wins_by,
)
from dirichlet_bandits.seeding import mixed
from dirichlet_bandits.types import Words

CHALLENGER: Final = np.dtype(
    [(name, np.float64) for name in ("tilt", "weight", "fall", "drawn", "limit", "spent", "patience")]
)
"""What is kept of a challenger: its tilt (0: none) and the sum W of the leader's weights; ``fall`` = tilt bar
(negative: to be computed), ``drawn`` = n f((n - 1)/2) and the largest logarithm of a ceiling for which tilted draws are
cheaper; and the draws made since the tilt was chosen."""
_BITS: Final = np.uint64(11)
_UNIT: Final = 2.0**-53
_TINY: Final = 1e-200


@shared
def forget(challengers: Any) -> None:
    """Forget all tilts: another arm leads."""
    for arm in range(challengers.size):
        challenger = challengers[arm]
        challenger.tilt, challenger.spent, challenger.patience = 0.0, 0.0, TILT_PATIENCE


@shared
def weigh(challengers: Any, low: float, high: float, reward: float) -> None:
    """Add the leader's new reward to all sums of weights; ``low`` and ``high`` were its extremes before."""
    for arm in range(challengers.size):
        challenger = challengers[arm]
        if challenger.tilt > 0.0:
            if reward < low:
                challenger.weight = challenger.weight * math.exp(-challenger.tilt * (low - reward)) + 1.0
            else:
                challenger.weight += math.exp(-challenger.tilt * (reward - low))
            if reward < low or reward > high:
                challenger.fall = -1.0


@shared
def choose_tilt(challenger: Any, mean: float, leader: Sample) -> None:
    """Let the tilted mean of the leader's rewards be about the challenger's, by bisection.

    Only some of the rewards are used: their mean, which is not the leader's, is to fall as far.
    """
    y, low, step = leader.rewards, leader.low, 1 + leader.rewards.size // TILT_SAMPLE
    some = y[::step]
    aim, least, most = some.mean() - (leader.mean - mean), 0.0, TILT_MOST / (leader.mean - low)
    for _ in range(TILT_STEPS):
        tilt, excess = 0.5 * (least + most), 0.0
        for reward in some:
            excess += (reward - aim) * math.exp(-tilt * (reward - low))
        if excess > 0.0:
            least = tilt
        else:
            most = tilt
    total = 0.0
    for i in range(y.size):
        total += math.exp(-least * (y[i] - low))
    challenger.tilt, challenger.weight = least, total


@shared
def prepare(challenger: Any, n: int, mean: float, leader: Sample) -> None:
    """Compute what the ceiling needs, and what stays the same until the challenger is pulled."""
    share = challenger.weight / leader.rewards.size
    fall = challenger.tilt * max(bar_of(n, mean, leader.low, leader.high), 0.0)
    challenger.fall = fall
    challenger.drawn = 0.5 * n * (n - 1.0) * math.exp(-2.0 * fall / (n - 1.0)) if n > 1 else 0.0  # step 3
    challenger.limit = -math.log(TILTED_DRAW_COST / share + TILTED_DUEL_COST / n)


@jit
def log_ceiling(challenger: Any, n: int, n_leader: int) -> float:
    """The logarithm of a number that the ratio does not exceed in a duel that is won."""
    pairs = n * (n - 1.0)
    repeats = (0.5 + (2.0 * n - 1.0) / (12.0 * (n_leader - n))) * pairs / n_leader
    weight = challenger.weight
    return challenger.fall + n * math.log(weight / n_leader) + repeats - challenger.drawn / weight  # step 3


@shared
def tilted_win(
    challenger: Any,
    ceiling: float,
    n: int,
    mean: float,
    leader: Sample,
    tie: float,
    words: Words,
    rng: np.random.Generator,
) -> bool:
    """Whether the challenger wins by tilted draws, and the win counts. The leader's rewards change their places."""
    rewards, low, tilt, left = leader.rewards, leader.low, challenger.tilt, challenger.weight
    bar = bar_of(n, mean, low, leader.high)
    a, b, c, counter = words[0], words[1], words[2], words[3]
    here, last, end, one = np.uint64(0), np.uint64(n), np.uint64(rewards.size), np.uint64(1)
    distance, product, log_product = 0.0, 1.0, 0.0
    while here < last and distance <= bar:
        word, a, b, c, counter = mixed(a, b, c, counter)
        there = here + below(word >> HALF, end - here)
        if there != end:
            reward = rewards[there]
            weight = math.exp(-tilt * (reward - low))
            word, a, b, c, counter = mixed(a, b, c, counter)
            if np.float64(word >> _BITS) * _UNIT < weight:
                rewards[there] = rewards[here]
                rewards[here] = reward
                distance += reward - low
                product *= left / np.float64(end - here)  # step 2
                left -= weight
                here += one
                if product < _TINY:
                    log_product += math.log(product)
                    product = 1.0
    words[0], words[1], words[2], words[3] = a, b, c, counter
    if here < last or distance > bar or not wins_by(mean - mean_from(low, distance, n), tie, rng):
        return False
    return rng.random() < math.exp(tilt * distance + log_product + math.log(product) - ceiling)  # step 4


@shared
def try_tilt(challenger: Any, n: int, mean: float, leader: Sample) -> None:
    """Choose a tilt for the next duels, if it makes them cheaper."""
    patience = challenger.patience
    choose_tilt(challenger, mean, leader)
    prepare(challenger, n, mean, leader)
    challenger.spent, challenger.patience = 0.0, TILT_PATIENCE
    if not log_ceiling(challenger, n, leader.rewards.size) < challenger.limit:
        challenger.tilt, challenger.patience = 0.0, 2.0 * patience


@jit
def beats_leader(
    challenger: Any, n: int, mean: float, leader: Sample, tie: float, words: Words, rng: np.random.Generator
) -> bool:
    """Whether a challenger with n rewards of this mean beats the leader."""
    n_leader = leader.rewards.size
    if challenger.tilt > 0.0 and 2 * n <= n_leader:
        if challenger.fall < 0.0:
            prepare(challenger, n, mean, leader)
        ceiling = log_ceiling(challenger, n, n_leader)
        if ceiling < challenger.limit:
            if rng.standard_exponential() < -ceiling:  # step 4
                return False
            challenger.spent += TILTED_DRAW_COST * n
            return tilted_win(challenger, ceiling, n, mean, leader, tie, words, rng)
    challenger.spent += n
    if challenger.spent > challenger.patience * n_leader and mean < leader.mean and 2 * n <= n_leader:
        try_tilt(challenger, n, mean, leader)
    return wins_by(lead_over_subset(n, mean, leader, words), tie, rng)
