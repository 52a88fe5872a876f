"""The upper tail of an arm of QDS: its mean, and power sums of the rewards below it, updated with each new reward.

After one more reward, at most one value crosses the border between the tail and the rest. Therefore, the values next to
the border are kept in order, in a window, and a reward costs one insertion there. The border moves as slowly as a
random walk. When it leaves the window, or the window is full, all rewards are split again, which is rare.
"""

from typing import Any

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics.arrays import partition, scaled
from dirichlet_bandits.numerics.expansion import moved_sums
from dirichlet_bandits.policies.dirichlet.rule import rank_of_tail
from dirichlet_bandits.policies.dirichlet.sums import WINDOW, Offsets, add_powers, add_shortfall, start_sums
from dirichlet_bandits.types import Floats


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
def tail_sums(sample: Any, x: Floats, lowest: float, m: float, alpha: float) -> Offsets:
    """Return power sums of the offsets from m of the rewards below the tail, and of its mean with the tail's weight."""
    n = x.size
    if 4 * (n - sample.known) >= n:
        part(sample, x, m, alpha)
    for i in range(sample.known, n):
        if not _add(sample, x[i], alpha):
            part(sample, x, m, alpha)
            break
    size, d = n + 1 - rank_of_tail(n, alpha), m - sample.origin
    s1, s2, s3, s4 = moved_sums(n - size, sample.p1, sample.p2, sample.p3, sample.p4, d)
    a = sample.tail / size - d
    s1, s2, s3, s4 = s1 + size * a, s2 + size * a * a, s3 + size * a * a * a, s4 + size * a * a * a * a
    return Offsets(s1, s2, s3, s4, max(a, m - lowest))
