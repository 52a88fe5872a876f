"""The posterior probability that an arm has the best mean.

It is no guarantee. Each mean has the posterior of the Bayesian bootstrap, with rewards weighted by
Dirichlet(1, ..., 1), and one more reward at each bound if there are bounds. The probability is computed from the Beta
distribution (without bounds, the normal one) of the same mean and variance. For rewards of 0 and 1 this is the exact
posterior with a uniform prior, Beta(1 + successes, 1 + failures).

Reference: Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from dirichlet_bandits.inference.intervals import Bounds, are_finite
from dirichlet_bandits.types import Floats

_POINTS: Final = 4000  # of the integral, for all arms together
_REACH: Final = 8.0  # standard deviations around each mean


def probability_best(of_arm: Sequence[Floats], bounds: Bounds) -> Floats:
    """Return the posterior probability that each arm has the largest mean; NaN if that is undefined.

    >>> coins = np.array([1.0, 0.0]), np.array([1.0, 1.0, 0.0])
    >>> probability_best(coins, (0.0, 1.0)).round(3).tolist()
    [0.371, 0.629]
    """
    bounded = are_finite(bounds)
    if not bounded and any(x.size < 2 or not x.var() > 0.0 for x in of_arm):
        return np.full(len(of_arm), math.nan)
    ends = np.array(bounds) if bounded else np.empty(0)
    all_of = [np.append(x, ends) for x in of_arm]
    mean = np.array([x.mean() for x in all_of])
    error = np.sqrt([x.var() / (x.size + 1) for x in all_of])
    each = max(_POINTS // len(of_arm), 20)
    points = (mean[:, None] + error[:, None] * np.linspace(-_REACH, _REACH, each)).ravel()
    points = np.unique(np.clip(points, *bounds))
    below = _distribution(points, mean, error, bounds)
    others = np.stack([np.prod(np.delete(below, arm, axis=0), axis=0) for arm in range(len(of_arm))])
    found = (np.diff(below, axis=1) * 0.5 * (others[:, 1:] + others[:, :-1])).sum(axis=1)
    return np.asarray(found / found.sum())


def _distribution(points: Floats, mean: Floats, error: Floats, bounds: Bounds) -> Floats:
    """Return distribution functions, one row per arm."""
    from scipy.special import betainc, ndtr

    if not are_finite(bounds):
        return np.asarray(ndtr((points - mean[:, None]) / error[:, None]))
    unit = bounds[1] - bounds[0]
    m, v = (mean - bounds[0]) / unit, np.square(error / unit)
    size = m * (1.0 - m) / v - 1.0
    z = np.clip((points - bounds[0]) / unit, 0.0, 1.0)
    return np.asarray(betainc((m * size)[:, None], ((1.0 - m) * size)[:, None], z))
