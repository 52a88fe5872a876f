"""Rewards with known bounds: what policies that rely on them have in common."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.tolerances import QUANTILE_SLACK
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.validation import reward_bound

BELOW_A_BOUND: Final = "rewards below a known bound and above some bound"
"""What the proofs assume of policies that are given an upper bound alone; they need not know the lower one."""


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
