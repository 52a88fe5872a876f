"""Late rewards: what a missing reward means once the window of its trial has closed.

A trial's window closes ``window`` seconds after its ask. What a missing reward means then is stated when the study is
created, and depends on why rewards are missing:

    late="abandon"  The reward was lost, whatever it was. The trial is abandoned, and other rewards count as they come.
    late=0          Nothing is reported unless something happens, such as a purchase: silence means 0. Here a reward
                    counts when the window of its trial closes, not before. Otherwise the purchases of the last day
                    would count without the failures of the same day, and every mean would be too large.

In the second case, rewards count in the order of the asks, whatever they are and however long each took. So the rewards
of an arm are independent draws of one distribution, that of "reward within the window", as intervals assume.

Time decides only by events: before a study is changed, events close the windows that are over by the clock of that
process, the oldest trial first. So all processes, and a replay, agree on what was known when.
"""

import re
import time
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.validation import finite_number, positive_number

ABANDON_LATE: Final = "abandon"
LATE_WORDS: Final = "'abandon', or the reward that a missing answer means, such as 0"
_UNITS: Final = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST: Final = 1e9  # seconds, some thirty years

clock: Callable[[], float] = time.time
"""Seconds since 1970; tests replace it, to wait for nothing."""


class Lateness(NamedTuple):
    """The window in seconds, and the reward that counts if none comes within it; None if the trial does not count."""

    window: float
    late: float | None

    @property
    def holds(self) -> bool:
        """Whether rewards count when their windows close, not when they are reported."""
        return self.late is not None

    @property
    def as_given(self) -> float | Literal["abandon"]:
        """The argument ``late``."""
        return "abandon" if self.late is None else self.late


def seconds(window: object, field: str = "window") -> float:
    """Return the length of a window, given as a text or in seconds.

    >>> seconds("24h"), seconds("1.5min"), seconds(30)
    (86400.0, 90.0, 30.0)
    >>> seconds("1 month")
    Traceback (most recent call last):
    dirichlet_bandits.errors.ArgumentError: 'window' must be seconds, or a text such as '24h', '30min', '7d' or '45s' \
(got '1 month')
    """
    expected = "seconds, or a text such as '24h', '30min', '7d' or '45s'"
    if isinstance(window, str):
        found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?)\s?(s|min|h|d)", window)
        if found is None:
            raise ArgumentError(field, expected, window)
        length = float(found[1]) * _UNITS[found[2]]
    else:
        length = positive_number(field, window)
    if not 0.0 < length <= _LONGEST:
        raise ArgumentError(field, f"longer than 0 and no longer than {_LONGEST:g} seconds", window)
    return length


def shown(window: float) -> str:
    """Return a window as people read it.

    >>> shown(86400.0), shown(5400.0), shown(0.5)
    ('1d', '90min', '0.5s')
    """
    unit = next((unit for unit in ("d", "h", "min") if window % _UNITS[unit] == 0.0), "s")
    return f"{window / _UNITS[unit]:.12g}{unit}"


def checked_late(field: str, late: object) -> float | str:
    """Check what a missing reward means: a reward, or that the trial is abandoned."""
    if isinstance(late, bool) or (isinstance(late, str) and late != ABANDON_LATE):
        raise ArgumentError(field, LATE_WORDS, late)
    return ABANDON_LATE if isinstance(late, str) else finite_number(field, late)


def check_both(window: object, late: object) -> None:
    """Refuse a window without what it means, and the other way around."""
    if window is None and late is not None:
        raise ArgumentError("window", "given together with late, such as '24h'", window)
    if window is not None and late is None:
        raise ArgumentError("late", LATE_WORDS, late)
