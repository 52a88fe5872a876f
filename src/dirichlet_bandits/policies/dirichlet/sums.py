"""What duels use of an arm's rewards: sums of powers and of shortfalls, updated with each new reward.

Each arm has one record, its *sample*. BDS and RDS give all rewards the same weight, so the powers of all rewards are
summed. For QDS, only the powers of the rewards below the upper tail are summed, and ``tail.py`` updates them.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.expansion import more_powers, moved_sums
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.dirichlet.rule import mean_shortfall
from dirichlet_bandits.types import Floats

WINDOW = 128  # values next to the border of a tail that are kept in order, at most

SAMPLE = np.dtype(
    [
        ("known", np.int64),  # rewards that the sums include
        ("origin", np.float64),  # the number about which powers are summed
        ("p1", np.float64),
        ("p2", np.float64),
        ("p3", np.float64),
        ("p4", np.float64),
        ("held", np.float64, (4,)),  # an error bound, in the form in which ``numerics/expansion.py`` keeps it
        ("shortfall", np.float64),  # sum of all rewards' shortfalls at the mean ``at``
        ("at", np.float64),
        # The others are for QDS only.
        ("tail", np.float64),  # sum of the tail, each value less the origin
        ("first", np.int64),  # rewards below those in the window
        ("size", np.int64),  # values in the window
        ("window", np.float64, (WINDOW,)),  # the values next to the border, in ascending order
    ],
    align=True,
)


class Offsets(NamedTuple):
    """Power sums of the offsets from m of all values that a duel reweights besides the bonus."""

    s1: float
    s2: float
    s3: float
    s4: float
    largest: float  # a bound on the size of all offsets


@jit
def new_samples(n_arms: int) -> Any:
    """Return the samples of arms whose rewards are not known yet."""
    samples = np.zeros(n_arms, SAMPLE)
    for arm in range(n_arms):
        samples[arm].held[0] = math.nan
    return samples


@jit
def add_powers(sample: Any, value: float, weight: float) -> None:
    """Add one value to the sums (weight 1), or remove it (-1)."""
    sample.p1, sample.p2, sample.p3, sample.p4 = more_powers(
        sample.p1, sample.p2, sample.p3, sample.p4, value - sample.origin, weight
    )


@jit
def start_sums(sample: Any, x: Floats, m: float) -> None:
    """Forget all values, and start new powers about the mean of x and new shortfalls at m."""
    sample.known, sample.origin, sample.shortfall, sample.at = 0, sum_of(x) / x.size, 0.0, m
    sample.p1 = sample.p2 = sample.p3 = sample.p4 = 0.0


@jit
def add_shortfall(sample: Any, reward: float) -> None:
    """Add the shortfall of one more reward."""
    sample.shortfall += max(sample.at - reward, 0.0)
    sample.known += 1


@jit
def all_sums(sample: Any, x: Floats, m: float) -> tuple[float, float, float, float]:
    """Return S_k, k = 1 ... 4, of the offsets of all rewards x from m."""
    if sample.known == 0:
        start_sums(sample, x, m)
    for i in range(sample.known, x.size):
        add_powers(sample, x[i], 1.0)
        add_shortfall(sample, x[i])
    return moved_sums(x.size, sample.p1, sample.p2, sample.p3, sample.p4, m - sample.origin)


@jit
def take_shortfall(sample: Any, x: Floats, m: float) -> float:
    """Return the mean shortfall of x at m, and store it as the starting point of later bounds."""
    found = mean_shortfall(x, m)
    sample.shortfall, sample.at = found * x.size, m
    return found


@jit
def shortfall_bounds(sample: Any, m: float) -> tuple[float, float]:
    """Return bounds on the mean shortfall at m; each shortfall has changed by at most as much as m.

    >>> sample, x = new_samples(1)[0], np.arange(16.0)
    >>> _ = all_sums(sample, x[:15], 2.0), all_sums(sample, x, 2.1)
    >>> low, high = shortfall_bounds(sample, 2.1)
    >>> low < mean_shortfall(x, 2.1) < high
    True
    """
    mean, moved = sample.shortfall / sample.known, m - sample.at
    slack = INDEX_SLACK * mean
    return mean + min(moved, 0.0) - slack, mean + max(moved, 0.0) + slack
