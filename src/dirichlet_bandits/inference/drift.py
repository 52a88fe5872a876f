"""Find the arms whose rewards no longer look like one distribution: a warning that is rarely wrong.

Means, intervals and winners assume that an arm's rewards are draws of one distribution. The generalized likelihood
ratio of ``numerics/changes.py`` compares the means before and after each split of an arm's rewards, in their order.
With its proved threshold, an arm whose rewards are independent draws of one distribution within the bounds ever reaches
it with probability at most delta. The arms share delta as they share the error of their intervals
(``intervals.shares``), so arms that do not change are ever named, at any time, with probability at most delta. Without
bounds there is no such test.

Reference: Besson, Kaufmann, Maillard and Seznec (2022), Efficient change-point detection for tackling
piecewise-stationary bandits, JMLR 23.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from dirichlet_bandits.inference.intervals import Bounds, are_finite, shares
from dirichlet_bandits.numerics.changes import Threshold, glr_statistic, glr_threshold
from dirichlet_bandits.types import Floats

DELTA: Final = 0.05
"""Probability of ever warning of an arm that does not change."""


def drifting(of_arm: Sequence[Floats], since: Sequence[int], bounds: Bounds, delta: float = DELTA) -> list[int]:
    """Return the arms whose rewards, in order, do not look like draws of one distribution; none without bounds.

    >>> steady, jump = np.tile([0.0, 1.0], 200), np.repeat([0.0, 1.0], 200)
    >>> drifting([steady, jump], [0, 0], (0.0, 1.0))
    [1]
    """
    if not are_finite(bounds):
        return []
    found = []
    for arm, (x, share) in enumerate(zip(of_arm, shares(since).tolist(), strict=True)):
        if x.size > 1:
            level = glr_threshold(int(Threshold.PROVED), x.size, delta * share)
            z = np.clip((x - bounds[0]) / (bounds[1] - bounds[0]), 0.0, 1.0)
            if glr_statistic(z, level) >= level:
                found.append(arm)
    return found
