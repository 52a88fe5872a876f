"""Duels on sub-samples: SDA (Baudry, Kaufmann and Maillard, NeurIPS 2020), its limited memory, SSMC and BESA."""

from functools import partial

from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.rounds import IncrementalDuels, round_propensities
from dirichlet_bandits.policies.subsampling import fast as _fast  # noqa: F401 - registers the shortcuts
from dirichlet_bandits.policies.subsampling.probability import UNCOUNTABLE, new_counts
from dirichlet_bandits.policies.subsampling.rule import BESA, LBSDA, LDSSDA, RBSDA, SSMC, WRSDA

incremental = partial(IncrementalDuels, memory=new_counts)
register(RBSDA, LBSDA, LDSSDA, SSMC, probability=round_propensities, incremental=incremental)
register(WRSDA, BESA, obstacle=lambda policy: UNCOUNTABLE)

__all__ = ["BESA", "LBSDA", "LDSSDA", "RBSDA", "SSMC", "WRSDA"]
