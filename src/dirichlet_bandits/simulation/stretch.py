"""Stretches: the same arm pulled again and again, as long as nobody else can possibly be pulled.

This is where a settled policy spends its time, so it costs little more than the rewards themselves.
"""

from typing import Any

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.tally import Floats, count_while
from dirichlet_bandits.simulation.run import HIGH, LOW, Run, ahead, left, pull, take


@jit
def stretch(run: Run, state: Any, arm: int, low: float, high: float, limit: int) -> int:
    """Pull an arm at most ``limit`` times, while its mean before each pull lies in [low, high]; how many times.

    At most a block of rewards: the caller looks around and comes again. The state is a history
    with room for a block.
    """
    block = ahead(run, arm)
    rewards = allowed(run, block[: min(block.size, limit, left(run))])
    if rewards.size == 0:
        pull(run, arm)  # an offending reward: ends the run
        return 0
    first = state.start[arm] + state.pulls[arm]
    n, total = count_while(state, arm, rewards, low, high)
    pool = state.pool
    for i in range(n):
        pool[first + i] = rewards[i]
    take(run, arm, n, total)
    return n


@jit
def allowed(run: Run, rewards: Floats) -> Floats:
    """The rewards up to the first that breaks the bounds."""
    low, high = run.sums[LOW], run.sums[HIGH]
    for i in range(rewards.size):
        if not low <= rewards[i] <= high:
            return rewards[:i]
    return rewards
