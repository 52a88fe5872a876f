"""Durations as text."""

import math


def duration(seconds: float) -> str:
    """Return a duration as text.

    >>> duration(0.3), duration(75), duration(4000)
    ('0.3 s', '1 min 15 s', '1 h 7 min')
    """
    if math.isnan(seconds):
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {round(minutes % 60 + rest / 60)} min"
