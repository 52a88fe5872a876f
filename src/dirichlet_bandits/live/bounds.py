"""Bounds of a study's rewards: declared when it is created, known from its policy, or given with a call."""

import math
from collections.abc import Sequence

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.inference.intervals import Bounds
from dirichlet_bandits.validation import finite_number


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
