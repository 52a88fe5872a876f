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
from dirichlet_bandits.numerics.compensated import weight_of
from dirichlet_bandits.numerics.costs import CONTOUR_KEPT_FROM, CONTOUR_LEAST
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.policies.dirichlet.rule import (
    BDSParams,
    QDSParams,
    RDSParams,
    bonus_of,
    rank_of_tail,
    reweighted,
)
from dirichlet_bandits.policies.dirichlet.sums import SAMPLE, update_tail
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.types import Floats, Records

FEW = 16  # different values that are merged, at most


@jit
def merged(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values with their weights summed if there are few; otherwise, the same values and weights.

    >>> merged(np.array([0.0, 1.0, 0.0]), np.empty(0))
    (array([0., 1.]), array([2., 1.]))
    """
    different, sums, n = np.empty(FEW), np.empty(FEW), 0
    for i in range(values.size):
        k = 0
        while k < n and different[k] != values[i]:
            k += 1
        if k == FEW:
            return values, weights
        if k == n:
            different[k], sums[k] = values[i], 0.0
            n += 1
        sums[k] += weight_of(weights, i)
    return different[:n], sums[:n]


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
    b = bonus_of(policy, state, challenger, m)
    if b == math.inf:  # it outweighs everything
        return 1.0
    values, weights = reweighted(policy, rewards(state, challenger))
    return math.exp(log_crossing_of(values, weights, b, m))


@verb
def follow(policy: Any, stored: Any, x: Floats, sample: Any) -> Any:
    """Add the rewards after the first ``sample.followed`` to the stored contour of an arm with rewards x."""


@implements(follow, BDSParams, RDSParams)
def follow_rewards(policy: Any, stored: Any, x: Floats, sample: Any) -> None:
    """Add one value per reward."""
    for i in range(sample.followed, x.size):
        contour.append(stored, x[i], 1)
    sample.followed = x.size


@implements(follow, QDSParams)
def follow_truncated(policy: QDSParams, stored: Any, x: Floats, sample: Any) -> None:
    """Add and remove values where the rewards below the tail have changed, and replace the tail's mean."""
    known, old_border, old_mean = sample.followed, sample.border, sample.mean
    size, old_size = update_tail(sample, x, x[0], policy.alpha), known + 1 - rank_of_tail(known, policy.alpha)
    sample.followed, sample.mean = x.size, sample.origin + sample.tail / size
    sample.border = sample.window[x.size - size - sample.first]
    ties, old_ties = x.size - size, known - old_size  # rewards below the tail that are equal to its smallest value
    for i in range(x.size):
        below, was_below = x[i] < sample.border, i < known and x[i] < old_border
        ties, old_ties = ties - below, old_ties - was_below
        if below != was_below:
            contour.append(stored, x[i], 1 if below else -1)
    contour.append(stored, sample.border, ties)
    contour.append(stored, old_border, -old_ties)
    contour.append(stored, old_mean, -old_size)
    contour.append(stored, sample.mean, size)


@jit
def log_win_probability(
    policy: Any, x: Floats, b: float, m: float, stored: Any, sample: Any, tolerance: float
) -> float:
    """Return log P(index >= m) of an arm with rewards x and bonus b.

    It comes from the arm's contour if its estimated error is below the tolerance, after a rebuild if necessary.
    """
    if x.size >= CONTOUR_LEAST:
        if 4 * (x.size - sample.followed) >= x.size:  # a rebuild is cheaper
            contour.forget(stored)
        follow(policy, stored, x, sample)
        log_p, error = contour.evaluate(stored, m, b)
        if error <= tolerance:
            return log_p
    values, weights = merged(*reweighted(policy, x))
    if x.size >= CONTOUR_LEAST:
        log_p, error = contour.rebuilt(stored, values, weights, b, m)
        if error <= tolerance:
            return log_p
    return log_crossing_of(values, weights, b, m)


class Followed(NamedTuple):
    """The contour of each arm as a challenger, and the sample that it contains."""

    contours: Records  # ``CONTOUR``
    samples: Records  # ``SAMPLE``


def new_followed(n_arms: int) -> Followed:
    """Return empty records of all arms."""
    return Followed(contour.make.py_func(n_arms), np.zeros(n_arms, SAMPLE))  # type: ignore[attr-defined]


@implements(incremental_win_probability, BDSParams, RDSParams, QDSParams)
def followed_crossing_win(policy: Any, state: History, challenger: int, leader: int, memory: Followed) -> float:
    """Return the probability of winning from the challenger's contour, accurate to about 1e-10."""
    m, x = state.means[leader], rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    if state.means[challenger] >= m or x.size < CONTOUR_KEPT_FROM or b == math.inf:
        return crossing_win(policy, state, challenger, leader)
    stored, sample = memory.contours[challenger], memory.samples[challenger]
    return math.exp(log_win_probability(policy, x, b, m, stored, sample, CONTOUR_ERROR))
