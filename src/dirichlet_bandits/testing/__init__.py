"""Conformance checks that users can run on their own policy, and a clock for studies that play days in seconds."""

from collections.abc import Callable

from dirichlet_bandits.live import lateness
from dirichlet_bandits.testing.policy import Report, check_policy

__all__ = ["Report", "check_policy", "set_clock"]


def set_clock(clock: Callable[[], float]) -> None:
    """Let all studies of this process read the time from a function, in seconds since 1970; ``time.time`` resets it."""
    lateness.clock = clock
