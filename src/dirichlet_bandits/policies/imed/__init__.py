"""Indexed Minimum Empirical Divergence: IMED and EmpiricalIMED (Honda and Takemura, JMLR 2015), and UnimodalIMED."""

from dirichlet_bandits.policies.imed import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.imed.probability import nearby_propensities  # and registers the kept index
from dirichlet_bandits.policies.imed.rule import IMED, EmpiricalIMED, UnimodalIMED
from dirichlet_bandits.policies.index import DirectIndices, IncrementalIndices, index_propensities
from dirichlet_bandits.policies.registry import register

register(IMED, probability=index_propensities, incremental=DirectIndices)
register(EmpiricalIMED, probability=index_propensities, incremental=IncrementalIndices)
register(UnimodalIMED, probability=nearby_propensities)

__all__ = ["IMED", "EmpiricalIMED", "UnimodalIMED"]
