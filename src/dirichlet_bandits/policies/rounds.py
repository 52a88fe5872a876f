"""Rounds: the arms that are pulled before the policy looks again.

A round-based policy lets challengers duel with a leader, the arm with most observations (ties: best mean, then
random). Every winner is pulled, in random order; if nobody wins, the leader is.
"""

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.tally import Floats, Ints, shuffle, unpulled


def as_round(chosen: Any, desk: Ints) -> Any:
    """The answer of ``select`` as an array; a single arm, the answer of an index policy, is put on the desk."""


@overload(as_round)
def _as_round(chosen, desk):  # type: ignore[no-untyped-def]
    if not isinstance(chosen, types.Integer):
        return lambda chosen, desk: chosen

    def alone(chosen, desk):  # type: ignore[no-untyped-def]
        desk[0] = chosen
        return desk

    return alone


@jit
def next_round(policy: Any, state: Any, rng: np.random.Generator) -> Ints:
    """The arms to pull next: those never pulled, else what the policy selects."""
    arms = unpulled(state.pulls, rng)
    if arms.size == 0:
        arms = as_round(verbs.select(policy, state, rng), np.empty(1, np.int64))
    return arms


@jit
def leader_of(pulls: Ints, means: Floats, rng: np.random.Generator) -> int:
    """The arm with most observations; among those the best mean; among those any."""
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
    """One round of duels: ``select`` of every round-based policy."""
    leader = leader_of(state.pulls, state.means, rng)
    winners = np.empty(state.pulls.size, np.int64)
    n_winners = 0
    for arm in range(state.pulls.size):
        # Arms tied with the leader in observations do not duel.
        if state.pulls[arm] < state.pulls[leader] and verbs.duel(policy, state, arm, leader, rng):
            winners[n_winners] = arm
            n_winners += 1
    if n_winners == 0:
        winners[0] = leader
        n_winners = 1
    shuffle(winners[:n_winners], rng)
    return winners[:n_winners]
