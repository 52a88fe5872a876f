"""CVaR of exact fractions, and its crossing probability term by term in high precision."""

from collections.abc import Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np

from tests.naive.crossing import crossing_integer_weights


def cvar(values: Sequence[float], level: float, weights: Sequence[float] | None = None) -> Fraction:
    """The average of the quantile function over (0, level), atom by atom."""
    masses = [Fraction(w) for w in ([1] * len(values) if weights is None else weights)]
    left = share = Fraction(level) * sum(masses)
    total = Fraction(0)
    for x, mass in sorted(zip(map(Fraction, values), masses, strict=True)):
        taken = min(mass, left)
        total += taken * x
        left -= taken
    return total / share


def cvar_crossing(values: Sequence[float], threshold: float, level: float) -> mp.mpf:
    """The binomial mixture, every term of it."""
    x = sorted(float(v) for v in values)
    with mp.workdps(80 + 8 * len(x)):
        a, total = mp.mpf(float(level)), mp.mpf(0)
        for n in range(len(x)):
            if x[0] >= threshold:
                p = mp.mpf(1)
            elif x[n] <= threshold:
                p = mp.mpf(0)
            else:
                p = crossing_integer_weights(x[: n + 1], threshold, [1] * (n + 1))
            total += mp.binomial(len(x) - 1, n) * a**n * (1 - a) ** (len(x) - 1 - n) * p
        return +total


def cvar_crossing_draws(values: Sequence[float], threshold: float, level: float, draws: int, seed: int) -> float:
    """The definition itself: Dirichlet weights on all values, the CVaR of each reweighted sample."""
    x = np.sort(np.asarray(values, float))
    w = np.random.default_rng(seed).dirichlet(np.ones(x.size), draws)
    before = np.cumsum(w, axis=1) - w
    taken = np.clip(level - before, 0.0, w)
    return float(np.mean(taken @ x / level >= threshold))
