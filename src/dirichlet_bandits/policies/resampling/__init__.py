"""Bootstrap means: GIRO (Kveton et al., 2019), bootstrap Thompson Sampling (Osband and Van Roy; Eckles and Kaptein)."""

from dirichlet_bandits.policies.registry import not_from_histories, register
from dirichlet_bandits.policies.resampling.probability import (
    bootstrap_propensities,
    giro_propensities,
    only_binary,
    replicate_propensities,
)
from dirichlet_bandits.policies.resampling.rule import GIRO, BootstrapTS, OnlineBootstrapTS

register(GIRO, probability=giro_propensities, obstacle=only_binary)
register(BootstrapTS, probability=bootstrap_propensities, obstacle=only_binary)
register(OnlineBootstrapTS, probability=replicate_propensities, from_histories=not_from_histories)

__all__ = ["GIRO", "BootstrapTS", "OnlineBootstrapTS"]
