"""What policies can assume about the rewards: a one-parameter family, known bounds, or an upper bound."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.numerics.divergences import FAMILIES
from dirichlet_bandits.numerics.tolerances import QUANTILE_SLACK
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.validation import reward_bound, reward_scale

FamilyName = Literal["bernoulli", "gaussian", "exponential", "poisson"]

_SUPPORTS = {"bernoulli": (0.0, 1.0), "exponential": (0.0, math.inf), "poisson": (0.0, math.inf)}

BELOW_A_BOUND: Final = "rewards below a known bound and above some bound"
"""What the proofs assume of policies that are given an upper bound alone; they need not know the lower one."""


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


class BoundedPolicy(Policy):
    """A policy with the fields ``lower`` and ``upper``, the bounds of every reward."""

    lower: float
    upper: float
    example_parameters: ClassVar = {"lower": 0.0, "upper": 1.0}

    def __post_init__(self) -> None:
        reward_bound("lower", self.lower)
        if not reward_bound("upper", self.upper) > self.lower:
            raise ArgumentError("upper", f"greater than lower = {self.lower}", self.upper)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)


@dataclass(frozen=True)
class BoundedAbovePolicy(Policy):
    """A policy with the field ``upper``, a bound that no reward exceeds."""

    upper: float
    assumes: ClassVar[str] = BELOW_A_BOUND
    example_parameters: ClassVar = {"upper": 1.0}

    def __post_init__(self) -> None:
        reward_bound("upper", self.upper)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return -math.inf, float(self.upper)


@jit
def rescaled(policy: Any, reward: float) -> float:
    """Return the reward on the scale on which the bounds are 0 and 1."""
    return (reward - policy.lower) / (policy.upper - policy.lower)


@jit
def pseudo_rewards(a: float, n: int) -> int:
    """Return ceil(a n), the number of pseudo-rewards that go with n rewards, robust to the rounding of a n.

    >>> pseudo_rewards(1.1, 10), pseudo_rewards(1.1, 11), pseudo_rewards(0.1, 3)
    (11, 13, 1)

    Reference: Kveton, Szepesvari, Ghavamzadeh and Boutilier, IJCAI 2019, section 3.
    """
    return math.ceil(a * n - QUANTILE_SLACK)
