"""Propensities of policies that sample in order to decide."""

from typing import Any

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.policies.deciding.rule import EpsilonGreedy, EqualSplit
from dirichlet_bandits.policies.deciding.top_two import GridTally, TopTwo, rivalry
from dirichlet_bandits.types import Floats


def equal_propensities(policy: EqualSplit, state: Tally) -> Floats:
    """Return 1 / K for each arm."""
    return np.full(state.pulls.size, 1.0 / state.pulls.size)


def greedy_propensities(policy: EpsilonGreedy, state: Tally) -> Floats:
    """Return epsilon / K for each arm, plus the rest for the arms with the best mean."""
    best = state.means == state.means.max()
    return np.asarray(policy.epsilon / best.size + (1.0 - policy.epsilon) * best / best.sum())


def top_two_propensities(policy: TopTwo, state: GridTally) -> Floats:
    """Return beta for the leader and 1 - beta for its rival; arms that tie share these equally."""
    leaders = np.flatnonzero(state.means == state.means.max())
    chances = np.zeros(state.pulls.size)
    for leader in leaders.tolist():
        values = specialized(_rivalry, policy.params)(policy.params, state, leader)
        rivals = np.arange(values.size) != leader
        closest = rivals & (values == values[rivals].min()) if rivals.any() else ~rivals
        chances[leader] += policy.beta / leaders.size
        chances[closest] += (1.0 - policy.beta) / closest.sum() / leaders.size
    return chances


def _rivalry(policy: Any, state: Any, leader: int) -> Floats:
    return rivalry(state, leader)
