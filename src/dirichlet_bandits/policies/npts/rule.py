"""Non-Parametric Thompson Sampling (Riou and Honda, ALT 2020)."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.verbs import implements, index
from dirichlet_bandits.policies.families import BoundedAbovePolicy


class NPTSParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


@dataclass(frozen=True)
class NPTS(BoundedAbovePolicy):
    """Thompson Sampling without a model: every arm's rewards and the bound are reweighted at random.

    index = sum_i w_i X_i + w_{n+1} upper, w ~ Dirichlet(1, ..., 1), drawn again for every arm at every step.

    >>> NPTS(upper=1.0)
    NPTS(upper=1.0)

    Reference: Riou and Honda, ALT 2020.
    """

    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Riou and Honda (2020)"

    @property
    def params(self) -> NPTSParams:
        return NPTSParams(float(self.upper))


keeps_rewards(NPTSParams)


@implements(index, NPTSParams)
def resampled_mean(
    policy: NPTSParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index; Dirichlet weights are exponentials over their sum, and shortfalls keep ties exact."""
    weights = rng.standard_exponential()
    shortfall = 0.0
    for value in rewards(state, arm):
        weight = rng.standard_exponential()
        weights += weight
        shortfall += weight * (policy.upper - value)
    return policy.upper - shortfall / weights
