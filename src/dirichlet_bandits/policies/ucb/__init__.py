"""Upper confidence bounds: UCB1, R-UCB-LT, KL-UCB, empirical KL-UCB, kl-UCB++ and KL-UCB-switch."""

from dirichlet_bandits.policies.index import DirectIndices, IncrementalIndices, index_propensities
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.ucb import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.ucb import probability as _probability  # noqa: F401 - registers the kept index
from dirichlet_bandits.policies.ucb.minimax import KLUCBPlusPlus, KLUCBSwitch
from dirichlet_bandits.policies.ucb.rule import KLUCB, RUCBLT, UCB1, EmpiricalKLUCB
from dirichlet_bandits.policies.weighted_rewards import weighted_tally

register(UCB1, KLUCB, probability=index_propensities, incremental=DirectIndices, weighted=weighted_tally)
register(RUCBLT, KLUCBPlusPlus, KLUCBSwitch, probability=index_propensities, incremental=DirectIndices)
register(EmpiricalKLUCB, probability=index_propensities, incremental=IncrementalIndices)

__all__ = ["KLUCB", "RUCBLT", "UCB1", "EmpiricalKLUCB", "KLUCBPlusPlus", "KLUCBSwitch"]
