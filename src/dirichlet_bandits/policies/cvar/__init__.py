"""Policies that judge an arm by its bad rewards: B-CVTS, M-CVTS, U-UCB and CVaR-UCB."""

from dirichlet_bandits.policies.cvar import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.cvar.rule import (
    BCVTS,
    MCVTS,
    UUCB,
    CVaRUCB,
    posterior_cvar_propensities,
    resampled_cvar_propensities,
)
from dirichlet_bandits.policies.index import DirectIndices, index_propensities
from dirichlet_bandits.policies.registry import register

register(BCVTS, probability=resampled_cvar_propensities)
register(MCVTS, probability=posterior_cvar_propensities)
register(UUCB, CVaRUCB, probability=index_propensities, incremental=DirectIndices)

__all__ = ["BCVTS", "MCVTS", "UUCB", "CVaRUCB"]
