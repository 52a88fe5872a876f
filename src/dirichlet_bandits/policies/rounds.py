"""Rounds: the arms that are pulled before the policy decides again, and the probability of each arm.

A round-based policy lets challengers duel with a leader, the arm with the most observations (ties: best mean, then
random). Every winner is pulled, in random order; if there is none, the leader is pulled.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import Direct, borrowed, jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.tally import shuffle
from dirichlet_bandits.engine.verbs import specialized, verb
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.types import Floats, Ints


@jit
def leader_of(pulls: Ints | Floats, means: Floats, rng: np.random.Generator) -> int:
    """Return the arm with the most observations; ties go to the best mean, then to chance."""
    leader, ties = 0, 1
    for arm in range(1, pulls.size):
        if pulls[arm] > pulls[leader] or (pulls[arm] == pulls[leader] and means[arm] > means[leader]):
            leader, ties = arm, 1
        elif pulls[arm] == pulls[leader] and means[arm] == means[leader]:
            ties += 1
            if rng.random() * ties < 1.0:
                leader = arm
    return leader


@jit
def duel_round(policy: Any, state: Any, rng: np.random.Generator) -> Ints:
    """Play one round of duels: ``select`` of every round-based policy."""
    state, rng = borrowed(state), borrowed(rng)
    leader = leader_of(state.pulls, state.means, rng)
    winners = np.empty(state.pulls.size, np.int64)
    n_winners = 0
    for arm in range(state.pulls.size):
        # Arms tied with the leader in observations do not duel.
        if state.pulls[arm] < state.pulls[leader] and verbs.duel(policy, state, arm, leader, rng):
            winners[n_winners] = arm
            n_winners += 1
    return winners[: complete_round(winners, n_winners, leader, rng)]


@jit
def complete_round(winners: Ints, n_winners: int, leader: int, rng: np.random.Generator) -> int:
    """Shuffle the winners of a round, or insert the leader if there are none, and return how many arms to pull."""
    if n_winners == 0:
        winners[0] = leader
        return 1
    shuffle(winners[:n_winners], rng)
    return n_winners


@verb
def win_probability(policy: Any, state: Any, challenger: int, leader: int) -> Any:
    """Return the probability that the challenger wins its duel against the leader."""


@verb
def incremental_win_probability(policy: Any, state: Any, challenger: int, leader: int, memory: Any) -> Any:
    """Return the probability that the challenger wins its duel, using the family's memory of earlier results."""


def write_wins(policy: Any, state: Any, leader: int, memory: Any, chances: Floats) -> None:
    """Write each arm's probability of beating this leader to ``chances``, 0 for arms that do not duel; an entry point.

    They are computed directly if there is no memory, else with its help.
    """
    for arm in range(state.pulls.size):
        chances[arm] = 0.0
        if state.pulls[arm] < state.pulls[leader]:
            if memory is None:  # known when this is compiled: only one of the verbs has to be there
                chances[arm] = win_probability(policy, state, arm, leader)
            else:
                chances[arm] = incremental_win_probability(policy, state, arm, leader, memory)


def round_propensities(policy: Policy, state: Any) -> Floats:
    """Return propensities from win probabilities: duels are independent; the leader is pulled if no arm wins."""
    chances, write = np.empty(state.pulls.size), specialized(write_wins, policy.params)

    def wins(leader: int) -> Floats:
        write(policy.params, state, leader, None, chances)
        return chances

    return average_over_leaders(state, wins)


def average_over_leaders(state: Any, wins: Callable[[int], Floats]) -> Floats:
    """Return propensities from the probabilities of beating a leader, averaged over arms tied for the lead."""
    pulls, means = state.pulls.tolist(), state.means.tolist()  # of a few numbers, lists are faster than arrays
    most = max(pulls)
    best = max(mean for n, mean in zip(pulls, means, strict=True) if n == most)
    leaders = [arm for arm, n in enumerate(pulls) if n == most and means[arm] == best]
    result = [0.0] * len(pulls)
    for leader in leaders:
        chances = wins(leader).tolist()
        result = [share + chance / len(leaders) for share, chance in zip(result, chances, strict=True)]
        result[leader] += math.prod(1.0 - chance for chance in chances) / len(leaders)
    return np.array(result)


class IncrementalDuels:
    """Propensities of a policy with a ``win_probability``, or with an incremental one and a memory for it."""

    def __init__(self, policy: Policy, n_arms: int, memory: Callable[[int], Any] = lambda n_arms: None) -> None:
        self._params = policy.params
        self._write = Direct(lambda: specialized(write_wins, self._params))
        self._memory, self._chances = memory(n_arms), np.empty(n_arms)

    def propensities(self, state: Any) -> Floats:
        """Return the propensities from each challenger's probability of winning."""

        def wins(leader: int) -> Floats:
            self._write(self._params, state, leader, self._memory, self._chances)
            return self._chances

        return average_over_leaders(state, wins)

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something."""
        return self.propensities(state) if self._write.is_compiled else None
