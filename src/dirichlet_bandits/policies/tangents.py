"""Tangents of the minimum divergence: a lower bound of each arm's divergence that holds until the arm is pulled.

Take an arm that is not pulled for a while. Its divergence then changes only with the largest mean m, and it is a convex
function of m. So the tangent at one value of m is a line below the divergence at every other value. Comparing this line
with a threshold is enough to skip the arm, and costs one multiplication instead of an optimization. For example, d(mu,
m) = (m - mu)^2 / 2 has the tangent 0.08 + 0.4 (m - 0.6) at m = 0.6 for mu = 0.2; at m = 0.7 it gives 0.12, below the
true 0.125.

In detail, the divergence of an arm, d(mu_k, m) or Kinf(F_k, m), is a convex function of the largest mean m (of its
logarithm in the exponential family). Its tangent at the m of the last evaluation lies below it, at every m and for
every leader, until the arm is pulled.

Kinf is convex in its target because it is the least divergence under a linear constraint, and its slope is the optimal
multiplier (Honda and Takemura, 2010). d(x, y) is y - x log y + const in the Poisson family, a sum of -log y and -log(1
- y) in the Bernoulli family, and a parabola in the Gaussian family, all of them convex in y. In the exponential family,
it is x/y + log y + const, which is convex in log y only.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline
from dirichlet_bandits.engine.run import BLOCK
from dirichlet_bandits.engine.verbs import implements, verb
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.min_divergence import approx_min_divergence, coordinate, mean_at, slope_in_coordinate
from dirichlet_bandits.types import Floats, Records


class Tangents(NamedTuple):
    """The point where each arm's tangent touches, and its value and slope there; NaN where none is known.

    Points are coordinates of means, see :func:`coordinate`.
    """

    at: Floats
    value: Floats
    slope: Floats


@jit
def new_tangents(n_arms: int) -> Tangents:
    """Return tangents that are all unknown."""
    return Tangents(np.full(n_arms, np.nan), np.full(n_arms, np.nan), np.full(n_arms, np.nan))


@jit_inline
def set_tangent(policy: Any, state: Any, tangents: Tangents, expansions: Records, arm: int, m: float) -> float:
    """Return the arm's divergence at m, up to rounding, and set its tangent there."""
    value, slope = approx_min_divergence(policy, state, expansions, arm, m)
    tangents.at[arm], tangents.value[arm] = coordinate(policy, m), value
    tangents.slope[arm] = slope_in_coordinate(policy, slope, m)
    return value


@verb
def adjust_tangent(
    policy: Any, state: Any, tangents: Tangents, expansions: Records, arm: int, m: float, reward: float
) -> Any:
    """After a pull of the arm whose tangent touched at m, set another line below the divergence at little cost."""


@jit
def _set_again(
    policy: Any, state: Any, tangents: Tangents, expansions: Records, arm: int, m: float, reward: float
) -> None:
    set_tangent(policy, state, tangents, expansions, arm, m)


@jit
def _same_multiplier(
    policy: Any, state: Any, tangents: Tangents, expansions: Records, arm: int, m: float, reward: float
) -> None:
    """Update the tangent with the previous multiplier.

    n Kinf(F, q) is the largest G(z) - n log(1 - z q) over z (``numerics/kinf_series.py``), convex in q for each z.

    With the previous z, one more reward x adds log(1 - lam (x - m)) to the value at m, and nothing to the slope per
    reward.
    """
    n, slope = state.pulls[arm], tangents.slope[arm]
    value = ((n - 1) * tangents.value[arm] + math.log(1.0 - slope * (reward - m))) / n
    if value > -math.inf:
        tangents.value[arm] = value
    else:
        set_tangent(policy, state, tangents, expansions, arm, m)


def recompute_tangents(*policy_types: type) -> None:
    """Make these policies recompute the tangent after a pull, because their divergence is a formula."""
    implements(adjust_tangent, *policy_types)(_set_again)


def keep_multipliers(*policy_types: type) -> None:
    """Make these policies keep the multiplier after a pull, because a new Kinf is expensive."""
    implements(adjust_tangent, *policy_types)(_same_multiplier)


@jit
def imed_index_at(policy: Any, state: Any, tangents: Tangents, expansions: Records, arm: int, m: float) -> float:
    """Return N d + log N for the arm at m, up to rounding, and set its tangent there."""
    n = state.pulls[arm]
    return n * set_tangent(policy, state, tangents, expansions, arm, m) + math.log(n)


@jit
def index_lower_bound(tangents: Tangents, arm: int, n: int, c: float) -> float:
    """Return a lower bound of the arm's N d + log N, minus infinity if none is known."""
    bound = n * (tangents.value[arm] + tangents.slope[arm] * (c - tangents.at[arm])) + math.log(n)
    return -math.inf if math.isnan(bound) else bound


@jit
def safe_mean(policy: Any, tangents: Tangents, state: Any, leader: int, level: float) -> float:
    """Return a mean of the leader above which N d + log N exceeds a level for all other arms, or infinity."""
    pulls, means = state.pulls, state.means
    safe = -math.inf
    for arm in range(pulls.size):
        if arm != leader:
            slope = tangents.slope[arm]
            if not 0.0 < slope < math.inf:  # unknown, flat, or vertical: nothing to hold on to
                return math.inf
            lift = (level - math.log(pulls[arm])) / pulls[arm] - tangents.value[arm]
            least = mean_at(policy, tangents.at[arm] + lift / slope)
            safe = max(safe, least, np.nextafter(means[arm], math.inf))
    return safe


@jit_inline
def pulls_before_rivals(policy: Any, tangents: Tangents, state: Any, leader: int, count: int) -> tuple[int, float]:
    """Return a number of pulls and a mean of the leader that keep every other N d + log N above log(count + pulls).

    The number is at most a block of pulls; it is one, with the present mean, if nothing can be guaranteed.
    """
    more, m = BLOCK, state.means[leader]
    while more > 1:
        level = math.log(count + more) * (1.0 + INDEX_SLACK) + INDEX_SLACK
        low = safe_mean(policy, tangents, state, leader, level)
        if low <= m:
            return more, low
        more //= 16
    return 1, m
