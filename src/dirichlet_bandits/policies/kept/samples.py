"""Condensed samples that follow the rewards, for NPTS: a few weighted points an arm in place of all its rewards.

A condensed sample has the first moments of what it stands for. New rewards are put beside it; when the points are too
many they are condensed again, and the moments are still those of all rewards. Rounding must not pile up: once the
rewards have doubled the sample is made anew.
"""

from typing import NamedTuple

import numpy as np

from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.npts import NPTS
from dirichlet_bandits.policies.random_index import condensed, resampled_index, shares


class Sample(NamedTuple):
    """Points and weights that stand for so many rewards of an arm; how many they stood for when made anew."""

    points: Floats
    weights: Floats
    held: int
    made: int


class KeptSamples:
    """Propensities of NPTS."""

    def __init__(self, policy: NPTS, n_arms: int) -> None:
        self._upper = float(policy.upper)
        self._samples = [Sample(np.empty(0), np.empty(0), 0, 0)] * n_arms

    def propensities(self, state: History) -> Floats:
        """As the plain ones, from the samples."""
        every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
        self._samples = [follow(sample, x) for sample, x in zip(self._samples, every, strict=True)]
        return shares([resampled_index(sample.points, sample.weights, self._upper) for sample in self._samples])


def follow(sample: Sample, x: Floats) -> Sample:
    """The sample of an arm that now has the rewards x.

    >>> sample = follow(Sample(np.empty(0), np.empty(0), 0, 0), np.arange(100.0))
    >>> sample = follow(sample, np.append(np.arange(100.0), 49.5))
    >>> sample.points.size, round(sample.weights.sum()), round(sample.weights @ sample.points / 101, 9)
    (33, 101, 49.5)

    Reference: the head of this file.
    """
    if x.size > 2 * sample.made:
        return Sample(*condensed(x, np.empty(0)), x.size, x.size)
    new = x[sample.held :]
    points, weights = np.append(sample.points, new), np.append(sample.weights, np.ones(new.size))
    return Sample(*condensed(points, weights), x.size, sample.made)
