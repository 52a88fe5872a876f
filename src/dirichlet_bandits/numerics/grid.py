"""Count rewards in [0, 1] on a grid, so that the cost of the evidence between arms does not grow with their number.

A reward between two points of the grid counts as both, in the proportion that keeps its mean. log(1 - lam (x - m)) is
concave in x, so the evidence (``numerics/kinf_statistic.py``) can only become smaller, by about n (lam / POINTS)^2 / 8
per arm.
Rewards of 0 and 1, and all multiples of 1 / POINTS, are counted exactly.
"""

from typing import Final

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.kinf_statistic import weighted_statistic
from dirichlet_bandits.types import Floats

POINTS: Final = 64


@jit
def new_grid(n_arms: int) -> Floats:
    """Return the weights of the grid points, one row per arm, before the first reward."""
    return np.zeros((n_arms, POINTS + 1))


@jit
def count_on_grid(weights: Floats, reward: float) -> None:
    """Count one reward in [0, 1] in the row of its arm."""
    place = min(max(reward, 0.0), 1.0) * POINTS
    below = min(int(place), POINTS - 1)
    share = place - below
    weights[below] += 1.0 - share
    weights[below + 1] += share


@jit
def grid_statistic(best: Floats, n_best: float, rival: Floats, n_rival: float, margin: float) -> float:
    """Return Z (``numerics/kinf_statistic.py``) for the weights of two arms.

    >>> import math
    >>> weights = np.zeros((2, POINTS + 1))
    >>> weights[0, -1], weights[1, 0] = 3.0, 3.0
    >>> round(grid_statistic.py_func(weights[0], 3.0, weights[1], 3.0, 0.0), 12) == round(6.0 * math.log(2.0), 12)
    True
    """
    mirror, mirror_weights = _used(best, True)
    values, rival_weights = _used(rival, False)
    return weighted_statistic(mirror, mirror_weights, n_best, values, rival_weights, n_rival, margin)[0]


@jit
def _used(weights: Floats, mirrored: bool) -> tuple[Floats, Floats]:
    """Return the points that have a weight, mirrored for the better arm, and their weights."""
    points, found, n = np.empty(weights.size), np.empty(weights.size), 0
    for i in range(weights.size):
        if weights[i] > 0.0:
            points[n] = (POINTS - i) / POINTS if mirrored else i / POINTS
            found[n] = weights[i]
            n += 1
    return points[:n].copy(), found[:n].copy()
