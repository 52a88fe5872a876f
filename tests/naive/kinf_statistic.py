"""The evidence that one arm is better than another, by a search over the common mean in 60 digits."""

from collections.abc import Sequence

import mpmath as mp

from tests.naive.kinf import kinf


def kinf_statistic(best: Sequence[float], rival: Sequence[float], margin: float) -> mp.mpf:
    """min over m of n_b Kinf(1 - b, 1 - m) + n_a Kinf(a, m + margin), which is convex in m: golden-section search."""
    mean_best, mean_rival = sum(best) / len(best), sum(rival) / len(rival)
    if mean_best <= mean_rival - margin:
        return mp.mpf(0)
    mirror = [1.0 - x for x in best]

    def total(m: float) -> mp.mpf:
        return len(best) * kinf(mirror, 1.0 - m, 1.0) + len(rival) * kinf(rival, m + margin, 1.0)

    low, high = max(mean_rival - margin, 0.0), min(mean_best, 1.0 - margin)
    ratio = (5.0**0.5 - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = total(left), total(right)
    for _ in range(45):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = total(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = total(right)
    return min(at_left, at_right)
