"""Clocks for duels with rewards drawn without replacement: a ceiling of the chance to win, and the duel when it rings.

A challenger with n rewards wins against a leader with N if n of the leader's rewards, drawn one after the other, have
distances from their least, ``low``, whose sum S is at most n (mean - low): see ``subsets.py``. Give each of the
leader's rewards the weight w = exp(-tilt distance), W in all, and draw in proportion to the weights of those that are
left. A sequence that should have probability prod 1/(N - j) has now prod w_j / (W - V_j), V_j being the weights drawn
before the j-th, j = 0, ..., n - 1. So with S and V_j of a tilted draw

    P(win) = E[ exp(tilt S) prod (W - V_j)/(N - j);  the challenger wins ].

* The ceiling. S is at most ``bar`` in a duel that is won, and so are the distances of its first j rewards; exp is
  convex, hence V_j >= f(j) = j exp(-tilt bar / j). So P(win) is at most  exp(tilt bar) (W/N)^n D,  where log D, the sum
  of log(1 - f(j)/W) - log(1 - j/N), is at most

      n (n - 1) / (2 N) - sum f(j) / W + n (n - 1) (2 n - 1) / (12 N (N - n)).

  All this falls as N grows and W/N stays below a number, ``most``: that is the certificate. It ends when W/N exceeds
  ``most`` or a reward of the leader is a new extreme, and when the challenger is pulled or the leader another one:
  questions about rewards that are asked before every round and do not know when the clock rings.
* The ring. A clock of that ceiling rings, rewards are drawn by their weights, and the duel is won with probability
  exp(tilt S) prod (W - V_j)/(N - j) / ceiling, if it is won at all.

The tilt is a matter of cost alone. It is best where the tilted mean is the challenger's (Chernoff, 1952).
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline, shared
from dirichlet_bandits.engine.clocks import geometric
from dirichlet_bandits.numerics.costs import (
    TILT_DRIFT,
    TILT_MOST,
    TILT_PATIENCE,
    TILT_SAMPLE,
    TILTED_DRAW_COST,
    TILTED_DUEL_COST,
    WEIGHT_ROOM,
)
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.policies.subsampling.subsets import HALF, LOW_HALF, bar_of, below, wins_by
from dirichlet_bandits.seeding import mixed
from dirichlet_bandits.types import Floats, Ints, Words

ALWAYS: Final = -1
"""In place of a ring: no certificate, the challenger duels in every round."""
UNSURE: Final = -2
"""The certificate has ended, and another one has to be found."""
_UNIT: Final = 2.0**-32
_TINY: Final = 1e-200
_STEPS: Final = 64.0
_LAST: Final = 16.0
_PIECES: Final = 8
_DECAYS: Final = np.exp(-np.arange(_STEPS * _LAST + 2) / _STEPS)

# Rows of Waits.numbers: tilt (0: none), W, the challenger's mean for which the tilt was chosen, most, log-ceiling.
TILT, WEIGHT, AIM, MOST, CEILING = range(5)
NOW, LEADER = range(2)


class Waits(NamedTuple):
    """Of each challenger: numbers of its certificate, the round in which its clock rings, rewards drawn for duels that
    it lost without one; and the round and the leader now."""

    numbers: Floats
    ring: Ints
    spent: Ints
    at: Ints


@jit
def decay(x: float) -> float:
    """exp(-x) for x >= 0: a table, and six terms of the series; compiled into loops, in which a call takes longer.

    >>> all(abs(decay(x) / math.exp(-x) - 1.0) < 1e-13 for x in (0.0, 0.3, 1.009, 15.99, 17.0))
    True

    Reference: the series of exp.
    """
    if not x < _LAST:
        return math.exp(-x)
    place = int(x * _STEPS)
    y = place / _STEPS - x
    return _DECAYS[place] * (1.0 + y * (1.0 + y / 2.0 * (1.0 + y / 3.0 * (1.0 + y / 4.0 * (1.0 + y / 5.0)))))


@jit
def new_waits(n_arms: int) -> Waits:
    """No certificates."""
    return Waits(np.zeros((5, n_arms)), np.full(n_arms, ALWAYS), np.zeros(n_arms, np.int64), np.full(2, -1))


@shared
def forget(numbers: Floats, ring: Ints, spent: Ints) -> None:
    """Another leader."""
    for arm in range(ring.size):
        numbers[TILT, arm], ring[arm], spent[arm] = 0.0, ALWAYS, 0


@shared
def weigh(numbers: Floats, ring: Ints, n_leader: int, low: float, high: float, reward: float) -> None:
    """The leader has one more reward, ``n_leader`` in all; ``low`` and ``high`` were its extremes before."""
    for arm in range(ring.size):
        tilt = numbers[TILT, arm]
        if tilt > 0.0:
            if reward < low:
                numbers[WEIGHT, arm] = numbers[WEIGHT, arm] * decay(tilt * (low - reward)) + 1.0
                ring[arm] = UNSURE
            else:
                numbers[WEIGHT, arm] += decay(tilt * (reward - low))
                if numbers[WEIGHT, arm] > numbers[MOST, arm] * n_leader or reward > high:
                    ring[arm] = UNSURE


@shared
def set_tilt(numbers: Floats, arm: int, mean: float, y: Floats, m: float, low: float) -> None:
    """Let the tilted mean of the leader's rewards y, whose mean is m, be about the challenger's.

    By Newton's steps on some of them: their own mean, which is not m, is to fall as far.
    """
    step, tilt, most, aim = 1 + y.size // TILT_SAMPLE, 0.0, math.inf, -math.inf
    for _ in range(3):
        total = first = second = 0.0
        for i in range(0, y.size, step):
            w = decay(tilt * (y[i] - low))
            total += w
            first += w * (y[i] - low)
            second += w * (y[i] - low) * (y[i] - low)
        first /= total
        variance = second / total - first * first
        if not variance > 0.0:
            break
        if tilt == 0.0:
            most, aim = TILT_MOST / first, max(first - (m - mean), 0.0)
        tilt = min(max(tilt + (first - aim) / variance, 0.0), most)
    numbers[TILT, arm], numbers[AIM, arm], numbers[WEIGHT, arm] = 0.0, mean, 0.0
    if tilt > 0.0 and tilt < math.inf:
        total = 0.0
        for i in range(y.size):
            total += decay(tilt * (y[i] - low))
        numbers[TILT, arm], numbers[WEIGHT, arm] = tilt, total


@jit
def least_drawn(n: int, fall: float) -> float:
    """A number that the sum of f(j) = j exp(-fall/j) over j < n is not below.

    f is convex. So the sum is at least the integral and half of the last f, and midpoints of a few pieces are below it.
    """
    total, last = 0.0, n - 1.0
    for k in range(_PIECES):
        j = last * (k + 0.5) / _PIECES
        total += j * math.exp(-fall / j)
    return total * last / _PIECES + 0.5 * last * math.exp(-fall / last) if n > 1 else 0.0


@jit
def log_ceiling(tilt: float, most: float, mean: float, n: int, n_leader: int, low: float, high: float) -> float:
    """A logarithm that P(win) does not exceed while W/N <= ``most``, N being at least what it is now."""
    fall = tilt * max(bar_of(mean, n, low, high), 0.0)
    repeats = (0.5 * n * (n - 1.0) - least_drawn(n, fall) / most) / n_leader
    second = n * (n - 1.0) * (2.0 * n - 1.0) / (12.0 * n_leader * (n_leader - n))
    return fall + n * math.log(most) + max(repeats, 0.0) + second


@shared
def certify(
    waits: Waits, arm: int, n: int, mean: float, n_leader: int, m: float, low: float, high: float, rng: Any
) -> None:
    """A certificate and the first ring, in this round or later, if a clock is cheaper than duels.

    The challenger has n rewards of this mean, the leader's mean is m, and its extremes ``low`` and ``high``.
    """
    numbers, ring, spent, at = waits
    tilt, share = numbers[TILT, arm], numbers[WEIGHT, arm] / n_leader
    ring[arm] = ALWAYS
    if not abs(mean - numbers[AIM, arm]) <= TILT_DRIFT * (m - numbers[AIM, arm]) or 2 * n > n_leader:
        numbers[TILT, arm] = 0.0
        return
    most = share * (1.0 + WEIGHT_ROOM / n)
    ceiling = log_ceiling(tilt, most, mean, n, n_leader, low, high)
    if ceiling + math.log(TILTED_DRAW_COST / share + TILTED_DUEL_COST / n) < 0.0:
        numbers[MOST, arm], numbers[CEILING, arm] = most, ceiling
        ring[arm] = at[NOW] - 1 + geometric(math.exp(ceiling), rng)
    else:
        numbers[TILT, arm], spent[arm] = 0.0, -TILT_PATIENCE * n_leader


@jit_inline
def kept(x: float, half: np.uint64, rng: np.random.Generator) -> bool:
    """Whether a uniform variable, whose first 32 bits these are, is below exp(-x), x >= 0.

    Entries of the table on both sides usually tell, without the other bits.
    """
    u: float = np.float64(half) * _UNIT
    if x < _LAST:
        place = int(x * _STEPS)
        if u + _UNIT <= _DECAYS[place + 1]:
            return True
        if u >= _DECAYS[place]:
            return False
    return bool(u + rng.random() * _UNIT < math.exp(-x))


@shared
def tilted_duel(
    waits: Waits, arm: int, mean: float, n: int, pool: Floats, first: int, size: int, low: float, high: float,
    tie: float, words: Words, rng: np.random.Generator,
) -> bool:  # fmt: skip
    """The clock rings: whether the challenger wins. The leader's rewards change their places."""
    tilt, left, bar = waits.numbers[TILT, arm], waits.numbers[WEIGHT, arm], bar_of(mean, n, low, high)
    a, b, c, counter = words[0], words[1], words[2], words[3]
    here, last, end, one = np.uint64(first), np.uint64(first + n), np.uint64(first + size), np.uint64(1)
    distance, product, log_product = 0.0, 1.0, 0.0
    while here < last and distance <= bar:
        word, a, b, c, counter = mixed(a, b, c, counter)
        there = here + below(word & LOW_HALF, end - here)
        if there != end:
            reward = pool[there]
            x = tilt * (reward - low)
            if kept(x, word >> HALF, rng):
                pool[there] = pool[here]
                pool[here] = reward
                distance += reward - low
                product *= left / np.float64(end - here)
                left -= decay(x)
                here += one
                if product < _TINY:
                    log_product += math.log(product)
                    product = 1.0
    words[0], words[1], words[2], words[3] = a, b, c, counter
    if here < last or distance > bar or not wins_by(mean - mean_from(low, distance, n), tie, rng):
        return False
    return rng.random() < math.exp(tilt * distance + log_product + math.log(product) - waits.numbers[CEILING, arm])
