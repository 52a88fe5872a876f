"""One-parameter families of rewards: what KLUCB, IMED and ThompsonSampling may be told to assume."""

import math
from dataclasses import dataclass
from typing import Literal

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.divergences import FAMILIES
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.validation import positive_number

FamilyName = Literal["bernoulli", "gaussian", "exponential", "poisson"]

_SUPPORTS = {"bernoulli": (0.0, 1.0), "exponential": (0.0, math.inf), "poisson": (0.0, math.inf)}


@dataclass(frozen=True)
class FamilyPolicy(Policy):
    """A policy that is told the family of the rewards; ``sigma`` goes with the Gaussian one."""

    family: FamilyName
    sigma: float | None = None

    def __post_init__(self) -> None:
        choice("family", self.family, FAMILIES)
        if self.family == "gaussian":
            positive_number("sigma", self.sigma)
        elif self.sigma is not None:
            raise ArgumentError("sigma", "left out unless family is 'gaussian'", self.sigma)

    def _code(self) -> tuple[int, float]:
        return FAMILIES[self.family], 1.0 if self.sigma is None else float(self.sigma)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return _SUPPORTS.get(self.family, (-math.inf, math.inf))
