"""Clocks: rare events of bounded probability, waited for instead of tried again and again.

Let an event have probability at most ``exp(ceiling)`` in each round, whatever happens while a certificate holds.
The next round in which it *could* happen is then a geometric clock. When the clock rings, the event does happen
with probability ``p / exp(ceiling)``; if not, the clock is drawn again: a geometric law has no memory, so a clock
may also be thrown away and drawn again at any time without looking at it.

The certificate of an arm is an interval [low, high] of the leader's mean.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.policies.tally import Floats, Ints

NEVER = 2**62  # a round that no run reaches


class Clocks(NamedTuple):
    """For each arm the certificate, its ceiling (a log-probability), the round in which the clock rings."""

    low: Floats
    high: Floats
    ceiling: Floats
    ring: Ints


@jit
def new_clocks(n_arms: int) -> Clocks:
    """No certificates yet."""
    return Clocks(np.full(n_arms, np.inf), np.full(n_arms, -np.inf), np.zeros(n_arms), np.zeros(n_arms, np.int64))


@jit
def void(clocks: Clocks, arm: int) -> None:
    """Take the certificate away."""
    clocks.low[arm], clocks.high[arm] = np.inf, -np.inf


@jit
def certify(clocks: Clocks, arm: int, low: float, high: float, ceiling: float) -> None:
    """Give a certificate; the clock remains to be wound."""
    clocks.low[arm], clocks.high[arm], clocks.ceiling[arm] = low, high, ceiling


@jit
def wind(clocks: Clocks, arm: int, now: int, rng: np.random.Generator) -> None:
    """Draw the next ring, after the round ``now``."""
    clocks.ring[arm] = now + geometric(clocks.ceiling[arm], rng)


@jit
def geometric(log_p: float, rng: np.random.Generator) -> int:
    """Trials up to the first success of probability exp(log_p).

    >>> geometric(0.0, np.random.default_rng(0))
    1
    """
    if log_p >= 0.0:
        return 1
    wait = math.log(1.0 - rng.random()) / math.log1p(-math.exp(log_p)) if log_p > -700.0 else math.inf
    return 1 + int(wait) if wait < NEVER else NEVER
