"""Stretches: the same arm pulled again and again, as long as nobody else can possibly be pulled.

This is where a settled policy spends its time, so it costs little more than the rewards themselves.
"""

from typing import Any

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.history import reserve
from dirichlet_bandits.policies.tally import count
from dirichlet_bandits.simulation.run import HIGH, LOW, Run, ahead, left, over, pull, take


@jit
def stretch(run: Run, state: Any, arm: int, low: float, high: float, limit: int) -> tuple[Any, int]:
    """Pull an arm at most ``limit`` times, while its mean before each pull lies in [low, high].

    Returns the state and the number of pulls. The state is a history of rewards.
    """
    done = 0
    while done < limit and not over(run) and low <= state.means[arm] <= high:
        block = ahead(run, arm)
        most = min(block.size, limit - done, left(run))
        state = reserve(state, arm, most)
        first = state.start[arm] + state.pulls[arm]
        n, total = 0, 0.0
        while n < most and low <= state.means[arm] <= high:
            reward = block[n]
            if not run.sums[LOW] <= reward <= run.sums[HIGH]:
                break
            state.pool[first + n] = reward
            count(state, arm, reward)
            total += reward
            n += 1
        take(run, arm, n, total)
        done += n
        if n < most and low <= state.means[arm] <= high:
            pull(run, arm)  # the offending reward: ends the run
    return state, done
