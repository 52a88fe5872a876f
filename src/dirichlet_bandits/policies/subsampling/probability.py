"""The probability that a challenger wins its duel with a block of the leader's rewards.

With a random block, it is the share of the leader's blocks that the challenger reaches; otherwise, it is 0 or 1.
"""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.numerics.sequences import van_der_corput
from dirichlet_bandits.policies.rounds import incremental_win_probability, win_probability
from dirichlet_bandits.policies.subsampling.blocks import Block, blocks_reached
from dirichlet_bandits.policies.subsampling.forced import round_number, wins_untried
from dirichlet_bandits.policies.subsampling.limited import LimitedParams
from dirichlet_bandits.policies.subsampling.rule import BlockParams, reaches_block
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


@jit
def new_counts(n_arms: int) -> Counts:
    """Return empty counts."""
    counts = np.full((4, n_arms), -1)
    return Counts(counts[0], counts[1], counts[2], counts[3])


@jit
def count_blocks(state: History, challenger: int, leader: int, counts: Counts) -> int:
    """Return how many blocks of the leader the challenger reaches; only those with new rewards are compared."""
    running, n = rewards(state, leader), state.pulls[challenger]
    reached, last, own, seen = counts
    if last[challenger] != leader or own[challenger] != n:
        last[challenger], own[challenger], seen[challenger], reached[challenger] = leader, n, 0, 0
    reached[challenger] += blocks_reached(running, state.means[challenger], n, seen[challenger])
    seen[challenger] = running.size
    return reached[challenger]


@implements(incremental_win_probability, BlockParams)
def block_win(policy: BlockParams, state: History, challenger: int, leader: int, counts: Counts) -> float:
    """Return the probability; if all blocks matter, count only those that end with new rewards of the leader."""
    if wins_untried(policy.forced, state.pulls, challenger):
        return 1.0
    if policy.block == Block.LAST or policy.block == Block.SEQUENCE:
        u = van_der_corput(round_number(state.pulls))
        return 1.0 if reaches_block(policy.block, state, challenger, leader, u) else 0.0
    reached = count_blocks(state, challenger, leader, counts)
    if policy.block == Block.ANY:
        return 1.0 if reached > 0 else 0.0
    return reached / (state.pulls[leader] - state.pulls[challenger] + 1)


@implements(win_probability, BlockParams, LimitedParams)
def win_at_once(policy: Any, state: Any, challenger: int, leader: int) -> float:
    """Return the same probability, counting all blocks."""
    return incremental_win_probability(policy, state, challenger, leader, new_counts(state.pulls.size))
