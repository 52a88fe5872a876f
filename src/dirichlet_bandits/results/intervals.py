"""Confidence intervals over replications."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.types import Floats

_RESAMPLES = 4000
_BLOCK = 250  # resamples at a time: a few megabytes for a thousand replications


class IntervalEstimate(NamedTuple):
    """An estimate and the ends of its confidence interval."""

    value: float
    low: float
    high: float


def student(values: Floats, confidence: float) -> IntervalEstimate:
    """Return Student's confidence interval for a mean.

    >>> student(np.array([1.0, 2.0, 3.0]), 0.95).value
    2.0
    """
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    width = error * float(scipy.special.stdtrit(values.size - 1, (1 + confidence) / 2))
    return IntervalEstimate(mean, mean - width, mean + width)


def student_p_value(values: Floats) -> float:
    """Return the two-sided p-value of Student's test that a mean is zero.

    It is alpha if the interval of level 1 - alpha ends at 0.

    >>> round(student_p_value(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    >>> student_p_value(np.zeros(3)), student_p_value(np.ones(3))
    (1.0, 0.0)
    """
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    if error == 0.0:
        return float(mean == 0.0)
    return 2.0 * float(scipy.special.stdtr(values.size - 1, -abs(mean) / error))


def bootstrap(rows: Floats, statistic: Callable[[Floats], Floats], confidence: float) -> IntervalEstimate:
    """Return the percentile interval for a statistic of replications, which are resampled with replacement.

    ``rows`` is (quantity, replication): the values of one replication stay together. ``statistic`` maps
    (quantity, resample, replication) to (resample,). The resamples are the same in every call.

    >>> x = np.random.default_rng(0).normal(size=(1, 400))
    >>> found = bootstrap(x, lambda rows: rows[0].std(axis=-1), 0.95)
    >>> found.low < 1 < found.high
    True

    Reference: Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13.
    """
    rng = np.random.default_rng(0)
    n = rows.shape[1]
    drawn = [statistic(rows[:, rng.integers(n, size=(_BLOCK, n))]) for _ in range(_RESAMPLES // _BLOCK)]
    low, high = np.quantile(np.concatenate(drawn), [(1 - confidence) / 2, (1 + confidence) / 2])
    return IntervalEstimate(float(statistic(rows[:, None, :])[0]), float(low), float(high))
