"""Propensities of IMED, whose index is deterministic; for EmpiricalIMED incrementally, by power sums of the rewards."""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.engine.history import History
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.policies.imed.rule import EmpiricalIMEDParams, UnimodalIMED
from dirichlet_bandits.policies.index import all_indices, incremental_index
from dirichlet_bandits.policies.min_divergence import kinf_from_power_sums
from dirichlet_bandits.types import Floats, Records


@implements(incremental_index, EmpiricalIMEDParams)
def incremental_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, best_mean: float, expansions: Records
) -> float:
    """Return -(N_k Kinf(F_k, max mu) + log N_k), up to rounding."""
    n = state.pulls[arm]
    return -(n * kinf_from_power_sums(policy, state, expansions, arm, best_mean)[0] + math.log(n))


def nearby_propensities(policy: UnimodalIMED, state: Any) -> Floats:
    """Return the propensities; ties for the lead, and among a leader and its neighbors, are shared equally."""
    indices = all_indices(policy, state)
    best = state.means == state.means.max()
    leaders = np.flatnonzero(best & (state.pulls == state.pulls[best].min()))
    chances = np.zeros(indices.size)
    for leader in leaders:
        near = slice(max(leader - 1, 0), leader + 2)
        largest = indices[near] == indices[near].max()
        chances[near] += largest / largest.sum() / leaders.size
    return chances
