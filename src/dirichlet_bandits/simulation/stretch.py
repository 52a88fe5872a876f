"""Stretches: the same arm pulled again and again, as long as nobody else can possibly be pulled.

This is where a settled policy spends its time, so it costs little more than the rewards themselves.
"""

from typing import Any

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.history import reserve
from dirichlet_bandits.policies.tally import Floats, count_while
from dirichlet_bandits.simulation.run import HIGH, LOW, Run, ahead, left, over, pull, take


@jit
def stretch(run: Run, state: Any, arm: int, low: float, high: float, limit: int) -> tuple[Any, int]:
    """Pull an arm at most ``limit`` times, while its mean before each pull lies in [low, high].

    Returns the state and the number of pulls. The state is a history of rewards.
    """
    done = 0
    while done < limit and not over(run) and low <= state.means[arm] <= high:
        block = ahead(run, arm)
        allowed = allowed_of(run, block[: min(block.size, limit - done, left(run))])
        if allowed.size == 0:
            pull(run, arm)  # an offending reward: ends the run
            break
        state = reserve(state, arm, allowed.size)
        first = state.start[arm] + state.pulls[arm]
        n, total = count_while(state, arm, allowed, low, high)
        state.pool[first : first + n] = allowed[:n]
        take(run, arm, n, total)
        done += n
    return state, done


@jit
def allowed_of(run: Run, rewards: Floats) -> Floats:
    """The rewards up to the first that breaks the bounds."""
    low, high = run.sums[LOW], run.sums[HIGH]
    for i in range(rewards.size):
        if not low <= rewards[i] <= high:
            return rewards[:i]
    return rewards
