"""The shortcuts of the sub-sampling policies: rounds that compute only what their duels need.

Duels with blocks (RB-SDA, LB-SDA, LDS-SDA and SSMC) are decided as in the plain loop. The mean of a block follows from
two running sums, so a duel with a given block costs the same however long the histories are. For example, the mean of
rewards 4 to 6 is (S_6 - S_3) / 3, where S_i is the sum of the first i rewards. SSMC compares a challenger with all
blocks of the leader. But the challenger can never reach a block that it did not reach before, as long as the leader
stays the same and the challenger is not pulled. So only blocks that end with new rewards of the leader are compared.

Duels with subsets (WR-SDA) draw some of the leader's rewards without replacement, by moving them to the front
of the array. All rewards of an arm come from one distribution, so their order carries no information. Rewards drawn
without replacement have the same distribution in whatever order the rewards are stored, so a duel may leave them where
its draws moved them. For example, a draw of 2 rewards from (a, b, c, d) may leave (c, a, b, d), from which the next
duel draws as well as from the original. The plain loop, whose decisions must not change the state, draws from a copy.
To draw a large share of the leader's rewards, random bits mark a subset instead (``engine/subsets.py``), which moves
nothing. All subsets of the same size are equally probable either way. The sum of a marked subset decides a duel only
where no rounding could change the decision. Elsewhere, the marked rewards are added in a random order, as draws are.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.compiler import borrowed, jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import implements, inlined_verb, shortcut, update, verb
from dirichlet_bandits.policies.rounds import complete_round, leader_of
from dirichlet_bandits.policies.subsampling.blocks import Block
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.probability import Counts, count_blocks, new_counts
from dirichlet_bandits.policies.subsampling.rule import (
    BlockParams,
    SubsetParams,
    choose_block,
    reaches_block,
)
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, wins_by
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Ints, Words


@verb
def new_memory(policy: Any, n_arms: int, rng: np.random.Generator) -> Any:
    """Return what duels remember during a run: which blocks were compared, or the stream of their draws."""


@inlined_verb
def quick_duel(policy: Any, state: History, challenger: int, leader: int, r: int, memory: Any, rng: Any) -> Any:
    """Whether the challenger wins its duel in round r, without forced exploration."""


@implements(new_memory, BlockParams)
def no_blocks_compared(policy: BlockParams, n_arms: int, rng: np.random.Generator) -> Counts:
    """Return empty counts."""
    return new_counts(n_arms)


@implements(new_memory, SubsetParams)
def start_draws(policy: SubsetParams, n_arms: int, rng: np.random.Generator) -> Words:
    """Return the words of a new stream."""
    return further_words(rng)


@implements(quick_duel, BlockParams)
def duel_with_block(
    policy: BlockParams, state: History, challenger: int, leader: int, r: int, memory: Counts, rng: np.random.Generator
) -> bool:
    """Whether the challenger reaches its block, or any block of the leader."""
    if policy.block == Block.ANY:
        return count_blocks(state, challenger, leader, memory) > 0
    return reaches_block(policy.block, state, challenger, leader, choose_block(policy.block, r, rng))


@implements(quick_duel, SubsetParams)
def duel_with_subset(
    policy: SubsetParams, state: History, challenger: int, leader: int, r: int, memory: Words, rng: np.random.Generator
) -> bool:
    """Whether the challenger reaches a subset of the leader's rewards, which change their order."""
    return wins_by(lead_over_subset(state, challenger, leader, rewards(state, leader), memory, True), policy.tie, rng)


@jit
def choose_arms(policy: Any, state: History, r: int, memory: Any, arms: Ints, rng: np.random.Generator) -> int:
    """Write the arms that round r pulls, and return their number."""
    state, memory = borrowed(state), borrowed(memory)
    pulls, n_winners = state.pulls, 0
    leader, level = leader_of(pulls, state.means, rng), exploration_level(policy.forced, r)
    for arm in range(pulls.size):
        duels = pulls[arm] < pulls[leader]  # arms tied with the leader in observations do not
        if duels and (pulls[arm] < level or quick_duel(policy, state, arm, leader, r, memory, rng)):
            arms[n_winners] = arm
            n_winners += 1
    return complete_round(arms, n_winners, leader, rng)


@shortcut(BlockParams, SubsetParams)
def play_duels(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play rounds of duels until the run is over."""
    arms, memory = np.zeros(run.pulls.size, np.int64), new_memory(policy, run.pulls.size, rng)
    r = round_number(run.pulls)
    while not ended(run.progress):
        n_pulled = choose_arms(policy, state, r, memory, arms, rng)
        r += n_pulled
        for i in range(n_pulled):
            if ended(run.progress):
                break
            reward = pull(run, arms[i])
            state = update(policy, state, arms[i], reward, rng)
