"""Which arm IMED pulls: the index is certain; that of EmpiricalIMED incrementally, by power sums of the rewards."""

import math

from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.numerics.kinf_series import kinf_incremental
from dirichlet_bandits.policies.imed.rule import EmpiricalIMEDParams
from dirichlet_bandits.policies.index import incremental_index
from dirichlet_bandits.types import Floats


@implements(incremental_index, EmpiricalIMEDParams)
def incremental_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, best_mean: float, expansions: Floats
) -> float:
    """N_k Kinf(F_k, max mu) + log N_k, with its sign turned."""
    n, x = state.pulls[arm], rewards(state, arm)
    return -(n * kinf_incremental(expansions[arm], x, state.means[arm], best_mean, policy.upper)[0] + math.log(n))
