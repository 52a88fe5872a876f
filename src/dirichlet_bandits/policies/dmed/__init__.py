"""Deterministic Minimum Empirical Divergence (Honda and Takemura, COLT 2010)."""

from dirichlet_bandits.policies.dmed import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.dmed.probability import list_propensities
from dirichlet_bandits.policies.dmed.rule import DMED
from dirichlet_bandits.policies.registry import register

register(DMED, probability=list_propensities)

__all__ = ["DMED"]
