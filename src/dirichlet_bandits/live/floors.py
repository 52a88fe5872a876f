"""Floors of a study: the minimal probability of each arm, whatever the policy would do.

A floor is one number for all active arms, or a number for each arm that has one, by name. It is the probability that a
decision tries this arm alone instead of a round of the policy (``policies/floored.py``). Floors of retired arms do not
count. Arms that have not been tried come first, before any floor applies.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from dirichlet_bandits.errors import ArgumentError, ConflictError, FormatError
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number

Floor = float | Mapping[str, float]
SLACK: Final = 1e-9
"""Floors such as three thirds may sum to 1 up to rounding."""


def checked_shares(field: str, floor: object) -> float | dict[str, float]:
    """Check a floor of all arms, or floors by the names of arms, whatever these are."""
    if isinstance(floor, str):
        raise ArgumentError(field, "a number, or numbers by the names of arms", floor)
    if not isinstance(floor, Mapping):
        return _share(field, floor)
    return {str(name): _share(f"{field}[{name!r}]", share) for name, share in floor.items()}


def checked_floor(floor: object, names: Sequence[str]) -> float | dict[str, float]:
    """Return a floor as a study keeps it; ``names`` are all arms of the study.

    >>> checked_floor({"new": 0, "control": 0.2}, ["control", "new"])
    {'control': 0.2}
    >>> checked_floor(-0.1, ["control", "new"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'floor' must be a number from 0 to 1 (got -0.1)
    """
    if floor is None:
        return 0.0
    shares = checked_shares("floor", floor)
    if not isinstance(shares, dict):
        return shares
    if not shares.keys() <= set(names):
        raise ArgumentError("floor", f"a number, or numbers by the names of arms: {', '.join(names)}", shares)
    return {name: shares[name] for name in names if shares.get(name)} or 0.0


def check_sum(floor: Floor, active: Sequence[str]) -> None:
    """Refuse floors of active arms that sum to more than 1.

    >>> check_sum(0.6, ["a", "b"])
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'floor' must be at most 1 in all: those of 'a', 'b' sum to 1.2 (got 0.6)
    """
    excess = _excess(floor, active)
    if excess:
        raise ArgumentError("floor", f"at most 1 in all: those of {excess}", floor)


def _share(field: str, x: object) -> float:
    number = finite_number(field, x)
    if not 0.0 <= number <= 1.0:
        raise ArgumentError(field, "a number from 0 to 1", x)
    return number


def floors_of(floor: Floor, active: Sequence[str]) -> list[float]:
    """Return the floor of each active arm."""
    return [floor.get(name, 0.0) if isinstance(floor, Mapping) else floor for name in active]


def _excess(floor: Floor, active: Sequence[str]) -> str:
    """Describe the floors that sum to more than 1; return an empty text if they do not."""
    shares = floors_of(floor, active)
    if sum(shares) <= 1.0 + SLACK:
        return ""
    named = ", ".join(repr(name) for name, share in zip(active, shares, strict=True) if share > 0.0)
    return f"{named} sum to {sum(shares):g}"


def check_room(floor: Floor, active: Sequence[str]) -> None:
    """Refuse one more arm if its floor does not fit beside those of the others."""
    excess = _excess(floor, active)
    if excess:
        raise ConflictError(f"the floors of {excess}, more than 1: lower the floor before you add the arm")


def read_floor(number: int, said: object, names: Sequence[str], active: Sequence[str]) -> float | dict[str, float]:
    """Return the floor that an event holds."""
    try:
        floor = checked_floor(math.nan if said is None else said, names)
        check_sum(floor, active)
        return floor
    except (ArgumentError, TypeError, ValueError):
        raise FormatError(f"event {number} sets the floor {said!r}: the storage is damaged") from None


def all_floors(floor: Floor, names: Sequence[str], active: Sequence[bool]) -> Floats | None:
    """Return the floor of every arm that a study ever had, 0 for the retired ones; None without any floor."""
    if not floor:
        return None
    return np.where(active, floors_of(floor, names), 0.0)
