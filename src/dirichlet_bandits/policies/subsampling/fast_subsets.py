"""WR-SDA and BESA by clocks: who would win against the leader is known without a duel in nearly every round.

Rewards drawn without replacement have the same law in whatever order the rewards lie, so they are left where the
shuffle put them. Rewards are of one law for all time, their order carries nothing.

A challenger that seldom wins has a clock (``tilted.py``), the others duel. In BESA the leader, the arm with most
rewards, need not meet everybody. But its duels are independent of all others, so all of them may be fought in advance:
if it would beat everybody it wins any tournament, and if not the tournament is held with those duels as they were.
"""

from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit_inline
from dirichlet_bandits.engine.history import History, reserve
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.tally import count, shuffle
from dirichlet_bandits.engine.verbs import implements, shortcut, verb
from dirichlet_bandits.numerics.costs import TILT_LEAST, WEIGHT_COST
from dirichlet_bandits.policies.rounds import leader_of
from dirichlet_bandits.policies.subsampling.besa import BESAParams, tournament
from dirichlet_bandits.policies.subsampling.forced import exploration_level, round_number
from dirichlet_bandits.policies.subsampling.rule import SubsetParams
from dirichlet_bandits.policies.subsampling.subsets import lead_over_subset, wins_by
from dirichlet_bandits.policies.subsampling.tilted import (
    ALWAYS,
    LEADER,
    NOW,
    TILT,
    UNSURE,
    Waits,
    certify,
    forget,
    new_waits,
    set_tilt,
    tilted_duel,
    weigh,
)
from dirichlet_bandits.seeding import further_words
from dirichlet_bandits.types import Flags, Ints, Words


@verb
def level_of(policy: Any, r: int) -> Any:
    """Challengers with fewer rewards win round r without a duel."""


@implements(level_of, SubsetParams)
def forced_level(policy: SubsetParams, r: int) -> float:
    """Forced exploration."""
    return exploration_level(policy.forced, r)


@implements(level_of, BESAParams)
def no_level(policy: BESAParams, r: int) -> float:
    """Nobody."""
    return 0.0


@verb
def tied_wins(policy: Any, lead: float, rng: Any) -> Any:
    """Whether an arm with as many rewards as the leader, and this lead, wins against it."""


@implements(tied_wins, SubsetParams)
def no_duel(policy: SubsetParams, lead: float, rng: np.random.Generator) -> bool:
    """They do not duel."""
    return False


@implements(tied_wins, BESAParams)
def duel_of_means(policy: BESAParams, lead: float, rng: np.random.Generator) -> bool:
    """They compare all their rewards."""
    return wins_by(lead, 0.5, rng)


@verb
def pulled(
    policy: Any, state: History, leader: int, beats: Flags, n_winners: int, arms: Ints, words: Words, rng: Any
) -> Any:
    """Write down the arms to be pulled if some beat the leader; how many."""


@implements(pulled, SubsetParams)
def all_winners(
    policy: SubsetParams,
    state: History,
    leader: int,
    beats: Flags,
    n_winners: int,
    arms: Ints,
    words: Words,
    rng: np.random.Generator,
) -> int:
    """All of them, in random order."""
    n = 0
    for arm in range(beats.size):
        if beats[arm]:
            arms[n] = arm
            n += 1
    if n > 1:
        shuffle(arms[:n], rng)
    return n


@implements(pulled, BESAParams)
def last_winner(
    policy: BESAParams,
    state: History,
    leader: int,
    beats: Flags,
    n_winners: int,
    arms: Ints,
    words: Words,
    rng: np.random.Generator,
) -> int:
    """The winner of the tournament."""
    tournament(policy.tie, state, state.pool, leader, beats, arms, words, rng)
    return 1


@shortcut(SubsetParams, BESAParams)
def play_subsets(policy: Any, state: History, run: Run, rng: np.random.Generator) -> None:
    """Play to the horizon."""
    n_arms = state.pulls.size
    waits, words = new_waits(n_arms), further_words(rng)
    beats, arms = np.zeros(n_arms, np.bool_), np.zeros(n_arms, np.int64)
    while not ended(run.progress):
        for arm in range(n_arms):
            state = reserve(state, arm, 2)
        play_rounds(policy, state, run, waits, beats, arms, words, rng)


@jit_inline
def play_rounds(
    policy: Any,
    state: History,
    run: Run,
    waits: Waits,
    beats: Flags,
    arms: Ints,
    words: Words,
    rng: np.random.Generator,
) -> None:
    """Rounds until the run is over, or some arm has no more room for a reward."""
    pulls, means, pool, first, room = state.pulls, state.means, state.pool, state.start, state.room
    numbers, ring, spent, at = waits.numbers, waits.ring, waits.spent, waits.at
    n_arms, r, full, tie = pulls.size, round_number(pulls), False, policy.tie
    while not full and not ended(run.progress):
        leader = leader_of(pulls, means, rng)
        if leader != at[LEADER]:
            forget(numbers, ring, spent)
            at[LEADER] = leader
        at[NOW] += 1
        now, n_leader, m, low, high = at[NOW], pulls[leader], means[leader], state.lows[leader], state.highs[leader]
        level, n_winners = level_of(policy, r), 0
        for arm in range(n_arms):
            if (ring[arm] > now or arm == leader) and pulls[arm] >= level:
                continue
            n, mean, wins = pulls[arm], means[arm], False
            if n == n_leader:
                wins = arm != leader and tied_wins(policy, mean - m, rng)
            elif n < level:
                wins = True
            else:
                if ring[arm] == UNSURE:
                    certify(waits, arm, n, mean, n_leader, m, low, high, rng)
                if ring[arm] == ALWAYS:
                    total = state.sums[leader] + state.carry[leader]
                    lead = lead_over_subset(mean, n, pool, first[leader], n_leader, total, low, high, words)
                    wins = wins_by(lead, tie, rng)
                    spent[arm] += n
                    if spent[arm] > WEIGHT_COST * n_leader and not wins and n >= TILT_LEAST and mean < m:
                        spent[arm] = 0
                        set_tilt(numbers, arm, mean, pool[first[leader] : first[leader] + n_leader], m, low)
                        ring[arm] = UNSURE if numbers[TILT, arm] > 0.0 else ALWAYS
                elif ring[arm] == now:
                    wins = tilted_duel(waits, arm, mean, n, pool, first[leader], n_leader, low, high, tie, words, rng)
                    ring[arm] = UNSURE
            beats[arm] = wins
            if wins:
                n_winners += 1
        n_pulled = 1
        arms[0] = leader
        if n_winners > 0:
            n_pulled = pulled(policy, state, leader, beats, n_winners, arms, words, rng)
            for arm in range(n_arms):
                beats[arm] = False
        r += n_pulled
        for i in range(n_pulled):
            arm = arms[i]
            if ended(run.progress):
                break
            reward = pull(run, arm)
            pool[first[arm] + pulls[arm]] = reward
            count(state, arm, reward)
            if arm == leader:
                weigh(numbers, ring, n_leader + 1, low, high, reward)
            elif ring[arm] != ALWAYS:
                ring[arm] = UNSURE
            full = full or pulls[arm] == room[arm]
