"""The probability that a challenger of BDS, RDS or QDS wins: a crossing probability, direct or incremental.

The challenger's contour (``numerics/contour.py``) is updated with its rewards. It estimates its own error and is
rebuilt when the error is too large. In live studies, which record probabilities, the error must stay below
CONTOUR_ERROR; in simulations, which use them only to decide, below CLOCK_ERROR.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import shifted, with_last
from dirichlet_bandits.numerics.costs import CONTOUR_APPENDED_MOST, CONTOUR_FOLLOWED_MOST, CONTOUR_KEPT_FROM
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus,
    mean_shortfall,
    rank_of_tail,
    reweighted,
    split_tail,
    tail_mean,
)
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.types import Floats, Ints


@jit
def log_crossing_of(values: Floats, weights: Floats, b: float, m: float) -> float:
    """Return log P(reweighted mean of the values and the bonus b, of weight 1, reaches m)."""
    return log_crossing(shifted(with_last(values, b), -m), with_last(weights, 1.0) if weights.size > 0 else weights)


@implements(win_probability, BDSParams, RDSParams, QDSParams)
def crossing_win(policy: Any, state: History, challenger: int, leader: int) -> float:
    """Return 1 if the challenger's mean reaches the leader's, else the crossing probability."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return 1.0
    x = rewards(state, challenger)
    b = bonus(policy, x.size, state.highs[challenger], mean_shortfall(x, m), m)
    if b == math.inf:  # it outweighs everything
        return 1.0
    values, weights = reweighted(policy, x)
    return math.exp(log_crossing_of(values, weights, b, m))


@verb
def follow(policy: Any, kept: Floats, x: Floats, reward: float) -> Any:
    """Add one more reward to the stored contour of an arm with rewards x."""


@implements(follow, BDSParams, RDSParams)
def follow_reward(policy: Any, kept: Floats, x: Floats, reward: float) -> None:
    """Add one more value."""
    contour.append(kept, reward, 1)


@implements(follow, QDSParams)
def follow_truncated(policy: QDSParams, kept: Floats, x: Floats, reward: float) -> None:
    """Add one more value below the tail or, more rarely, one more value in the tail."""
    below, tail = split_tail(x, policy.alpha)
    dropped = 1 if rank_of_tail(x.size + 1, policy.alpha) > below.size + 1 else 0
    if dropped > 0:
        contour.append(kept, min(reward, tail[0]), 1)
        if reward <= tail[0]:
            return
    elif below.size > 0 and reward < below.max():
        contour.append(kept, reward, 1)
        contour.append(kept, below.max(), -1)
        reward = below.max()
    contour.append(kept, tail_mean(tail, 0, math.nan), -tail.size)
    contour.append(kept, tail_mean(tail, dropped, reward), tail.size + 1 - dropped)


@jit
def follow_all(policy: Any, kept: Floats, x: Floats, known: int) -> None:
    """Add the rewards after the first ``known`` to the contour of an arm with rewards x."""
    for n in range(known, x.size):
        follow(policy, kept, x[:n], x[n])


class Followed(NamedTuple):
    """The contour of each arm as a challenger, the number of rewards in it, and how many were appended."""

    contours: Floats
    counts: Ints


_HELD, _APPENDED = range(2)


def new_followed(n_arms: int) -> Followed:
    """Return empty records of all arms."""
    return Followed(contour.make.py_func(n_arms), np.zeros((n_arms, 2), np.int64))  # type: ignore[attr-defined]


@implements(incremental_win_probability, BDSParams, RDSParams, QDSParams)
def followed_crossing_win(policy: Any, state: History, challenger: int, leader: int, memory: Followed) -> float:
    """Return the probability of winning from the challenger's contour, accurate to about 1e-10."""
    m = state.means[leader]
    x = rewards(state, challenger)
    if state.means[challenger] >= m or x.size < CONTOUR_KEPT_FROM:
        return crossing_win(policy, state, challenger, leader)
    kept, counts = memory.contours[challenger], memory.counts[challenger]
    b = bonus(policy, x.size, state.highs[challenger], mean_shortfall(x, m), m)
    if b == math.inf:
        return crossing_win(policy, state, challenger, leader)
    held = counts[_HELD]
    new = x.size - held
    counts[_HELD] = x.size
    if held > 0 and new <= CONTOUR_FOLLOWED_MOST and counts[_APPENDED] + new <= CONTOUR_APPENDED_MOST:
        follow_all(policy, kept, x, held)
        counts[_APPENDED] += new
        log_p, error = contour.evaluate(kept, m, b)
        if error <= CONTOUR_ERROR:
            return math.exp(log_p)
    values, weights = reweighted(policy, x)
    counts[_APPENDED] = 0
    log_p, error = contour.rebuilt(kept, values, weights, b, m)
    if error <= CONTOUR_ERROR:
        return math.exp(log_p)
    counts[_HELD] = 0
    return math.exp(log_crossing_of(values, weights, b, m))
