"""Which arm IMED pulls: the index is certain; that of EmpiricalIMED incrementally, by power sums of the rewards."""

import math

from dirichlet_bandits.compilation import jit
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.verbs import implements
from dirichlet_bandits.numerics.kinf_series import kinf_incremental
from dirichlet_bandits.policies.imed.rule import EmpiricalIMEDParams
from dirichlet_bandits.policies.index import incremental_index
from dirichlet_bandits.types import Floats


@jit
def incremental_evidence(
    policy: EmpiricalIMEDParams, state: History, expansions: Floats, arm: int, m: float
) -> tuple[float, float]:
    """Kinf(F_k, m; upper) and its slope up to rounding, from the arm's power sums."""
    return kinf_incremental(expansions[arm], rewards(state, arm), state.means[arm], m, policy.upper)


@implements(incremental_index, EmpiricalIMEDParams)
def incremental_imed(
    policy: EmpiricalIMEDParams, state: History, arm: int, total: int, best_mean: float, expansions: Floats
) -> float:
    """N_k Kinf(F_k, max mu) + log N_k, with its sign turned."""
    n = state.pulls[arm]
    return -(n * incremental_evidence(policy, state, expansions, arm, best_mean)[0] + math.log(n))
