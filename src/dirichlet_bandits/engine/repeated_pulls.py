"""Pull the same arm repeatedly, as long as no other arm can possibly be pulled.

This is where a settled policy spends its time, so it costs little more than the rewards themselves.
"""

from typing import Any

from dirichlet_bandits.compiler import borrowed, jit, jit_inline, overload, shared
from dirichlet_bandits.engine.history import History, reserve, store
from dirichlet_bandits.engine.run import BLOCK, Run, ended, left, pull, pull_alone, take, upcoming
from dirichlet_bandits.engine.tally import count_while
from dirichlet_bandits.types import Floats, Records


def keep(state: Any, arm: int, rewards: Floats) -> Any:
    """Store the rewards that have just been counted, if the state keeps rewards."""


@overload(keep)
def _keep(state, arm, rewards):  # type: ignore[no-untyped-def]
    if "pool" not in state.fields:
        return lambda state, arm, rewards: None

    def copy(state, arm, rewards):  # type: ignore[no-untyped-def]
        pool, first = state.pool, state.start[arm] + state.pulls[arm] - rewards.size
        for i in range(rewards.size):
            pool[first + i] = rewards[i]

    return copy


@shared
def with_places(state: History, leader: int) -> History:
    """Return the state with room for one reward of each arm and a block of the leader's (-1 for no leader).

    A loop whose state stays the same keeps its arrays in registers, so it ends when there is no more room.
    """
    for arm in range(state.pulls.size):
        more = BLOCK if arm == leader else 1
        if state.room[arm] - state.pulls[arm] < more:
            state = reserve(state, arm, 2 * more)
    return state


@jit_inline
def pull_into_place(state: History, run: Run, arm: int) -> bool:
    """Pull an arm once and store the reward in its place; return whether there is room for another one."""
    reward = pull(run, arm)
    if ended(run.progress):
        return False
    store(state, arm, reward, reward)
    return state.pulls[arm] < state.room[arm]


@jit_inline
def pull_while(run: Run, state: Any, arm: int, low: float, high: float, limit: int) -> int:
    """Pull an arm at most ``limit`` times, while its mean before each pull lies in [low, high]; return how many times.

    This pulls at most one block of rewards, so the caller has to call again. The state must have room for a block.
    """
    run, state = borrowed(run), borrowed(state)
    block = upcoming(run, arm)
    rewards = allowed(run.progress, block[: min(block.size, limit, left(run.progress))])
    if rewards.size == 0:
        pull_alone(run, arm)  # a reward out of bounds, which ends the run
        return 0
    n, total = count_while(state, arm, rewards, low, high)
    keep(state, arm, rewards[:n])
    take(run, arm, n, total)
    return n


@jit
def allowed(progress: Records, rewards: Floats) -> Floats:
    """Return the rewards up to the first that is out of bounds; ``progress`` is that of the run."""
    low, high = progress[0].low, progress[0].high
    for i in range(rewards.size):
        if not low <= rewards[i] <= high:
            return rewards[:i]
    return rewards
