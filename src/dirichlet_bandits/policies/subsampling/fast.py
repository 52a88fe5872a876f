"""Random-Block Subsampling Duelling with nothing but the duels: two running sums and a uniform variable each."""

import numpy as np

from dirichlet_bandits.arms.assumptions import Assumption
from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine.history import History, reserve
from dirichlet_bandits.engine.run import Run, drained, draw, ended, record, refill
from dirichlet_bandits.engine.tally import count, shuffle
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.costs import ROUNDS_AT_ONCE
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.subsampling.rule import RBSDAParams, block_mean, block_start, running_sum
from dirichlet_bandits.types import Floats


@jit
def fill_uniform(uniform: Floats, rng: np.random.Generator) -> None:
    """Fresh variables for a block of rounds."""
    for i in range(uniform.size):
        uniform[i] = rng.random()


@shortcut(RBSDAParams, assumes=Assumption.REWARDS)
def play_blocks(policy: RBSDAParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Rounds of duels until the run is over."""
    buffer, stock, times, marks, sums, counts = run.buffer, run.stock, run.times, run.marks, run.sums, run.pulls
    pulls, means, pool, first, room = state.pulls, state.means, state.pool, state.start, state.room
    n_arms = pulls.size
    winners, uniform = np.empty(n_arms, np.int64), np.empty(ROUNDS_AT_ONCE * n_arms)
    used = uniform.size
    while not ended(marks):
        if used == uniform.size:
            fill_uniform(uniform, rng)
            used = 0
        leader = leader_of(pulls, means, rng)
        n_leader, here = pulls[leader], first[leader]
        n_winners = 0
        for arm in range(n_arms):
            n = pulls[arm]
            if n < n_leader:  # arms tied with the leader in observations do not duel
                start = block_start(uniform[used + arm], n_leader, n)
                if means[arm] >= block_mean(pool, here, start, n):
                    winners[n_winners] = arm
                    n_winners += 1
        if n_winners == 0:
            winners[0] = leader
            n_winners = 1
        used += n_arms
        if n_winners > 1:
            shuffle(winners[:n_winners], rng)
        for i in range(n_winners):
            arm = winners[i]
            if ended(marks):
                break
            if drained(stock, arm):
                refill(run, arm)
            reward, due = draw(buffer, stock, times, marks, sums, counts, arm)
            if due:
                record(run)
            if pulls[arm] == room[arm]:
                state = reserve(state, arm, 1)
                pool = state.pool
            pool[first[arm] + pulls[arm]] = running_sum(pool, first[arm], pulls[arm], reward)
            count(state, arm, reward)
