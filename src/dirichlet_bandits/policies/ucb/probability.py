"""Propensities of KL-UCB, whose index is deterministic; for EmpiricalKLUCB, incrementally by power sums of rewards."""

import math

from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.numerics.kinf_series import kl_ucb_incremental
from dirichlet_bandits.policies.index import incremental_index
from dirichlet_bandits.policies.ucb.rule import EmpiricalKLUCBParams
from dirichlet_bandits.types import Records


@implements(incremental_index, EmpiricalKLUCBParams)
def incremental_klucb(
    policy: EmpiricalKLUCBParams, state: History, arm: int, total: int, best_mean: float, expansions: Records
) -> float:
    """Return the index sup{q : N_k Kinf(F_k, q) <= log t}, up to rounding."""
    return kl_ucb_incremental(expansions[arm], rewards(state, arm), state.means[arm], math.log(total), policy.upper)
