"""The probability that a challenger of RB-SDA wins: the share of the leader's blocks that it beats."""

import numpy as np

from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.policies.subsampling.rule import RBSDAParams, block_mean
from dirichlet_bandits.types import Ints


@implements(win_probability, RBSDAParams)
def block_win(policy: RBSDAParams, state: History, challenger: int, leader: int) -> float:
    """The share of the leader's blocks that the challenger beats."""
    running = rewards(state, leader)
    starts = running.size - state.pulls[challenger] + 1
    beaten = 0
    for start in range(starts):
        if state.means[challenger] >= block_mean(running, 0, start, state.pulls[challenger]):
            beaten += 1
    return beaten / starts


_LEADER, _SEEN, _OWN, _BEATEN = range(4)


def new_counts(n_arms: int) -> Ints:
    """For each challenger the leader whose blocks were counted, the leader's rewards looked at, the challenger's own
    rewards, and the blocks beaten: nothing yet."""
    counts = np.zeros((n_arms, 4), np.int64)
    counts[:, _LEADER] = -1
    return counts


@implements(incremental_win_probability, RBSDAParams)
def counted_block_win(policy: RBSDAParams, state: History, challenger: int, leader: int, memory: Ints) -> float:
    """The same number: only blocks that the leader's new rewards end are looked at."""
    counts = memory[challenger]
    running = rewards(state, leader)
    n = state.pulls[challenger]
    if counts[_LEADER] != leader or counts[_OWN] != n:
        counts[_LEADER], counts[_OWN], counts[_SEEN], counts[_BEATEN] = leader, n, n - 1, 0
    for end in range(counts[_SEEN], running.size):
        if state.means[challenger] >= block_mean(running, 0, end - n + 1, n):
            counts[_BEATEN] += 1
    counts[_SEEN] = running.size
    return counts[_BEATEN] / (running.size - n + 1)
