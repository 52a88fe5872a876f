"""The shortcut of WR-SDA and BESA: duels without a copy of the rewards.

A duel draws some of the leader's rewards without replacement, by moving them to the front of the array. All rewards of
an arm come from one distribution, so their order carries no information. Rewards drawn without replacement have the
same distribution in whatever order the rewards are stored, so a duel may leave them where its draws moved them. For
example, a draw of 2 rewards from (a, b, c, d) may leave (c, a, b, d), from which the next duel draws as well as from
the original. The plain loop, whose decisions must not change the state, draws from a copy.
"""

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import shortcut, update
from dirichlet_bandits.policies.rounds import complete_round, leader_of
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.rule import SubsetParams
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, sample_of, tournament, wins_by
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Ints, Words


@shortcut(SubsetParams)
def play_subsets(policy: SubsetParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    arms, words, r = np.zeros(run.pulls.size, np.int64), further_words(rng), round_number(run.pulls)
    while not ended(run.progress):
        n_pulled = choose_arms(policy, state, r, arms, words, rng)
        r += n_pulled
        for i in range(n_pulled):
            arm = arms[i]
            if ended(run.progress):
                break
            reward = pull(run, arm)
            state = update(policy, state, arm, reward, rng)


@jit
def choose_arms(
    policy: SubsetParams, state: History, r: int, arms: Ints, words: Words, rng: np.random.Generator
) -> int:
    """Write the arms that round r pulls, and return their number."""
    if policy.knockout:
        tournament(policy.tie, state, state.pool, arms, words, rng)
        return 1
    pulls, means = state.pulls, state.means
    leader, level, n_winners = leader_of(pulls, means, rng), exploration_level(policy.forced, r), 0
    sample = sample_of(state, leader, rewards(state, leader))
    for arm in range(pulls.size):
        if pulls[arm] < pulls[leader]:  # arms tied with the leader in observations do not duel
            wins = pulls[arm] < level
            if not wins:
                wins = wins_by(lead_over_subset(pulls[arm], means[arm], sample, words), policy.tie, rng)
            if wins:
                arms[n_winners] = arm
                n_winners += 1
    return complete_round(arms, n_winners, leader, rng)
