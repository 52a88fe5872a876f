"""What duels use of an arm's rewards: sums of powers and of shortfalls, updated with each new reward.

Each arm has one record, its *sample*. BDS and RDS give all rewards the same weight, so the powers of all rewards are
summed. For QDS, only the powers of the rewards below the upper tail are summed, and the tail is replaced by its mean.

After one more reward, at most one value crosses the border between the tail and the rest. Therefore, the values next to
the border are kept in order, in a window, and a reward costs one insertion there. The border moves as slowly as a
random walk. When it leaves the window, or the window is full, all rewards are split again, which is rare.
"""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics.arrays import partition, scaled, sum_of
from dirichlet_bandits.numerics.expansion import more_powers, moved_sums
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.dirichlet.rule import BDSParams, QDSParams, RDSParams, mean_shortfall, rank_of_tail
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
        ("followed", np.int64),  # rewards in the arm's contour (``probability.py``)
        # The others are for QDS only.
        ("tail", np.float64),  # sum of the tail, each value less the origin
        ("first", np.int64),  # rewards below those in the window
        ("size", np.int64),  # values in the window
        ("window", np.float64, (WINDOW,)),  # the values next to the border, in ascending order
        ("border", np.float64),  # the smallest value of the tail, and its mean, as they are in the contour
        ("mean", np.float64),
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


@verb
def offset_sums(policy: Any, sample: Any, x: Floats, lowest: float, highest: float, m: float) -> Any:
    """Return power sums of the offsets from m of all values that a duel reweights, except the bonus."""


@implements(offset_sums, BDSParams, RDSParams)
def all_sums(policy: Any, sample: Any, x: Floats, lowest: float, highest: float, m: float) -> Offsets:
    """Return the power sums of all rewards, each with weight 1."""
    if sample.known == 0:
        start_sums(sample, x, m)
    for i in range(sample.known, x.size):
        add_powers(sample, x[i], 1.0)
        add_shortfall(sample, x[i])
    s1, s2, s3, s4 = moved_sums(x.size, sample.p1, sample.p2, sample.p3, sample.p4, m - sample.origin)
    return Offsets(s1, s2, s3, s4, max(highest - m, m - lowest))


@jit
def take_shortfall(sample: Any, x: Floats, m: float) -> float:
    """Return the mean shortfall of x at m; if the sample includes all rewards, store it for later bounds."""
    found = mean_shortfall(x, m)
    if sample.known == x.size:
        sample.shortfall, sample.at = found * x.size, m
    return found


@jit
def shortfall_bounds(sample: Any, m: float) -> tuple[float, float]:
    """Return bounds on the mean shortfall at m; each shortfall has changed by at most as much as m.

    >>> sample, x = np.zeros(1, SAMPLE)[0], np.arange(16.0)
    >>> _ = all_sums(RDSParams(0), sample, x, 0.0, 15.0, 2.0)
    >>> low, high = shortfall_bounds(sample, 2.1)
    >>> low < mean_shortfall(x, 2.1) < high
    True
    """
    mean, moved = sample.shortfall / sample.known, m - sample.at
    slack = INDEX_SLACK * mean
    return mean + min(moved, 0.0) - slack, mean + max(moved, 0.0) + slack


@jit
def _insert(window: Any, size: int, value: float) -> None:
    """Insert a value into the first ``size`` values, in ascending order."""
    while size > 0 and window[size - 1] > value:
        window[size] = window[size - 1]
        size -= 1
    window[size] = value


@shared
def part(sample: Any, x: Floats, m: float, alpha: float) -> None:
    """Split all rewards x into the tail and the rest, and recompute all sums."""
    n, border = x.size, rank_of_tail(x.size, alpha) - 1
    first, end = max(border - WINDOW // 4, 0), min(border + WINDOW // 4, n)
    parted = scaled(x, 1.0)
    partition(parted, first)
    partition(parted[first:], end - first)
    window = sample.window
    for i in range(first, end):
        _insert(window, i - first, parted[i])
    for i in range(first, end):
        parted[i] = window[i - first]
    start_sums(sample, x, m)
    sample.tail, sample.first, sample.size = 0.0, first, end - first
    for i in range(n):
        add_shortfall(sample, parted[i])
        if i < border:
            add_powers(sample, parted[i], 1.0)
        else:
            sample.tail += parted[i] - sample.origin


@jit
def _add(sample: Any, reward: float, alpha: float) -> bool:
    """Add a reward; return whether the smallest tail value is still in a window with room for another value."""
    n, window = sample.known, sample.window
    border, new_border = rank_of_tail(n, alpha) - 1, rank_of_tail(n + 1, alpha) - 1
    below = reward < window[border - sample.first]
    if reward < window[0]:
        sample.first += 1
    elif reward < window[sample.size - 1]:
        _insert(window, sample.size, reward)
        sample.size += 1
    add_shortfall(sample, reward)
    if below:
        add_powers(sample, reward, 1.0)
    else:
        sample.tail += reward - sample.origin
    n_below = border + 1 if below else border
    if n_below != new_border:  # the value of rank ``border``, counted from 0, crosses the border
        if border < sample.first:
            return False
        side = 1.0 if new_border > n_below else -1.0
        value = window[border - sample.first]
        add_powers(sample, value, side)
        sample.tail -= side * (value - sample.origin)
    return sample.size < WINDOW and sample.first <= new_border < sample.first + sample.size


@shared
def update_tail(sample: Any, x: Floats, m: float, alpha: float) -> int:
    """Add the rewards that are new in x to the sample, and return the size of the tail."""
    n = x.size
    if 4 * (n - sample.known) >= n:
        part(sample, x, m, alpha)
    for i in range(sample.known, n):
        if not _add(sample, x[i], alpha):
            part(sample, x, m, alpha)
            break
    return n + 1 - rank_of_tail(n, alpha)


@implements(offset_sums, QDSParams)
def tail_sums(policy: QDSParams, sample: Any, x: Floats, lowest: float, highest: float, m: float) -> Offsets:
    """Return the power sums of the rewards below the tail, and of the tail's mean with the tail's weight."""
    size, d = update_tail(sample, x, m, policy.alpha), m - sample.origin
    s1, s2, s3, s4 = moved_sums(x.size - size, sample.p1, sample.p2, sample.p3, sample.p4, d)
    a = sample.tail / size - d
    s1, s2, s3, s4 = s1 + size * a, s2 + size * a * a, s3 + size * a * a * a, s4 + size * a * a * a * a
    return Offsets(s1, s2, s3, s4, max(a, m - lowest))
