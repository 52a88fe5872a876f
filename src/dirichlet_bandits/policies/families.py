"""What policies can assume about the rewards: a one-parameter family or an upper bound."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.numerics.divergences import FAMILIES
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.validation import reward_bound, reward_scale

FamilyName = Literal["bernoulli", "gaussian", "exponential", "poisson"]

_SUPPORTS = {"bernoulli": (0.0, 1.0), "exponential": (0.0, math.inf), "poisson": (0.0, math.inf)}


def family_code(family: str, sigma: float | None) -> tuple[int, float]:
    """Return the number and the standard deviation by which compiled code identifies a family."""
    return FAMILIES[family], 1.0 if sigma is None else float(sigma)


def _check_family(family: str, sigma: float | None) -> None:
    choice("family", family, FAMILIES)
    if family == "gaussian":
        reward_scale("sigma", sigma)
    elif sigma is not None:
        raise ArgumentError("sigma", "left out unless family is 'gaussian'", sigma)


@dataclass(frozen=True)
class FamilyPolicy(Policy):
    """A policy that assumes a family of rewards; ``sigma`` belongs to the Gaussian family."""

    family: FamilyName
    sigma: float | None = None
    example_parameters: ClassVar = {"family": "gaussian", "sigma": 1.0}

    def __post_init__(self) -> None:
        _check_family(self.family, self.sigma)

    def _code(self) -> tuple[int, float]:
        return family_code(self.family, self.sigma)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return _SUPPORTS.get(self.family, (-math.inf, math.inf))


@dataclass(frozen=True)
class FamilyOrBoundPolicy(Policy):
    """A policy that assumes either a family of rewards or an upper bound."""

    family: FamilyName | None = None
    sigma: float | None = None
    upper: float | None = None
    example_parameters: ClassVar = {"family": "gaussian", "sigma": 1.0}

    def __post_init__(self) -> None:
        if self.family is not None and self.upper is not None:
            raise ArgumentError("upper", "left out where a family is given", self.upper)
        if self.upper is not None:
            reward_bound("upper", self.upper)
            if self.sigma is not None:
                raise ArgumentError("sigma", "left out unless family is 'gaussian'", self.sigma)
        elif self.family is None:
            raise ArgumentError("family", f"{one_of(FAMILIES)}, or upper given in its place", self.family)
        else:
            _check_family(self.family, self.sigma)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        if self.family is None:
            return -math.inf, float(self.upper or 0.0)
        return _SUPPORTS.get(self.family, (-math.inf, math.inf))
