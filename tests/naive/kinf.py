"""Kinf by bisection of the dual's slope, in 60 digits."""

from collections.abc import Sequence

import mpmath as mp


def kinf(values: Sequence[float], target: float, upper: float, weights: Sequence[float] | None = None) -> mp.mpf:
    with mp.workdps(60):
        x = [mp.mpf(float(v)) - mp.mpf(float(target)) for v in values]
        w = [mp.mpf(float(v)) for v in (weights if weights is not None else [1] * len(x))]
        total = mp.fsum(w)
        width = mp.mpf(float(upper)) - mp.mpf(float(target))
        if mp.fdot(w, x) >= 0:
            return mp.mpf(0)
        if width <= 0:
            return mp.inf

        def slope(lam: mp.mpf) -> mp.mpf:
            return -mp.fsum(wi * xi / (1 - lam * xi) for wi, xi in zip(w, x, strict=True))

        low, high = mp.mpf(0), 1 / width
        if max(x) < width and slope(high) >= 0:
            low = high
        # Start the bisection from a good bracket: the multiplier may be tiny.
        trial = high
        while low != high and trial > 0:
            trial /= 8
            if slope(trial) > 0:
                low = trial
                break
            high = trial
        for _ in range(90):
            middle = (low + high) / 2
            if slope(middle) > 0:
                low = middle
            else:
                high = middle
        return mp.fsum(wi * mp.log(1 - low * xi) for wi, xi in zip(w, x, strict=True)) / total
