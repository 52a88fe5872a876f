"""All rewards of each arm, in one growing pool whose memory is proportional to their number."""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit, jit_inline, overload, shared
from dirichlet_bandits.engine.tally import count, new_tally
from dirichlet_bandits.engine.verbs import implements, init, update
from dirichlet_bandits.numerics.arrays import copy_into
from dirichlet_bandits.numerics.cvar import ordered_cvar
from dirichlet_bandits.types import Floats, Ints

_FIRST_ROOM = 8


class History(NamedTuple):
    """A tally and the rewards themselves: those of arm k lie in ``pool[start[k] : start[k] + pulls[k]]``.

    An arm that outgrows its ``room`` moves to a place twice as large at the end of the pool.
    """

    pulls: Ints
    means: Floats
    sums: Floats
    carry: Floats
    lows: Floats
    highs: Floats
    pool: Floats
    start: Ints
    room: Ints
    used: Ints


@shared
def new_history(n_arms: int) -> History:
    """Return a history without rewards."""
    pulls, means, sums, carry, lows, highs = new_tally(n_arms)
    start, room = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    pool, used = np.empty(_FIRST_ROOM * n_arms), np.zeros(1, np.int64)
    return History(pulls, means, sums, carry, lows, highs, pool, start, room, used)


@jit
def rewards(history: History, arm: int) -> Floats:
    """Return the rewards of one arm in the order in which they arrived."""
    first = history.start[arm]
    return history.pool[first : first + history.pulls[arm]]


@jit_inline
def store(history: History, arm: int, reward: float, entry: float) -> None:
    """Count a reward and store ``entry`` for it, where the arm has room."""
    history.pool[history.start[arm] + history.pulls[arm]] = entry
    count(history, arm, reward)


@jit_inline
def append(history: History, arm: int, reward: float, entry: float) -> History:
    """Count a reward and store ``entry`` for it: the reward itself, or what the policy remembers instead."""
    if history.pulls[arm] == history.room[arm]:
        history = reserve(history, arm, 1)
    store(history, arm, reward, entry)
    return history


@jit
def insert(history: History, arm: int, reward: float) -> History:
    """Count a reward and insert it among the sorted rewards of its arm."""
    history = append(history, arm, reward, reward)
    pool, place = history.pool, history.start[arm]
    last = place + history.pulls[arm] - 1
    end = last
    while place < end:
        middle = (place + end) // 2
        if pool[middle] > reward:
            end = middle
        else:
            place = middle + 1
    for i in range(last, place, -1):  # without a condition inside, the compiler moves many at once
        pool[i] = pool[i - 1]
    pool[place] = reward
    return history


@jit
def reserve(history: History, arm: int, n_more: int) -> History:
    """Make sure that this many more rewards fit, by moving the arm to a place at least twice as large if necessary."""
    n = history.pulls[arm]
    if n + n_more <= history.room[arm]:
        return history
    room = max(2 * n, n + n_more, _FIRST_ROOM)
    first, old = history.used[0], history.start[arm]
    pool = history.pool
    if first + room > pool.size:
        pool = np.empty(2 * history.pool.size + room)
        copy_into(pool, history.pool[:first])
    copy_into(pool[first:], pool[old : old + n])
    history.start[arm] = first
    history.room[arm] = room
    history.used[0] = first + room
    pulls, means, sums, carry, lows, highs, _, start, room_of, used = history
    return History(pulls, means, sums, carry, lows, highs, pool, start, room_of, used)


more_room = entry_point(reserve)


def has_room(state: Any, arm: int) -> bool:
    """Whether one more reward of this arm fits into the arrays of a state; only for compiled code."""
    raise TypeError("this function can be called by compiled code only")


@overload(has_room, strict=False)
def _has_room(state: Any, arm: Any) -> Any:
    if "room" in state.fields:
        return lambda state, arm: state.pulls[arm] < state.room[arm]
    return lambda state, arm: True


def keeps_rewards(*policy_types: type, ordered: bool = False) -> None:
    """Make these policies remember every reward, by registering their ``init`` and ``update``.

    With ``ordered``, the rewards of an arm are kept in ascending order.
    """
    implements(init, *policy_types)(no_rewards)
    implements(update, *policy_types, random=False, in_place=True)(_insert if ordered else _remember)


def keeps_cvars(*policy_types: type) -> None:
    """Make these policies keep all rewards in ascending order, and the CVaR at their ``level`` in place of the means.

    So the CVaR is computed only when an arm is pulled, and leaders and their ties are found as usual.
    """
    implements(init, *policy_types)(no_rewards)
    implements(update, *policy_types, random=False, in_place=True)(_insert_and_judge)


@jit
def no_rewards(policy: Any, n_arms: int) -> History:
    """Return a history without rewards: ``init`` of policies with an ``update`` of their own."""
    return new_history(n_arms)


@jit
def _insert(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    return insert(state, arm, reward)


@jit_inline
def _remember(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    return append(state, arm, reward, reward)


@jit
def _insert_and_judge(policy: Any, state: History, arm: int, reward: float, rng: np.random.Generator) -> History:
    state = insert(state, arm, reward)
    state.means[arm] = ordered_cvar(rewards(state, arm), policy.level)
    return state
