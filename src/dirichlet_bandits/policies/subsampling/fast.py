"""Sub-sampling with nothing but the duels: two running sums and a uniform variable for a block, a shuffle for a subset.

Blocks. A duel with a given block costs the same however long the histories are. SSMC asks for all blocks: as long as
leader and challenger stay and the challenger is not pulled, blocks that it did not reach once it never will, so only
those that new rewards of the leader end are looked at. A challenger that does reach one is pulled at once.

Subsets. Rewards drawn without replacement have the same law in whatever order the rewards lie, so they are left where
the shuffle put them. Rewards are in one law for all time, their order carries nothing.
"""

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline
from dirichlet_bandits.engine.history import History, reserve
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.tally import count, shuffle
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.costs import ROUNDS_AT_ONCE
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.subsampling.blocks import (
    Block,
    block_mean,
    block_start,
    running_sum,
    van_der_corput,
)
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.rule import BlockParams, reaches_a_block
from dirichlet_bandits.types import Floats, Ints

_LEADER, _OWN, _SEEN = range(3)  # of a challenger: whose blocks, of how many rewards, how many rewards of the leader


@jit
def fill_uniform(uniform: Floats, rng: np.random.Generator) -> None:
    """Fresh variables for a block of rounds."""
    for i in range(uniform.size):
        uniform[i] = rng.random()


@jit
def new_blocks_from(looked: Ints, leader: int, n: int, n_leader: int) -> int:
    """How many of the leader's rewards were there when its blocks of n were last looked at; takes note of this time."""
    seen = looked[_SEEN] if looked[_LEADER] == leader and looked[_OWN] == n else 0
    looked[_LEADER], looked[_OWN], looked[_SEEN] = leader, n, n_leader
    return seen


@shortcut(BlockParams)
def play_blocks(policy: BlockParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    n_arms = state.pulls.size
    looked, winners = np.full((n_arms, 3), -1), np.empty(n_arms, np.int64)
    uniform = np.zeros(ROUNDS_AT_ONCE * n_arms)
    used = uniform.size
    while not ended(run.progress):
        for arm in range(n_arms):
            state = reserve(state, arm, 2)
        used = play_rounds(policy, state, run, looked, winners, uniform, used, rng)


@jit_inline
def play_rounds(
    policy: BlockParams,
    state: History,
    run: Run,
    looked: Ints,
    winners: Ints,
    uniform: Floats,
    used: int,
    rng: np.random.Generator,
) -> int:
    """Rounds of duels until the run is over, or some arm has no more room for a reward; uniform variables used up."""
    pulls, means, pool, first, room = state.pulls, state.means, state.pool, state.start, state.room
    n_arms, block, r, full = pulls.size, policy.block, round_number(pulls), False
    while not full and not ended(run.progress):
        if used == uniform.size:
            if block == Block.RANDOM:
                fill_uniform(uniform, rng)
            used = 0
        leader = leader_of(pulls, means, rng)
        n_leader, here = pulls[leader], first[leader]
        level = exploration_level(policy.forced, r)
        place = van_der_corput(r) if block == Block.SEQUENCE else 0.0
        n_winners = 0
        for arm in range(n_arms):
            n, mean = pulls[arm], means[arm]
            if n < n_leader:  # arms tied with the leader in observations do not duel
                if n < level:
                    wins = True
                elif block == Block.ANY:
                    seen = new_blocks_from(looked[arm], leader, n, n_leader)
                    wins = reaches_a_block(pool, here, mean, n, seen, n_leader)
                else:
                    start = block_start(block, place + uniform[used + arm], n_leader, n)
                    wins = mean >= block_mean(pool, here, start, n)
                if wins:
                    winners[n_winners] = arm
                    n_winners += 1
        if n_winners == 0:
            winners[0] = leader
            n_winners = 1
        used += n_arms
        r += n_winners
        if n_winners > 1:
            shuffle(winners[:n_winners], rng)
        for i in range(n_winners):
            arm = winners[i]
            if ended(run.progress):
                break
            reward = pull(run, arm)
            pool[first[arm] + pulls[arm]] = running_sum(pool, first[arm], pulls[arm], reward)
            count(state, arm, reward)
            full = full or pulls[arm] == room[arm]
    return used
