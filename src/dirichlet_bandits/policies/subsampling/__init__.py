"""Sub-sampling duels: RB-SDA (Baudry, Kaufmann and Maillard, NeurIPS 2020)."""

from functools import partial

from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.rounds import IncrementalDuels, round_propensities
from dirichlet_bandits.policies.subsampling import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.subsampling.probability import new_counts
from dirichlet_bandits.policies.subsampling.rule import RBSDA

register(RBSDA, probability=round_propensities, incremental=partial(IncrementalDuels, memory=new_counts))

__all__ = ["RBSDA"]
