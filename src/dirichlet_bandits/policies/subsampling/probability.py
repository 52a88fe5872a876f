"""The probability that a challenger wins its duel with blocks: the share of the leader's blocks that it reaches, or
certainty."""

import numpy as np

from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.policies.subsampling.blocks import Block, block_mean, block_start, van_der_corput
from dirichlet_bandits.policies.subsampling.forced import round_number, wins_untried
from dirichlet_bandits.policies.subsampling.rule import BlockParams
from dirichlet_bandits.types import Ints

UNCOUNTABLE = (
    "a policy with exact propensities: its duels would take a count of all subsets of an arm's rewards; "
    "RBSDA, LBSDA, LDSSDA and SSMC have them"
)
_LEADER, _SEEN, _OWN, _REACHED = range(4)


def new_counts(n_arms: int) -> Ints:
    """For each challenger the leader whose blocks were counted, the leader's rewards looked at, the challenger's own
    rewards, and the blocks reached: nothing yet."""
    counts = np.zeros((n_arms, 4), np.int64)
    counts[:, _LEADER] = -1
    return counts


@implements(win_probability, BlockParams)
def block_win(policy: BlockParams, state: History, challenger: int, leader: int) -> float:
    """At once: every block is looked at where all of them matter."""
    counts = np.zeros((state.pulls.size, 4), np.int64)
    counts[challenger, _LEADER] = -1
    return incremental_win_probability(policy, state, challenger, leader, counts)


@implements(incremental_win_probability, BlockParams)
def counted_block_win(policy: BlockParams, state: History, challenger: int, leader: int, memory: Ints) -> float:
    """Only blocks that the leader's new rewards end are looked at."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return 1.0
    running, n, mean = rewards(state, leader), state.pulls[challenger], state.means[challenger]
    if policy.block == Block.LAST or policy.block == Block.SEQUENCE:
        start = block_start(policy.block, van_der_corput(round_number(state.pulls)), running.size, n)
        return 1.0 if mean >= block_mean(running, 0, start, n) else 0.0
    counts = memory[challenger]
    if counts[_LEADER] != leader or counts[_OWN] != n:
        counts[_LEADER], counts[_OWN], counts[_SEEN], counts[_REACHED] = leader, n, n - 1, 0
    for end in range(counts[_SEEN], running.size):
        if mean >= block_mean(running, 0, end - n + 1, n):
            counts[_REACHED] += 1
    counts[_SEEN] = running.size
    if policy.block == Block.ANY:
        return 1.0 if counts[_REACHED] > 0 else 0.0
    return counts[_REACHED] / (running.size - n + 1)
