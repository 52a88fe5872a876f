"""Clocks: rare events of bounded probability, waited for instead of tried again and again.

Let an event have probability at most ``exp(ceiling)`` in each round, whatever happens while a certificate holds.
The next round in which it *could* happen is then a geometric clock. When the clock rings, the event does happen
with probability ``p / exp(ceiling)``; if not, the clock is drawn again: a geometric law has no memory, so a clock
may also be thrown away and drawn again at any time without looking at it.

The certificate of an arm is an interval [low, high] of the leader's mean. Arms without one are tried in every
round. Rings and ends of intervals stand in queues, so that nobody walks past all arms to find the next event.

Not looking at it is essential: a certificate that is given up more readily when its clock is about to ring loses rings,
and its arm wins too seldom. Here it ends in three ways, none of which knows the clock. The leader's mean leaves the
interval: asked before every round, ring or no ring. The arm is pulled, or becomes the leader: by then its trial of this
round is over, and all that are due are tried before anybody is pulled. A ring that comes to nothing tells how wide the
*next* interval should be; the clock that goes on is wound with the ceiling that stands.
"""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.tournament import NEVER, change, first, new_bounds, new_queue, smallest, up_to, value_of
from dirichlet_bandits.types import Floats, Ints

_ALWAYS = -1  # before every round


class Clocks(NamedTuple):
    """Queues of the rounds in which clocks ring, of the upper ends of the intervals and of the lower ones, negated;
    and each arm's ceiling, a log-probability (NaN without a certificate)."""

    ring: Ints
    high: Floats
    negated_low: Floats
    ceiling: Floats


@shared
def new_clocks(n_arms: int) -> Clocks:
    """No certificates yet: everybody is tried in every round."""
    clocks = Clocks(new_queue(n_arms), new_bounds(n_arms), new_bounds(n_arms), np.empty(n_arms))
    for arm in range(n_arms):
        void(clocks, arm)
    return clocks


@jit
def void(clocks: Clocks, arm: int) -> None:
    """Take the certificate away."""
    _set(clocks, arm, -np.inf, np.inf, np.nan, _ALWAYS)


@jit
def silence(clocks: Clocks, arm: int) -> None:
    """Not a challenger for the time being."""
    _set(clocks, arm, -np.inf, np.inf, np.nan, NEVER)


@jit
def certify(
    clocks: Clocks, arm: int, low: float, high: float, ceiling: float, now: int, rng: np.random.Generator
) -> None:
    """Give a certificate, and draw the first ring, in the round ``now`` or later."""
    _set(clocks, arm, low, high, ceiling, now - 1 + geometric(math.exp(ceiling), rng))


@jit
def wind(clocks: Clocks, arm: int, now: int, rng: np.random.Generator) -> None:
    """Draw the next ring, after the round ``now``."""
    change(clocks.ring, arm, now + geometric(math.exp(clocks.ceiling[arm]), rng))


@jit
def _set(clocks: Clocks, arm: int, low: float, high: float, ceiling: float, ring: int) -> None:
    change(clocks.high, arm, high)
    change(clocks.negated_low, arm, -low)
    change(clocks.ring, arm, ring)
    clocks.ceiling[arm] = ceiling


@jit
def certified(clocks: Clocks, arm: int) -> bool:
    """Whether the arm has a certificate."""
    return not math.isnan(clocks.ceiling[arm])


@jit
def interval(clocks: Clocks, arm: int) -> tuple[float, float]:
    """The interval of the arm's certificate."""
    return -value_of(clocks.negated_low, arm), value_of(clocks.high, arm)


@jit
def common_interval(clocks: Clocks) -> tuple[float, float]:
    """Where all certificates hold."""
    return -smallest(clocks.negated_low), smallest(clocks.high)


@jit
def outside(clocks: Clocks, m: float) -> int:
    """An arm whose certificate does not hold at m; -1 if there is none."""
    if smallest(clocks.high) < m:
        return first(clocks.high)
    return first(clocks.negated_low) if smallest(clocks.negated_low) < -m else -1


@jit
def due(clocks: Clocks, now: int, arms: Ints) -> int:
    """Write down the arms to be tried in the round ``now``; how many."""
    return up_to(clocks.ring, now, arms)


@jit
def next_ring(clocks: Clocks) -> int:
    """The next round in which some arm is to be tried."""
    return smallest(clocks.ring)


@jit
def geometric(p: float, rng: np.random.Generator) -> int:
    """Trials up to the first success of probability p.

    >>> geometric(1.0, np.random.default_rng(0))
    1
    """
    if p >= 1.0:
        return 1
    wait = math.log(1.0 - rng.random()) / math.log1p(-p) if p > 0.0 else math.inf
    return 1 + int(wait) if wait < NEVER else NEVER


@jit
def ringing_arm(rates: Floats, total: float, rng: np.random.Generator) -> int:
    """The arm for which one clock for all of them rings, in proportion to their rates; the leader's is 0."""
    u = rng.random() * total
    arm = 0
    for k in range(rates.size):
        if rates[k] > 0.0:
            arm = k
            if u < rates[k]:
                break
            u -= rates[k]
    return arm
