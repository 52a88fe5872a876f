"""The shortcut of RB-SDA, LB-SDA, LDS-SDA and SSMC, which makes the same decisions as the plain loop.

The mean of a block follows from two running sums, so a duel with a given block costs the same however long the
histories are. For example, the mean of rewards 4 to 6 is (S_6 - S_3) / 3, where S_i is the sum of the first i rewards.
SSMC compares a challenger with all blocks of the leader. But the challenger can never reach a block that it did not
reach before, as long as the leader stays the same and the challenger is not pulled. So only blocks that end with new
rewards of the leader are compared.
"""

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import shortcut, update
from dirichlet_bandits.policies.rounds import complete_round, leader_of
from dirichlet_bandits.policies.subsampling.blocks import Block, block_mean, block_start, van_der_corput
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.rule import BlockParams, reaches_a_block
from dirichlet_bandits.types import Ints


@shortcut(BlockParams)
def play_blocks(policy: BlockParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    seen, arms = np.zeros(run.pulls.size, np.int64), np.zeros(run.pulls.size, np.int64)
    r, leader = round_number(run.pulls), -1
    while not ended(run.progress):
        before, leader = leader, leader_of(state.pulls, state.means, rng)
        if leader != before:
            seen[:] = 0
        n_pulled = choose_arms(policy, state, leader, r, seen, arms, rng)
        r += n_pulled
        for i in range(n_pulled):
            arm = arms[i]
            if ended(run.progress):
                break
            reward = pull(run, arm)
            state = update(policy, state, arm, reward, rng)
            seen[arm] = 0


@jit
def choose_arms(
    policy: BlockParams, state: History, leader: int, r: int, seen: Ints, arms: Ints, rng: np.random.Generator
) -> int:
    """Write the arms that round r pulls, and return their number.

    ``seen`` is, for each challenger, the number of the leader's rewards whose blocks it does not reach.
    """
    pulls, means, pool, first = state.pulls, state.means, state.pool, state.start[leader]
    block, n_leader, level, n_winners = policy.block, pulls[leader], exploration_level(policy.forced, r), 0
    u = van_der_corput(r) if block == Block.SEQUENCE else 0.0
    for arm in range(pulls.size):
        n, mean = pulls[arm], means[arm]
        if n < n_leader:  # arms tied with the leader in observations do not duel
            if n < level:
                wins = True
            elif block == Block.ANY:
                wins = reaches_a_block(pool, first, mean, n, seen[arm], n_leader)
                seen[arm] = n_leader
            else:
                if block == Block.RANDOM:
                    u = rng.random()
                wins = mean >= block_mean(pool, first, block_start(block, u, n_leader, n), n)
            if wins:
                arms[n_winners] = arm
                n_winners += 1
    return complete_round(arms, n_winners, leader, rng)
