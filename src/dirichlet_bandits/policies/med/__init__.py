"""Minimum Empirical Divergence: MED (Honda and Takemura, 2011; KL-MS) and Maillard sampling."""

from dirichlet_bandits.policies.med import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.med.probability import IncrementalWeights, weight_propensities
from dirichlet_bandits.policies.med.rule import MED, MaillardSampling
from dirichlet_bandits.policies.registry import register

register(MED, MaillardSampling, probability=weight_propensities, incremental=IncrementalWeights)

__all__ = ["MED", "MaillardSampling"]
