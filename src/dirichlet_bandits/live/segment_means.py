"""Arms over all segments of a study: means as if every segment had tried each arm in the same proportion.

A policy that adapts tries different arms in different segments, so the plain mean of an arm's rewards says as much
about the segments that tried it as about the arm (Simpson's paradox). With w_s the share of segment s among all trials,

    mean of arm a = sum_s w_s mean_s(a),     interval from sum_s w_s low_s(a) to sum_s w_s high_s(a).

Differences from the control are averaged in the same way. The intervals of all segments hold together at the given
level, because S segments divide the probability of error by S. So the interval holds for the average with these
weights, at all times. An arm without a reward in some segment has no mean.

Reference: Miettinen (1972), Standardization of risk ratios, American Journal of Epidemiology 96.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from dirichlet_bandits.inference.intervals import Interval
from dirichlet_bandits.live.view import StudyView

NO_INTERVAL = "no interval in some segment"

Intervals = Callable[[StudyView, float], Sequence[Interval]]


def shares_of_segments(journal: StudyView) -> dict[str, float]:
    """Return the share of each segment among the trials that count."""
    sizes = {segment: len(part.arm_of) - len(part.repeats) for segment, part in journal.views.items()}
    total = sum(sizes.values())
    return {segment: size / total for segment, size in sizes.items()}


def pooled_means(journal: StudyView) -> list[float]:
    """Return the mean of each arm over all segments; NaN if a segment has no reward of it."""
    total = np.zeros(len(journal.names))
    for segment, share in shares_of_segments(journal).items():
        part = journal.views[segment]
        sums = np.bincount(np.array(part.told.arms, np.int64), part.told.rewards, minlength=total.size)
        counts = np.array(part.n_told, np.float64)
        total += share * np.where(counts > 0.0, sums / np.maximum(counts, 1.0), math.nan)
    return total.tolist()


def pooled_intervals(journal: StudyView, intervals: Intervals, level: float) -> list[Interval]:
    """Return the interval of each arm's mean, or lift, over all segments from those in each segment."""
    weights = shares_of_segments(journal)
    each = 1.0 - (1.0 - level) / len(weights)
    low, high = np.zeros(len(journal.names)), np.zeros(len(journal.names))
    for segment, share in weights.items():
        found = intervals(journal.views[segment], each)
        low += share * np.array([one.low for one in found])
        high += share * np.array([one.high for one in found])
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]
