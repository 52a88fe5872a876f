"""How probable the decisions of policies that sample to decide are."""

import numpy as np

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.policies.deciding.rule import EpsilonGreedy, EqualSplit
from dirichlet_bandits.types import Floats


def equal_propensities(policy: EqualSplit, state: Tally) -> Floats:
    """Return 1 / K for each arm."""
    return np.full(state.pulls.size, 1.0 / state.pulls.size)


def greedy_propensities(policy: EpsilonGreedy, state: Tally) -> Floats:
    """Return epsilon / K, and the rest for the arms with the best mean."""
    best = state.means == state.means.max()
    return np.asarray(policy.epsilon / best.size + (1.0 - policy.epsilon) * best / best.sum())
