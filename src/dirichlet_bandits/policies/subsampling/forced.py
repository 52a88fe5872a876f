"""Forced exploration: a challenger with too few rewards for this round wins without a duel."""

from typing import Final, Literal

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.policies.growth import Growth, slow_growth
from dirichlet_bandits.types import Ints

ForcedName = Literal["sqrt-log", "cbrt-log"]
NOT_FORCED: Final = -1
FORCED: Final = {"sqrt-log": int(Growth.SQRT_LOG), "cbrt-log": int(Growth.CBRT_LOG)}


@jit
def round_number(pulls: Ints) -> int:
    """Return the number r of the next round, as if every round after the first had pulled one arm.

    The first round pulls all arms. With two arms, r is exact. With K arms and several winners in some rounds, the true
    number lies between r/K and r, which makes little difference to functions that grow as slowly as f. In a live study,
    rewards come in any order and rounds have no end, but the number of rewards is always known, so decisions depend
    only on the rewards.

    >>> import numpy as np
    >>> round_number(np.array([5, 2]))
    6
    """
    r = 1
    for arm in range(pulls.size):
        r += pulls[arm] - 1
    return r


@jit
def exploration_level(forced: int, r: int) -> float:
    """Return the number of rewards below which a challenger wins round r without a duel; 0 if not forced."""
    return 0.0 if forced == NOT_FORCED else slow_growth(forced, float(r))


@jit
def wins_untried(forced: int, pulls: Ints, challenger: int) -> bool:
    """Whether the challenger wins by forced exploration, without a duel."""
    return pulls[challenger] < exploration_level(forced, round_number(pulls))
