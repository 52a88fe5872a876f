"""The shortcut of WR-SDA and BESA: most duels with the leader are decided without drawing rewards (``tilted.py``).

All rewards of an arm come from one distribution, so their order carries no information: they stay where the last
draws moved them.

In BESA the leader, the arm with most rewards, need not meet every arm. But its duels are independent of all others, so
all of them may be decided before the tournament. If the leader would beat every arm, it wins any tournament; if not,
the tournament is held, with these duels as they were decided.
"""

from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.run import Run, drained, draw, ended, record, refill
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import shortcut, update
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.rule import SubsetParams
from dirichlet_bandits.policies.subsampling.subsets import sample_of, tournament, wins_by
from dirichlet_bandits.policies.subsampling.tilted import CHALLENGER, beats_leader, forget, weigh
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Flags, Ints, Words


class Duels(NamedTuple):
    """What is kept of each challenger, which of them beat the leader, the arms of a round, and a stream of draws."""

    challengers: Any
    beats: Flags
    arms: Ints
    words: Words


@shortcut(SubsetParams)
def play_subsets(policy: SubsetParams, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    buffer, stock, times, marks, sums, counts = run.buffer, run.stock, run.times, run.marks, run.sums, run.pulls
    challengers, arms = np.zeros(counts.size, CHALLENGER), np.zeros(counts.size, np.int64)
    duels = Duels(challengers, np.zeros(counts.size, np.bool_), arms, further_words(rng))
    r, leader = round_number(counts), -1
    while not ended(marks):
        before, leader = leader, leader_of(state.pulls, state.means, rng)
        if leader != before:
            forget(challengers)
        low, high = state.lows[leader], state.highs[leader]
        n_pulled = choose_arms(policy, state, leader, r, duels, rng)
        r += n_pulled
        for i in range(n_pulled):
            arm = arms[i]
            if ended(marks):
                break
            if drained(stock, arm):
                refill(run, arm)
            reward, due = draw(buffer, stock, times, marks, sums, counts, arm)
            if due:
                record(run)
            state = update(policy, state, arm, reward, rng)
            challengers[arm].fall = -1.0
            if arm == leader:
                weigh(challengers, low, high, reward)


@jit
def choose_arms(
    policy: SubsetParams, state: History, leader: int, r: int, duels: Duels, rng: np.random.Generator
) -> int:
    """Write down the arms that round r pulls, and return their number."""
    arms, beats = duels.arms, duels.beats
    # Where the leader was not pulled last, it often loses: then duels in advance are too many.
    known = leader if not policy.knockout or arms[0] == leader else -1
    if known >= 0 and decide_duels(policy, state, leader, r, duels, rng) == 0:
        arms[0] = leader
        return 1
    if policy.knockout:
        tournament(policy.tie, state, state.pool, known, beats, arms, duels.words, rng)
        return 1
    n = 0
    for arm in range(beats.size):
        if beats[arm]:
            arms[n] = arm
            n += 1
    shuffle(arms[:n], rng)
    return n


@jit
def decide_duels(
    policy: SubsetParams, state: History, leader: int, r: int, duels: Duels, rng: np.random.Generator
) -> int:
    """Decide the duels of all challengers with the leader, and return the number of those that win."""
    challengers, beats, _, words = duels
    pulls, means = state.pulls, state.means
    level, n_leader, n_winners = exploration_level(policy.forced, r), pulls[leader], 0
    sample = sample_of(state, leader, rewards(state, leader))
    for arm in range(pulls.size):
        n, mean = pulls[arm], means[arm]
        if n == n_leader:  # in WR-SDA such arms do not duel, in BESA they compare all their rewards
            wins = policy.knockout and arm != leader and wins_by(mean - sample.mean, 0.5, rng)
        else:
            wins = n < level or beats_leader(challengers[arm], n, mean, sample, policy.tie, words, rng)
        beats[arm] = wins
        n_winners += wins
    return n_winners
