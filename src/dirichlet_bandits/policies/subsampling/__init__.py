"""Duels on sub-samples: SDA (Baudry, Kaufmann and Maillard, NeurIPS 2020), its limited memory, SSMC and BESA."""

from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.rounds import IncrementalDuels, round_propensities
from dirichlet_bandits.policies.subsampling.blocks import LBSDA, LDSSDA, RBSDA, SSMC
from dirichlet_bandits.policies.subsampling.subsets import BESA, UNCOUNTABLE, WRSDA

register(RBSDA, LBSDA, LDSSDA, SSMC, probability=round_propensities, incremental=IncrementalDuels)
register(WRSDA, BESA, obstacle=lambda policy: UNCOUNTABLE)

__all__ = ["BESA", "LBSDA", "LDSSDA", "RBSDA", "SSMC", "WRSDA"]
