"""Clocks: instead of trying a rare event in every round, draw the round in which it could happen next.

Let an event have probability at most ``exp(ceiling)`` in each round, whatever happens while a certificate holds.

1. The number of rounds until the event *could* happen is then geometric: a clock that rings in that round.
2. When the clock rings, the event happens with probability ``p / exp(ceiling)``; if it does not, the clock is drawn
   again.
3. A geometric distribution has no memory, so a clock may also be discarded and drawn again at any time, if the decision
   to discard it does not depend on when it would have rung.

Step 3 needs care. If a certificate is more likely to be discarded when its clock is about to ring, rings are lost, and
its arm wins too rarely. Here the certificate of an arm is an interval [low, high] of the leader's mean, and it ends in
one of three ways, none of which depends on a ring to come. The leader's mean leaves the interval, which is checked
before every round, with or without a ring. The arm is pulled, or it becomes the leader; by then its trial of this round
is over, because all arms that are due are tried before any arm is pulled.

Arms without a certificate are tried in every round.
"""

import math
from typing import Final, NamedTuple, cast

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.verbs import NEVER as NEVER
from dirichlet_bandits.types import Floats, Ints

_ALWAYS: Final = cast(int, np.int64(-1))  # before every round


class Clocks(NamedTuple):
    """For each arm, the round in which its clock rings, the interval of its certificate, and the ceiling.

    The ceiling is a log-probability, NaN without a certificate.
    """

    ring: Ints
    low: Floats
    high: Floats
    ceiling: Floats


@shared
def new_clocks(n_arms: int) -> Clocks:
    """Return clocks of arms without certificates."""
    clocks = Clocks(np.empty(n_arms, np.int64), np.empty(n_arms), np.empty(n_arms), np.empty(n_arms))
    for arm in range(n_arms):
        void(clocks, arm)
    return clocks


@jit
def void(clocks: Clocks, arm: int) -> None:
    """Remove the certificate of an arm, so that it is tried in every round."""
    clocks.ring[arm], clocks.low[arm], clocks.high[arm], clocks.ceiling[arm] = _ALWAYS, -np.inf, np.inf, np.nan


@jit
def silence(clocks: Clocks, arm: int) -> None:
    """Do not try an arm until its clock is changed."""
    void(clocks, arm)
    clocks.ring[arm] = NEVER


@jit
def wind(clocks: Clocks, arm: int, now: int, rng: np.random.Generator) -> None:
    """Draw the next ring of an arm with a certificate, after the round ``now``."""
    clocks.ring[arm] = now + geometric(math.exp(clocks.ceiling[arm]), rng)


@jit
def certified(clocks: Clocks, arm: int) -> bool:
    """Whether the arm has a certificate."""
    return not math.isnan(clocks.ceiling[arm])


@jit
def geometric(p: float, rng: np.random.Generator) -> int:
    """Draw the number of trials up to the first success, which has probability p.

    >>> geometric(1.0, np.random.default_rng(0))
    1
    """
    if p >= 1.0:
        return 1
    wait = math.log(1.0 - rng.random()) / math.log1p(-p) if p > 0.0 else math.inf
    return 1 + int(wait) if wait < NEVER else NEVER


@jit
def ringing_arm(rates: Floats, total: float, rng: np.random.Generator) -> int:
    """Draw the arm for which a common clock rings, in proportion to the rates; the leader's rate is 0."""
    u = rng.random() * total
    arm = 0
    for k in range(rates.size):
        if rates[k] > 0.0:
            arm = k
            if u < rates[k]:
                break
            u -= rates[k]
    return arm
