"""Rewards to maximize or costs to minimize, and how a policy sees the numbers of a study."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, overload

import numpy as np

from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.policies import Policy
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number

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


# Bounds of the rewards: declared when a study is created, known from its policy, or given with a call


def two_bounds(bounds: object, finite: bool = True) -> Bounds:
    """Return the argument ``bounds`` as two numbers, the smaller first; unless ``finite``, they may be infinite.

    >>> two_bounds([0, 1])
    (0.0, 1.0)
    >>> two_bounds((1, 0))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'bounds' must be two numbers, the smaller first (got (1, 0))
    """
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise ArgumentError("bounds", "two numbers between which all rewards lie", bounds)
    lower, upper = (
        float(bound) if not finite and bound in (-math.inf, math.inf) else finite_number(f"bounds[{k}]", bound)
        for k, bound in enumerate(bounds)
    )
    if not lower < upper:
        raise ArgumentError("bounds", "two numbers, the smaller first", bounds)
    return lower, upper


def check_around(rewards: Bounds, bounds: Bounds, given: object) -> None:
    """Refuse bounds that a reward exceeds; ``rewards`` are the smallest and the largest.

    >>> check_around((0.0, 3.0), (0.0, 2.0), (0, 2))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'bounds' must be around all rewards, from 0 to 3 (got (0, 2))
    """
    if not bounds[0] <= rewards[0] <= rewards[1] <= bounds[1]:
        raise ArgumentError("bounds", f"around all rewards, from {rewards[0]:g} to {rewards[1]:g}", given)


def check_within(field: str, reward: float, bounds: Bounds | None) -> None:
    """Refuse a reward outside of the bounds that a study declares.

    >>> check_within("reward", 1.5, (0.0, 1.0))
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'reward' must be between 0 and 1, the bounds of the study (got 1.5)
    """
    if bounds is not None and not bounds[0] <= reward <= bounds[1]:
        raise ArgumentError(field, f"between {bounds[0]:g} and {bounds[1]:g}, the bounds of the study", reward)
