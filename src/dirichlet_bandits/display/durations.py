"""Durations as text."""

import math


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(0.3), duration(75), duration(4000), duration(7199), duration(math.nan)
    ('0.3 s', '1 min 15 s', '1 h 7 min', '2 h 0 min', 'unknown')
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min"
