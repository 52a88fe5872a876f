"""Non-Parametric Thompson Sampling (Riou and Honda, ALT 2020)."""

from dirichlet_bandits.policies.npts import fast as _fast  # noqa: F401 - registers the shortcut
from dirichlet_bandits.policies.npts.rule import (
    NPTS,
    TabulatedIndices,
    WeightedIndices,
    discounted_indices,
    resampling_propensities,
)
from dirichlet_bandits.policies.registry import register

register(
    NPTS,
    probability=resampling_propensities,
    incremental=TabulatedIndices,
    drawn=True,
    weighted=WeightedIndices,
    discounted=discounted_indices,
)

__all__ = ["NPTS"]
