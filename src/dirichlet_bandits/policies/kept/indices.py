"""Indices built on Kinf, from kept power sums: the largest is found at a cost that does not grow with the rewards.

They differ from the plain ones by rounding only; where rounding could matter, arms being tied or nearly so, the plain
ones decide.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dirichlet_bandits.numerics.accurate import raised
from dirichlet_bandits.numerics.checks import Floats
from dirichlet_bandits.numerics.expansion import index_kept, kinf_kept, make_expansions
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.base import Policy, keeper
from dirichlet_bandits.policies.history import History, rewards
from dirichlet_bandits.policies.imed import EmpiricalIMEDParams
from dirichlet_bandits.policies.index import overview
from dirichlet_bandits.policies.propensity import state_propensities
from dirichlet_bandits.policies.ucb import EmpiricalKLUCBParams
from dirichlet_bandits.policies.verbs import implements, verb


class KeptIndices:
    """Propensities of a deterministic index policy: 1 for the largest index."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        self._policy = policy
        self._expansions = make_expansions.py_func(n_arms)  # type: ignore[attr-defined]

    def indices(self, state: Any) -> Floats:
        """Of all arms, up to rounding."""
        return _door(type(self._policy.params))(self._policy.params, state, self._expansions)

    def propensities(self, state: Any) -> Floats:
        """From the kept indices if one of them is the largest beyond doubt."""
        indices = self.indices(state)
        best = indices.argmax()
        second = raised.py_func(float(np.delete(indices, best).max()))  # type: ignore[attr-defined]
        if not second < indices[best]:  # ties, or NaN
            return state_propensities(self._policy, state)
        return np.asarray(np.arange(indices.size) == best, np.float64)


@verb
def kept_index(policy: Any, state: Any, arm: int, total: int, top: float, expansions: Floats) -> Any:
    """The arm's index up to rounding."""


@implements(kept_index, EmpiricalIMEDParams)
def kept_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, top: float, expansions: Floats
) -> float:
    """N_k Kinf(F_k, top) + log N_k, with its sign turned."""
    n = state.pulls[arm]
    return -(n * kinf_kept(expansions[arm], rewards(state, arm), state.means[arm], top, policy.upper)[0] + math.log(n))


@implements(kept_index, EmpiricalKLUCBParams)
def kept_klucb(
    policy: EmpiricalKLUCBParams, state: History, arm: int, total: int, top: float, expansions: Floats
) -> float:
    """sup{q : N_k Kinf(F_k, q) <= log t}"""
    return index_kept(expansions[arm], rewards(state, arm), state.means[arm], math.log(total), policy.upper)


@functools.cache
def _door(policy_type: type) -> Callable[..., Floats]:
    """The indices of all arms, compiled for calls from Python."""
    stamp = verbs.stamp(policy_type)

    @keeper(policy_type)
    def kept_indices(policy: Any, state: Any, expansions: Floats) -> Floats:
        stamp  # noqa: B018 - the closure ties the cached code to the sources
        total, top = overview(state)
        indices = np.empty(state.pulls.size)
        for arm in range(state.pulls.size):
            indices[arm] = kept_index(policy, state, arm, total, top, expansions)
        return indices

    return kept_indices
