"""The upper tail of an arm of QDS, kept as rewards come: where it begins, its mean, and power sums of the others.

With one more reward the tail begins one value higher or lower at most. So the values next to that place are kept in
order, a few on each side, and the sum of the tail: a reward costs a step among them. The place wanders as slowly as a
random walk; when the values on one side are used up, which is rare, all rewards are looked at again.
"""

import math

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.numerics import contour
from dirichlet_bandits.numerics.arrays import set_all, sum_of
from dirichlet_bandits.numerics.compensated import two_sum
from dirichlet_bandits.numerics.expansion import moved_sums
from dirichlet_bandits.policies.dirichlet.rule import rank_of_tail, split_tail
from dirichlet_bandits.policies.dirichlet.sums import KNOWN, ORIGIN, P1, P2, P3, P4, ROOM, TAIL, add_powers
from dirichlet_bandits.types import Floats

# Beside the sums of ``sums.py``, which are those of the rewards below the tail: how many values are in order, how many
# of these are below the tail; the tail's sum, what rounding left out of it, its mean as the contour has it.
ORDERED, BELOW, _SUM, _REST, MEAN = range(TAIL, TAIL + 5)


@jit
def make_borders(n_arms: int) -> Floats:
    """Nothing is known of the tails of so many arms."""
    return np.full((n_arms, TAIL + 5), np.nan)


@jit
def forget(border: Floats) -> None:
    """The contour has been made anew, with a mean of the tail that has been computed anew."""
    border[KNOWN] = math.nan


@shared
def find_border(border: Floats, x: Floats, alpha: float) -> None:
    """Look at all rewards x; the mean of their tail is left as it is."""
    below, tail = split_tail(x, alpha)
    n_below = 0
    border[ORIGIN] = sum_of(below) / below.size if below.size > 0 else 0.0
    set_all(border[P1 : P4 + 1], 0.0)
    for value in below:
        add_powers(border, value, 1)
        if n_below == ROOM // 2:
            if value <= border[0]:
                continue
            _drop_first(border, n_below)
            n_below -= 1
        _put(border, n_below, value)
        n_below += 1
    n = n_below
    border[_SUM] = border[_REST] = 0.0
    for value in tail:
        _add(border, value)
        if n == n_below + ROOM // 2:
            if value >= border[n - 1]:
                continue
            n -= 1
        _put(border, n, value)
        n += 1
    border[KNOWN], border[ORDERED], border[BELOW] = x.size, n, n_below


@jit
def _add(border: Floats, value: float) -> None:
    """To the sum of the tail."""
    border[_SUM], carry = two_sum(border[_SUM], value)
    border[_REST] += carry


@jit
def _put(border: Floats, n: int, value: float) -> None:
    """One more than n values in order."""
    while n > 0 and border[n - 1] > value:
        border[n] = border[n - 1]
        n -= 1
    border[n] = value


@jit
def _drop_first(border: Floats, n: int) -> None:
    """One less than n values in order."""
    for i in range(n - 1):
        border[i] = border[i + 1]


@jit
def _insert(border: Floats, value: float) -> None:
    """One more value in order; if there is no room, the farthest on the longer side goes, maybe this one itself."""
    n = int(border[ORDERED])
    if n < ROOM:
        border[ORDERED] += 1
    elif 2 * border[BELOW] > ROOM:
        border[BELOW] -= 1
        if value <= border[0]:
            return
        _drop_first(border, n)
        n -= 1
    else:
        if value >= border[n - 1]:
            return
        n -= 1
    _put(border, n, value)


@jit
def _tell(border: Floats, kept: Floats, value: float, weight: int) -> None:
    """The sums of powers and the contour of one value more, or less, below the tail."""
    add_powers(border, value, weight)
    if kept.size > 0:
        contour.append(kept, value, weight)


@shared
def follow_tail(border: Floats, kept: Floats, x: Floats, known: int, alpha: float) -> None:
    """Bring what is known of the tail, and a kept contour (if not empty), from so many of the rewards x to all."""
    if border[KNOWN] != known:
        find_border(border, x[:known], alpha)
        border[MEAN] = (border[_SUM] + border[_REST]) / (known + 1 - rank_of_tail(known, alpha))
    size, moved = known + 1 - rank_of_tail(known, alpha), False
    for n in range(known, x.size):
        n_below, n_tail = rank_of_tail(n, alpha) - 1, n + 1 - rank_of_tail(n, alpha)
        split, ordered = int(border[BELOW]), int(border[ORDERED])
        if (split == 0 and n_below > 0) or split == ordered:  # used up
            find_border(border, x[:n], alpha)
            split, ordered = int(border[BELOW]), int(border[ORDERED])
        reward, least = x[n], border[split]
        enters = False  # the reward, into the tail
        if rank_of_tail(n + 1, alpha) - 1 > n_below:  # the tail stays as large as it is
            _tell(border, kept, min(reward, least), 1)
            if reward > least:
                enters = True
                border[BELOW] += 1
                _add(border, -least)
        elif n_below > 0 and reward < border[split - 1]:
            _tell(border, kept, reward, 1)
            _tell(border, kept, border[split - 1], -1)
            border[BELOW] -= 1
            _add(border, border[split - 1])
            moved = True
        else:
            enters = True
        if enters:
            _add(border, reward)
            moved = True
            if reward <= border[ordered - 1] or ordered - split == n_tail:
                _insert(border, reward)
        elif reward >= border[0] or split == n_below:
            border[BELOW] += 1
            _insert(border, reward)
        border[KNOWN] = n + 1
    if moved and kept.size > 0:
        contour.append(kept, border[MEAN], -size)
        size = x.size + 1 - rank_of_tail(x.size, alpha)
        border[MEAN] = (border[_SUM] + border[_REST]) / size
        contour.append(kept, border[MEAN], size)


@jit
def truncated_sums(
    border: Floats, nothing: Floats, x: Floats, m: float, alpha: float
) -> tuple[float, float, float, float, float]:
    """S_k, k = 1 ... 4, of the offsets from m of the rewards below the tail and of its mean, as often as it counts; the
    mean of the tail. The border follows the rewards x by itself, without a contour."""
    n = x.size
    if border[KNOWN] != n:
        lagging = 4.0 * (n - border[KNOWN]) < n  # NaN, too, is looked at anew
        follow_tail(border, nothing, x, int(border[KNOWN]) if lagging else n, alpha)
    size = n + 1 - rank_of_tail(n, alpha)
    s1, s2, s3, s4 = moved_sums(n - size, border[P1], border[P2], border[P3], border[P4], m - border[ORIGIN])
    top = (border[_SUM] + border[_REST]) / size
    a = top - m
    return s1 + size * a, s2 + size * a * a, s3 + size * a * a * a, s4 + size * a * a * a * a, top
