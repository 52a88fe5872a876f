"""Conformance checks of your own policies, distributions and environments, and a clock for studies.

The clock lets studies play days in seconds.
"""

from collections.abc import Callable

from dirichlet_bandits.live import lateness
from dirichlet_bandits.testing.environment import check_environment, check_law
from dirichlet_bandits.testing.policy import Report, check_policy

__all__ = ["Report", "check_environment", "check_law", "check_policy", "set_clock"]


def set_clock(clock: Callable[[], float]) -> None:
    """Let all studies of this process read the time from a function, in seconds since 1970; ``time.time`` resets it."""
    lateness.clock = clock
