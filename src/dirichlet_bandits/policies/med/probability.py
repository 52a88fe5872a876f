"""Propensities of MED, which are the rule itself; for bounded rewards, incrementally by power sums of the rewards."""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import Direct
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.med.rule import weight
from dirichlet_bandits.policies.min_divergence import approx_min_divergence
from dirichlet_bandits.types import Floats, Records


def all_weights(policy: Any, state: Any) -> Floats:
    """Return exp(-N_k D_k) for every arm; an entry point."""
    _, best_mean = overview(state)
    weights = np.empty(state.pulls.size)
    for arm in range(weights.size):
        weights[arm] = weight(policy, state, arm, best_mean)
    return weights


def write_incremental_weights(policy: Any, state: Any, expansions: Records, weights: Floats) -> None:
    """Write the weights up to rounding, from the stored power sums; an entry point."""
    _, best_mean = overview(state)
    for arm in range(weights.size):
        weights[arm] = math.exp(-state.pulls[arm] * approx_min_divergence(policy, state, expansions, arm, best_mean)[0])


def weight_propensities(policy: Policy, state: Any) -> Floats:
    """Return the weights divided by their sum."""
    weights: Floats = specialized(all_weights, policy.params)(policy.params, state)
    return weights / weights.sum()


class IncrementalWeights:
    """Propensities at a cost that does not grow with the rewards."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy = policy
        self._write = Direct(lambda: specialized(write_incremental_weights, policy.params))
        self._weights = np.empty(n_arms)
        self._expansions = make_expansions.py_func(n_arms)  # type: ignore[attr-defined]

    def propensities(self, state: Any) -> Floats:
        """Return the propensities from the stored power sums."""
        self._write(self._policy.params, state, self._expansions, self._weights)
        return self._weights / self._weights.sum()

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something."""
        return self.propensities(state) if self._write.is_compiled else None
