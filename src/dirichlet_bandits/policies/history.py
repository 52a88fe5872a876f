"""All rewards of each arm, in one growing pool of memory proportional to their number."""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.tally import Floats, Ints, Tally, count, new_tally
from dirichlet_bandits.policies.verbs import implements, init, update

_FIRST_ROOM = 8


class History(NamedTuple):
    """Counts, means and the rewards themselves: those of arm k lie in ``pool[start[k] : start[k] + pulls[k]]``.

    An arm that outgrows its ``room`` moves to a place twice as large at the end of the pool.
    """

    pulls: Ints
    means: Floats
    tally: Tally
    pool: Floats
    start: Ints
    room: Ints
    used: Ints


@jit
def new_history(n_arms: int) -> History:
    """No rewards yet."""
    tally = new_tally(n_arms)
    zeros = np.zeros(n_arms, np.int64)
    return History(
        tally.pulls,
        tally.means,
        tally,
        np.empty(_FIRST_ROOM * n_arms),
        zeros,
        zeros.copy(),
        np.zeros(1, np.int64),
    )


@jit
def rewards(history: History, arm: int) -> Floats:
    """Rewards of one arm in the order in which they came."""
    first = history.start[arm]
    return history.pool[first : first + history.pulls[arm]]


@jit
def append(history: History, arm: int, reward: float, entry: float) -> History:
    """Count a reward and store ``entry`` for it: the reward itself, or what the policy prefers to remember."""
    n = history.pulls[arm]
    pool = history.pool
    if n == history.room[arm]:
        room = max(2 * n, _FIRST_ROOM)
        first, old = history.used[0], history.start[arm]
        if first + room > pool.size:
            larger = np.empty(2 * pool.size + room)
            larger[:first] = pool[:first]
            pool = larger
        pool[first : first + n] = pool[old : old + n]
        history.start[arm] = first
        history.room[arm] = room
        history.used[0] = first + room
    pool[history.start[arm] + n] = entry
    count(history.tally, arm, reward)
    return History(history.pulls, history.means, history.tally, pool, history.start, history.room, history.used)


def keeps_rewards(*policy_types: type) -> None:
    """Let these policies remember every reward: their ``init`` and ``update``."""
    implements(init, *policy_types)(_start)
    implements(update, *policy_types)(_remember)


@jit
def _start(policy: Any, n_arms: int) -> History:
    return new_history(n_arms)


@jit
def _remember(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    return append(state, arm, reward, reward)
