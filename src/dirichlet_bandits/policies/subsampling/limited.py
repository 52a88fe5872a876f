"""LB-SDA with limited memory: each arm keeps only its last rewards, about (log r)^2 of them."""

from typing import Any, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import duel, implements, init, select, update
from dirichlet_bandits.policies.growth import Growth, slow_growth
from dirichlet_bandits.policies.rounds import duel_round, incremental_win_probability
from dirichlet_bandits.policies.subsampling.blocks import mean_from
from dirichlet_bandits.policies.subsampling.forced import round_number, wins_untried
from dirichlet_bandits.types import Floats, Ints

MEMORIES: Final = {"log2": int(Growth.LOG2)}
_LEAST: Final = 10.0  # rewards that are kept in any case: what the authors take
_FIRST_ROOM: Final = 32


class LimitedParams(NamedTuple):
    """The functions of forced exploration and of memory."""

    forced: int
    memory: int


class LastRewards(NamedTuple):
    """A tally, its pulls and means, and running sums of the last rewards of each arm.

    ``sums_of[k, begin[k] : begin[k] + sizes[k] + 1]`` are sums of distances from ``origin[k]``, the arm's first reward.
    The mean of its last n rewards follows from the last of them and the one n places before.
    """

    pulls: Ints
    means: Floats
    tally: Tally
    sums_of: Floats
    origin: Floats
    begin: Ints
    sizes: Ints


@implements(init, LimitedParams)
def keep_nothing_yet(policy: LimitedParams, n_arms: int) -> LastRewards:
    """Return a state without rewards."""
    tally = new_tally(n_arms)
    begin, sizes = np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
    sums_of, origin = np.zeros((n_arms, _FIRST_ROOM)), np.zeros(n_arms)
    return LastRewards(tally.pulls, tally.means, tally, sums_of, origin, begin, sizes)


@jit
def with_room(state: LastRewards, arm: int) -> LastRewards:
    """Make room for one more sum of the arm by copying what is kept to the front of rows four times as long."""
    first, n, room = state.begin[arm], state.sizes[arm], state.sums_of.shape[1]
    if first + n + 1 < room:
        return state
    pulls, means, tally, old, origin, begin, sizes = state
    new = np.zeros((pulls.size, max(room, 4 * n)))
    for k in range(pulls.size):
        for i in range(sizes[k] + 1):
            new[k, i] = old[k, begin[k] + i] - old[k, begin[k]]
        begin[k] = 0
    return LastRewards(pulls, means, tally, new, origin, begin, sizes)


@implements(update, LimitedParams)
def keep_the_last(
    policy: LimitedParams, state: LastRewards, arm: int, reward: float, rng: np.random.Generator
) -> LastRewards:
    """Add a reward; an arm that keeps enough rewards for this round drops its oldest."""
    r = max(round_number(state.pulls), 1)
    if state.pulls[arm] == 0:
        state.origin[arm] = reward
    if state.sizes[arm] >= max(_LEAST, slow_growth(policy.memory, float(r))):
        state.begin[arm] += 1
        state.sizes[arm] -= 1
    state = with_room(state, arm)
    last = state.begin[arm] + state.sizes[arm]
    state.sums_of[arm, last + 1] = state.sums_of[arm, last] + (reward - state.origin[arm])
    state.sizes[arm] += 1
    count(state.tally, arm, reward)
    return state


@jit
def mean_of_last(state: LastRewards, arm: int, n: int) -> float:
    """Return the mean of the arm's last n rewards, or of all rewards if none was dropped."""
    if n == state.pulls[arm]:
        return state.means[arm]
    last = state.begin[arm] + state.sizes[arm]
    return mean_from(state.origin[arm], state.sums_of[arm, last] - state.sums_of[arm, last - n], n)


@jit
def reaches_the_last(policy: LimitedParams, state: LastRewards, challenger: int, leader: int, unused: Any) -> bool:
    """Whether the mean of the challenger's kept rewards reaches that of as many of the leader's last rewards.

    Nothing is random, so this is both the duel and its probability.
    """
    if wins_untried(policy.forced, state.pulls, challenger):
        return True
    n = state.sizes[challenger]
    return mean_of_last(state, challenger, n) >= mean_of_last(state, leader, min(n, state.sizes[leader]))


implements(duel, LimitedParams)(reaches_the_last)
implements(incremental_win_probability, LimitedParams)(reaches_the_last)
implements(select, LimitedParams)(duel_round)
