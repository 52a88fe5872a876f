"""The probability that a challenger wins its duel with a block of the leader's rewards.

With a random block, it is the share of the leader's blocks that the challenger reaches; otherwise, it is 0 or 1.
"""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.policies.subsampling.blocks import Block, block_mean, block_start, van_der_corput
from dirichlet_bandits.policies.subsampling.forced import round_number, wins_untried
from dirichlet_bandits.policies.subsampling.limited import LimitedParams
from dirichlet_bandits.policies.subsampling.rule import BlockParams
from dirichlet_bandits.types import Ints

UNCOUNTABLE = (
    "a policy with exact propensities: its duels would take a count of all subsets of an arm's rewards; "
    "RBSDA, LBSDA, LDSSDA and SSMC have them"
)


class Counts(NamedTuple):
    """How many of its leader's blocks each challenger reaches, and which of them were counted.

    ``own`` and ``seen`` are the numbers of the challenger's and of the leader's rewards at the last count.
    """

    reached: Ints
    leader: Ints
    own: Ints
    seen: Ints


def new_counts(n_arms: int) -> Counts:
    """Return empty counts."""
    return Counts(*np.full((4, n_arms), -1))


@implements(incremental_win_probability, BlockParams)
def block_win(policy: BlockParams, state: History, challenger: int, leader: int, counts: Counts) -> float:
    """Return the probability; if all blocks matter, count only those that end with new rewards of the leader."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return 1.0
    running, n, mean = rewards(state, leader), state.pulls[challenger], state.means[challenger]
    if policy.block == Block.LAST or policy.block == Block.SEQUENCE:
        start = block_start(policy.block, van_der_corput(round_number(state.pulls)), running.size, n)
        return 1.0 if mean >= block_mean(running, 0, start, n) else 0.0
    reached, last, own, seen = counts
    if last[challenger] != leader or own[challenger] != n:
        last[challenger], own[challenger], seen[challenger], reached[challenger] = leader, n, n - 1, 0
    for end in range(seen[challenger], running.size):
        if mean >= block_mean(running, 0, end - n + 1, n):
            reached[challenger] += 1
    seen[challenger] = running.size
    if policy.block == Block.ANY:
        return 1.0 if reached[challenger] > 0 else 0.0
    return reached[challenger] / (running.size - n + 1)


@implements(win_probability, BlockParams, LimitedParams)
def win_at_once(policy: Any, state: Any, challenger: int, leader: int) -> float:
    """Return the same probability, counting all blocks."""
    counts = np.full((4, state.pulls.size), -1)
    return incremental_win_probability(
        policy, state, challenger, leader, Counts(counts[0], counts[1], counts[2], counts[3])
    )
