"""Propensities under restarts: those of the restarted policy, mixed with uniform exploration."""

from typing import Any

import numpy as np

from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.index import index_propensities
from dirichlet_bandits.policies.registry import propensities_of
from dirichlet_bandits.policies.restarting.rule import (
    AT_RANDOM,
    ClockedRestartingParams,
    Restarted,
    clocked_indices,
    next_exploration,
)
from dirichlet_bandits.types import Floats


def restarting_propensities(policy: Any, state: Restarted) -> Floats:
    """Return (1 - omega) p + omega / K with the restarted policy's propensities p, or 0 and 1 by the schedule.

    Arms without enough rewards since the last restart are pulled together in one round.
    """
    params, n_arms = policy.params, len(state.pulls)
    rate, forced = specialized(next_exploration, params)(params, state)
    fresh = np.asarray(state.recent.pulls < params.first, np.float64)
    if fresh.any() and params.first > 1:
        return fresh
    if forced >= 0:
        return np.asarray(np.arange(n_arms) == forced, np.float64)
    own = fresh if fresh.any() else _own_propensities(policy, params, state)
    return own if params.scheduled != AT_RANDOM else (1.0 - rate) * own + rate / n_arms


def _own_propensities(policy: Any, params: Any, state: Restarted) -> Floats:
    """Return the propensities of the restarted policy, if all arms have a reward since their last restart."""
    rule = propensities_of(policy.policy).from_state
    assert rule is not None  # or the policy would have been refused
    if rule is index_propensities and isinstance(params, ClockedRestartingParams):
        values = specialized(clocked_indices, params)(params, state, np.random.default_rng(0))
        largest = values == values.max()
        return np.asarray(largest / largest.sum())
    return rule(policy.policy, state.inner)


def obstacle(policy: Any) -> str:
    """Return the obstacle of the restarted policy, or an empty string if it has none."""
    propensities_of(policy.policy)
    return ""


def refuse_histories(policy: Any, histories: list[Floats]) -> Floats:
    """Refuse histories, because they do not contain the order of the decisions, which matters."""
    expected = "one that does not depend on the order of decisions, which histories do not contain (state_propensities)"
    raise ArgumentError("policy", expected, policy)
