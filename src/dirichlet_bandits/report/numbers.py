"""Format numbers as text: few digits, separated thousands."""

import math

_MINUS = "\N{MINUS SIGN}"
_GAP = "\N{NARROW NO-BREAK SPACE}"


def short(x: float) -> str:
    """Format a number with three significant digits, or all digits of a large number.

    >>> short(0.012345), short(-12.345).replace(_MINUS, "-"), short(float("nan")), short(1234567).replace(_GAP, " ")
    ('0.0123', '-12.3', '', '1 234 567')
    """
    if math.isnan(x):
        return ""
    if math.isinf(x):
        return "∞" if x > 0 else f"{_MINUS}∞"
    if x == 0:
        return "0"
    text = f"{x:,.0f}".replace(",", _GAP) if abs(x) >= 1000 else f"{x:#.3g}".rstrip(".")
    return text.replace("-", _MINUS)
