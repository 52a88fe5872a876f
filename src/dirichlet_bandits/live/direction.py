"""Rewards to maximize or costs to minimize, and how a policy sees the numbers of a study."""

import math
from typing import Final, NamedTuple, overload

import numpy as np

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats

MAXIMIZE: Final = "maximize"
MINIMIZE: Final = "minimize"


class Direction(NamedTuple):
    """A map between the study's numbers and the policy's, the same both ways: number, or mirror - number."""

    name: str
    mirror: float = 0.0
    low: float = -math.inf
    high: float = math.inf

    @property
    def larger_is_better(self) -> bool:
        """Whether the study's numbers are rewards."""
        return self.name == MAXIMIZE

    @overload
    def turn(self, x: float) -> float: ...

    @overload
    def turn(self, x: Floats) -> Floats: ...

    def turn(self, x: float | Floats) -> float | Floats:
        """Return the study's numbers as the policy sees them, or the policy's numbers as the study sees them."""
        if self.larger_is_better:
            return x
        turned = np.clip(self.mirror - x, self.low, self.high)  # a rounded difference may leave the bounds
        return turned if isinstance(x, np.ndarray) else float(turned)


def mirrored(name: str, low: float, high: float) -> Direction:
    """Return the direction for numbers between two bounds: unchanged, or low + high - number for costs.

    Without two finite bounds, costs become -number.

    >>> mirrored("minimize", 0.0, 10.0).turn(3.0), mirrored("maximize", 0.0, 10.0).turn(3.0)
    (7.0, 3.0)
    """
    if name == MAXIMIZE or not math.isfinite(low + high):
        return Direction(name)
    return Direction(name, low + high, low, high)


def direction_for(policy: Policy, name: object) -> Direction:
    """Return the direction of a study with this policy; refuse a policy that cannot handle costs.

    A policy without bounds sees -cost. A policy with two bounds, which bound the costs, sees lower + upper - cost, so
    the bounds stay the same, and costs of 0 or 1 become rewards of 1 or 0. A policy with an upper bound alone would
    need a lower bound of the costs.

    >>> from dirichlet_bandits import NPTS, BinarizedTS
    >>> direction_for(BinarizedTS(2.0, 10.0), "minimize").turn(3.0)
    9.0
    >>> direction_for(NPTS(upper=1.0), "minimize")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'direction' must be 'maximize' with NPTS(upper=1.0), which has one ...
    """
    if name not in (MAXIMIZE, MINIMIZE):
        raise ArgumentError("direction", one_of((MAXIMIZE, MINIMIZE)), name)
    if name == MAXIMIZE:
        return Direction(MAXIMIZE)
    low, high = policy.reward_bounds
    if not math.isfinite(low) and not math.isfinite(high):
        return Direction(MINIMIZE)
    if not (math.isfinite(low) and math.isfinite(high)):
        advice = "costs need a policy with two bounds or none, such as BinarizedTS(lower, upper) or RDS"
        raise ArgumentError("direction", f"'maximize' with {policy!r}, which has one bound: {advice}", name)
    turned = mirrored(MINIMIZE, low, high)
    support = getattr(policy, "support", None)
    if support is not None and not np.allclose(turned.turn(np.array(support, float))[::-1], support):
        raise ArgumentError("direction", f"'maximize' with {policy!r}, whose values are not symmetric", name)
    return turned
