"""Read numbers as people type them into forms."""

import re

from dirichlet_bandits.errors import ArgumentError


def whole_number(field: str, text: str) -> int:
    """Return a whole number of at most 18 digits."""
    if not (text.strip().isascii() and text.strip().isdecimal() and len(text.strip()) < 19):
        raise ArgumentError(field, "a whole number", text)
    return int(text)


def real_number(field: str, text: str) -> float:
    """Return a number typed with a point or a comma; refuse one whose point or comma may also separate thousands.

    >>> real_number("reward", "3120,5"), real_number("reward", "-0,125"), real_number("reward", "1e3")
    (3120.5, -0.125, 1000.0)
    >>> real_number("reward", "3,120")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'reward' must be 3120 or 3.1200: the comma may mean either (got '3,120')
    >>> real_number("reward", "3.120")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'reward' must be 3120 or 3.1200: the point may mean either (got '3.120')
    """
    typed = text.strip()
    if found := re.fullmatch(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*", typed):
        sign = found[1]
        either = f"{typed.replace(sign, '')} or {typed.replace(sign, '.', 1)}0"
        raise ArgumentError(field, f"{either}: the {'comma' if sign == ',' else 'point'} may mean either", text)
    try:
        return float(typed.replace(",", ".") if typed.count(",") == 1 and "." not in typed else typed)
    except ValueError:
        raise ArgumentError(field, "a number", text) from None


def floor(text: str) -> float | dict[str, float]:
    """Return a floor of every arm, or floors of some.

    >>> floor("0,1"), floor("red = 0.2; blue=0.1")
    (0.1, {'red': 0.2, 'blue': 0.1})
    """
    if "=" not in text:
        return real_number("floor", text)
    pairs = (part.rpartition("=") for part in text.split(";") if part.strip())
    return {arm.strip(): real_number("floor", share) for arm, _, share in pairs}


def floor_typed(floor: float | dict[str, float]) -> str:
    """Return a floor as one would type it.

    >>> floor_typed({"red": 0.2, "blue": 0.1}), floor_typed(0.1)
    ('red = 0.2; blue = 0.1', '0.1')
    """
    return "; ".join(f"{arm} = {share:g}" for arm, share in floor.items()) if isinstance(floor, dict) else f"{floor:g}"
