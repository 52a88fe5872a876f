"""Waiting for the challengers of a clear leader, which is pulled repeatedly until one clock rings."""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, shared
from dirichlet_bandits.engine.borrowed import borrowed
from dirichlet_bandits.engine.clocks import geometric, ringing_arm
from dirichlet_bandits.engine.history import History, rewards
from dirichlet_bandits.engine.repeated_pulls import pull_into_place, pull_while
from dirichlet_bandits.engine.run import Run, ended, upcoming
from dirichlet_bandits.numerics.arrays import sum_of
from dirichlet_bandits.numerics.costs import LEADER_FALL, LEADER_RISE, RINGS_MOST
from dirichlet_bandits.numerics.resampling import squares_about, weighted_sum
from dirichlet_bandits.policies.npts.challengers import Challengers, index_below, is_largest
from dirichlet_bandits.types import Floats

_WIDER, _MORE = 1.05, 1.25  # by what factors the variance and the number of the leader's rewards may grow


class Certificate(NamedTuple):
    """A bound ``rate`` on the probability that the leader's index is below the foot.

    It holds while the leader has at least as many rewards as now, none below ``low``, with at least this mean and at
    most this variance.

    With more than ``most`` rewards, or a mean above ``high``, the bound still holds, but a new foot is better.
    """

    rate: float
    most: int
    mean: float
    high: float
    variance: float
    low: float


@jit
def squares_of(known: Any, n: int, mean: float, upper: float) -> float:
    """Return the sum of an arm's squared distances from the mean of its rewards, from its power sums."""
    a, d = upper - known.origin, mean - known.origin
    return known.p2 - a * a - 2.0 * d * (known.p1 - a) + n * d * d


@jit
def certify(n: int, mean: float, squares: float, low: float, upper: float, foot: float) -> Certificate:
    """Bound the probability that the index of a leader with these rewards is below the foot, with some room.

    Bernstein's inequality states that for n rewards, none below l, with mean m and variance s, whatever bound NPTS
    adds,

        P(index < m - z) <= exp(-n z^2 / (2 (s + (m - l) z))),

    which, for a given m - z, is smaller if n or m is larger or s is smaller. It is Chernoff's product of
    1/(1 - lam a_i), a_i = m - z - x_i, with -log(1 - y) <= y + y^2/(2 (1 - Y)) for y <= Y and the best lam.
    """
    variance = max(_WIDER * squares / n, (upper - low) ** 2 / (n * n))
    deviation = math.sqrt(variance / n)
    least = mean - LEADER_FALL * deviation
    z = least - foot
    rate = math.exp(-0.5 * n * z * z / (variance + (least - low) * z)) if z > 0.0 else 1.0
    return Certificate(rate, int(_MORE * n), least, mean + LEADER_RISE * deviation, variance, low)


@jit
def holds(certificate: Certificate, n: int, mean: float, low: float, squares: float) -> bool:
    """Whether the certificate is valid for the leader's present rewards."""
    return (
        certificate.mean <= mean <= certificate.high
        and n <= certificate.most
        and squares <= certificate.variance * n
        and low >= certificate.low
    )


@jit
def pulls_below(certificate: Certificate, block: Floats, n: int, squares: float, centre: float) -> tuple[int, float]:
    """Return the number of rewards up to the one that ends the certificate, and the sum of squares after it.

    The number of rewards, their variance or a new low may end the certificate.
    """
    for i in range(block.size):
        squares += (block[i] - centre) ** 2
        if n + i >= certificate.most or squares > certificate.variance * (n + i + 1) or block[i] < certificate.low:
            return i + 1, squares
    return block.size, squares


@shared
def far_index(state: History, challengers: Challengers, leader: int, rng: np.random.Generator) -> tuple[int, float]:
    """Draw the indices of all arms but the leader; return the arm with the largest one, and that index."""
    best, largest = leader, -math.inf
    for arm in range(state.pulls.size):
        if arm != leader:
            x = rewards(state, arm)
            total, weight = weighted_sum(challengers.groups, arm, x, state.means[arm], challengers.upper, rng)
            if challengers.upper + total / weight > largest:
                best, largest = arm, challengers.upper + total / weight
    return best, largest


@shared
def winner(state: History, challengers: Challengers, leader: int, foot: float, rng: np.random.Generator) -> int:
    """Return the arm that is pulled when the clock rings (step 1); the leader's index is its quantile at u."""
    rate = challengers.arms[leader].rate
    arm = ringing_arm(challengers.arms.rate, sum_of(challengers.arms.rate), rng)
    if arm == leader:
        u = rng.random() * rate
        if not index_below(state, challengers, leader, foot, u):
            return leader
        arm, v = far_index(state, challengers, leader, rng)
        return arm if v >= foot or index_below(state, challengers, leader, v, u) else leader
    u, v = rng.random(), foot + rng.standard_exponential() / challengers.arms[arm].fall
    if not (v < challengers.upper and index_below(state, challengers, leader, v, u)):
        return leader
    if u < rate and index_below(state, challengers, leader, foot, u):
        return leader
    return arm if is_largest(state, challengers, arm, v, rng) else leader


@shared
def wait_by_clock(
    state: History, run: Run, challengers: Challengers, leader: int, foot: float, rng: np.random.Generator
) -> bool:
    """Pull the leader until another arm is pulled, the certificate ends, or there is no room for rewards.

    Return False if the clock would ring too often to wait.
    """
    state, run, challengers, rng = borrowed(state), borrowed(run), borrowed(challengers), borrowed(rng)
    pulls, means, lows = state.pulls, state.means, state.lows
    n, centre, arms = pulls[leader], means[leader], challengers.arms
    squares = squares_of(arms[leader], n, centre, challengers.upper)
    certificate = certify(n, centre, squares, lows[leader], challengers.upper, foot)
    arms[leader].rate = certificate.rate
    total, quiet = sum_of(arms.rate), -1  # the clock is not set
    if not total <= RINGS_MOST:
        return False
    while not ended(run.progress) and pulls[leader] < state.room[leader]:
        n = pulls[leader]
        if not holds(certificate, n, means[leader], lows[leader], squares):  # step 3
            break
        if quiet < 0:
            quiet = geometric(total, rng) - 1  # step 2
        if quiet > 0:
            block = upcoming(run, leader)[: min(quiet, state.room[leader] - n)]
            calm, after = pulls_below(certificate, block, n, squares, centre)
            done = pull_while(run, state, leader, certificate.mean, certificate.high, calm)
            squares = after if done == calm else squares + squares_about(rewards(state, leader)[n:], centre)
            quiet -= done
            continue
        arm, quiet = winner(state, challengers, leader, foot, rng), -1  # step 4
        if not pull_into_place(state, run, arm) or arm != leader:
            break
        squares += (rewards(state, leader)[n] - centre) ** 2
    return True
