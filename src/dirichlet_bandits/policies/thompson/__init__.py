"""Thompson Sampling in one-parameter families, and its binarized form for bounded rewards."""

from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.thompson.probability import (
    DirectPosteriors,
    coin_propensities,
    expected_coin_propensities,
    thompson_propensities,
)
from dirichlet_bandits.policies.thompson.rule import BinarizedTS, ThompsonSampling

register(ThompsonSampling, probability=thompson_propensities, incremental=DirectPosteriors)
register(BinarizedTS, probability=coin_propensities, from_histories=expected_coin_propensities)

__all__ = ["BinarizedTS", "ThompsonSampling"]
