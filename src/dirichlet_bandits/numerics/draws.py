"""Draw binomial variables, with NumPy's method or outward from the likeliest value."""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared


@shared
def binomial(n: int, p: float, rng: np.random.Generator) -> int:
    """Draw the number of heads among n coins with NumPy's method; shared by all callers because its code is long."""
    return rng.binomial(n, p)


@jit
def odds_of(p: float) -> float:
    """Return p / (1 - p), made finite."""
    return p / max(1.0 - p, 1e-300)


@jit
def log_chance(n: int, p: float, heads: int) -> float:
    """Return the logarithm of the probability of so many heads among n coins.

    >>> round(math.exp(log_chance(4, 0.5, 2)), 12)
    0.375
    """
    log_p = heads * math.log(p) + (n - heads) * math.log1p(-p) if heads < n else heads * math.log(p)
    return log_p + math.lgamma(n + 1.0) - math.lgamma(heads + 1.0) - math.lgamma(n - heads + 1.0)


@jit
def next_peak(mode: int, peak: float, n: int, p: float) -> tuple[int, float]:
    """Return the likeliest number of heads and its probability, after the n-th coin was added.

    >>> mode, peak = next_peak(2, 0.375, 5, 0.5)
    >>> mode, round(peak, 12)
    (3, 0.3125)
    """
    peak *= n * (1.0 - p) / (n - mode)
    return (mode + 1, peak * (n - mode) * odds_of(p) / (mode + 1.0)) if int(p * (n + 1)) > mode else (mode, peak)


@jit
def binomial_from(mode: int, peak: float, n: int, p: float, rng: np.random.Generator) -> int:
    """Draw the number of heads among n coins by inversion, from the mode and its probability outward.

    This takes about as many steps as the standard deviation; NumPy's inversion takes as many as the mean.
    """
    below = above = mode
    odds, lower, upper, u = odds_of(p), peak, peak, rng.random() - peak
    while u >= 0.0 and upper + lower > 0.0:
        upper *= (n - above) * odds / (above + 1.0)
        lower *= below / ((n - below + 1.0) * odds)
        above, below, u = above + 1, below - 1, u - upper
        if u < 0.0:
            return above
        u -= lower
    return max(below, 0)
