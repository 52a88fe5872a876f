"""What a duel has to know of an arm's rewards: sums of powers and of shortfalls, and the values while these are few.

All of it is kept in one array of an arm, its *sample*, and a reward changes it in a few operations. BDS and RDS weigh
all rewards alike; for QDS ``tail.py`` keeps the upper tail in the same array.
"""

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.numerics.arrays import set_all, sum_of
from dirichlet_bandits.numerics.costs import SHORTFALL_NEW_SHARE
from dirichlet_bandits.numerics.expansion import more_powers, moved_sums
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.dirichlet.rule import mean_shortfall
from dirichlet_bandits.types import Floats

ROOM = 64  # numbers for values: different ones and how often they came, or those next to the tail of QDS
_MOST, _COUNTS = 16, 32  # different values that are counted, and where
# After them: how many rewards are known (NaN: the others are worth nothing), how many different values (NaN: these are
# not counted, as for QDS, whose tail has a mean of its own); a number about which powers of the rewards are summed, the
# four sums, and a bound of the error with which these give a probability, as ``numerics/expansion.py`` holds it.
KNOWN, _DIFFERENT, ORIGIN, P1, P2, P3, P4, HELD = range(ROOM, ROOM + 8)
ERROR = HELD + 3
# Then the shortfalls: of how many rewards the last pass took them, of how many they are summed, the sum, at which m.
_TAKEN, _SUMMED, _SHORT, _AT, TAIL = range(HELD + 4, HELD + 9)  # at last there is room for the tail of QDS


@jit
def add_powers(sample: Floats, value: float, weight: int) -> None:
    """One value more, or less."""
    sample[P1], sample[P2], sample[P3], sample[P4] = more_powers(
        sample[P1], sample[P2], sample[P3], sample[P4], value - sample[ORIGIN], weight
    )


@jit
def _count_value(sample: Floats, value: float) -> None:
    """Once more; with too many different values nothing is counted any longer."""
    n, i = int(sample[_DIFFERENT]), 0
    if n > _MOST:
        return
    while i < n and sample[i] != value:
        i += 1
    if i == n:
        sample[_DIFFERENT] += 1
        sample[i], sample[_COUNTS + i] = value, 0.0
    sample[_COUNTS + i] += 1


@jit
def different_values(sample: Floats, n: int) -> tuple[Floats, Floats]:
    """The values of n rewards and how often each came, if they are few and all of them have been counted; else empty.

    >>> import numpy as np
    >>> sample = np.full(TAIL, np.nan)
    >>> _ = all_sums(sample, np.array([0.0, 1.0, 0.0]), 0.5)
    >>> different_values(sample, 3)
    (array([0., 1.]), array([2., 1.]))
    """
    size = int(sample[_DIFFERENT]) if sample[KNOWN] == n and sample[_DIFFERENT] <= _MOST else 0
    return sample[:size], sample[_COUNTS : _COUNTS + size]


@jit
def all_sums(sample: Floats, x: Floats, m: float) -> tuple[float, float, float, float]:
    """S_k, k = 1 ... 4, of the offsets from m of all rewards x."""
    if not sample[KNOWN] >= 0:
        sample[KNOWN], sample[_DIFFERENT], sample[ORIGIN] = 0, 0, sum_of(x) / x.size
        set_all(sample[P1 : P4 + 1], 0.0)
    for i in range(int(sample[KNOWN]), x.size):
        add_powers(sample, x[i], 1)
        _count_value(sample, x[i])
    sample[KNOWN] = x.size
    return moved_sums(x.size, sample[P1], sample[P2], sample[P3], sample[P4], m - sample[ORIGIN])


@jit
def take_shortfall(sample: Floats, x: Floats, m: float) -> float:
    """The mean shortfall of x at m; bounds of later ones begin from here."""
    found = mean_shortfall(x, m)
    sample[_TAKEN] = sample[_SUMMED] = x.size
    sample[_SHORT], sample[_AT] = found * x.size, m
    return found


@jit
def shortfall_bounds(sample: Floats, x: Floats, m: float) -> tuple[float, float]:
    """Bounds of the mean shortfall of x at m: each shortfall moves by at most as much as m.

    >>> import numpy as np
    >>> sample, x = np.full(TAIL, np.nan), np.arange(16.0)
    >>> take_shortfall(sample, x[:15], 2.0)
    0.2
    >>> low, high = shortfall_bounds(sample, x, 2.1)
    >>> low < mean_shortfall(x, 2.1) < high
    True
    """
    n = x.size
    if not SHORTFALL_NEW_SHARE * (n - sample[_TAKEN]) <= n:  # NaN, too
        found = take_shortfall(sample, x, m)
        return found, found
    short, at = sample[_SHORT], sample[_AT]
    for i in range(int(sample[_SUMMED]), n):
        short += max(at - x[i], 0.0)
    sample[_SUMMED], sample[_SHORT] = n, short
    move, slack = (m - at) * n, INDEX_SLACK * short
    return (short + min(move, 0.0) - slack) / n, (short + max(move, 0.0) + slack) / n
