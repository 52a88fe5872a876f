"""Perturbed means: PHE (Kveton et al., 2019), ReBoot (Wang et al., 2020), MBE (Wan et al., 2023)."""

from dirichlet_bandits.policies.perturbed.probability import (
    multiplier_propensities,
    perturbed_propensities,
    residual_propensities,
)
from dirichlet_bandits.policies.perturbed.rule import MBE, PHE, ReBoot
from dirichlet_bandits.policies.registry import register

register(PHE, probability=perturbed_propensities)
register(ReBoot, probability=residual_propensities)
register(MBE, probability=multiplier_propensities)

__all__ = ["MBE", "PHE", "ReBoot"]
