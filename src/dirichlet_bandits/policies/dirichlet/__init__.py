"""Dirichlet Sampling: BDS, RDS and QDS (Baudry, Saux and Maillard, NeurIPS 2021)."""

from functools import partial

from dirichlet_bandits.policies.dirichlet import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.dirichlet.probability import WeightedDuels, discounted_duels, new_followed
from dirichlet_bandits.policies.dirichlet.rule import BDS, QDS, RDS
from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.rounds import IncrementalDuels, round_propensities

incremental = partial(IncrementalDuels, memory=new_followed)
register(BDS, QDS, probability=round_propensities, incremental=incremental, weighted=WeightedDuels)
register(
    RDS,
    probability=round_propensities,
    incremental=incremental,
    weighted=WeightedDuels,
    discounted=discounted_duels,
)

__all__ = ["BDS", "QDS", "RDS"]
