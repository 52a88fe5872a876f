"""MED by one clock: while the leader is pulled, the weights of the other arms are not computed.

MED pulls the leader most of the time, so it is wasteful to compute every arm's weight at each step. Instead, replace
each weight by a ceiling that stays valid for a while. With fixed ceilings, the number of steps until another arm is
proposed is a geometric variable, so it can be drawn in advance. The leader is pulled until that step; then the proposed
arm is pulled with probability weight / ceiling. For example, with two other arms and ceilings of 0.01 each, the leader
is pulled about 50 times between two proposals, and no weight is computed in between. The following argument shows that
every decision keeps the distribution of MED.

A step of MED is drawn by rejection. Let r_k >= w_k = exp(-N_k D_k(m)) for every arm k but the leader, whose weight is
1. Propose the leader with probability 1/(1 + r), where r = sum r_k, and arm k with probability r_k/(1 + r). The leader
is pulled if it is proposed. Arm k is pulled with probability w_k/r_k; otherwise, there is another proposal in the same
step. Whatever the r_k are, the arm pulled is k with probability proportional to w_k, as in MED. The sum of the true
weights is not needed.

* The ceilings. The tangent of D_k at the last evaluation lies below it (``policies/tangents.py``) and rises with the
  leader's mean m, so r_k = exp(-N_k tangent(low)) is a ceiling for all m >= low until arm k is pulled.
* The clock. As long as the r_k stay the same, proposals are coins with the same probability r/(1 + r), independent of
  each other and of all rewards, and a tail is a pull of the leader. Drawing the number of the first head tosses these
  coins in advance.
* The end. Before every pull, whether the clock rings or not, we check that m lies in [low, high], which depends on the
  leader's rewards only. If it does not, the remaining coins are discarded unseen.
* A ring. The coin is used up. The arm's tangent is computed again, and the next proposal, in the same step if the arm
  was not pulled, uses other ceilings. As shown above, it does not matter how they were found.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit, jit_inline
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.clocks import NEVER, ringing_arm
from dirichlet_bandits.engine.repeated_pulls import pull_while, with_room
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import implements, shortcut, verb
from dirichlet_bandits.numerics.arrays import argmax_of
from dirichlet_bandits.numerics.costs import CERTIFICATE_WORN, FEWEST_REPEATED, RINGS_IN_VAIN, RINGS_SPARED
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies.med.rule import EmpiricalMEDParams, MEDParams
from dirichlet_bandits.policies.min_divergence import coordinate, mean_at
from dirichlet_bandits.policies.tangents import (
    Tangents,
    adjust_tangent,
    keep_multipliers,
    new_tangents,
    recompute_tangents,
    set_tangent,
)
from dirichlet_bandits.types import Floats, Records

recompute_tangents(MEDParams)
keep_multipliers(EmpiricalMEDParams)


@verb
def fewest_repeated(policy: Any) -> Any:
    """Return the smallest number of pulls of the leader that is worth making at once."""


@implements(fewest_repeated, MEDParams)
def some_pulls(policy: MEDParams) -> int:
    """Return the smallest number for a policy that only counts rewards."""
    return FEWEST_REPEATED


@implements(fewest_repeated, EmpiricalMEDParams)
def any_pulls(policy: EmpiricalMEDParams) -> int:
    """Return 1 for a policy that stores rewards."""
    return 1


@jit
def log_ceiling(tangents: Tangents, arm: int, n: int, c: float) -> float:
    """Return an upper bound of the logarithm of the arm's weight from coordinate c on, 0 if no better one is known."""
    slope = tangents.slope[arm]
    bound = n * (tangents.value[arm] + (slope * (c - tangents.at[arm]) if c != tangents.at[arm] else 0.0))
    if not bound > 0.0:
        return 0.0
    return min(INDEX_SLACK * (1.0 + bound) - bound, 0.0) if bound < math.inf else -math.inf


@jit
def certify(
    policy: Any, state: Any, tangents: Tangents, expansions: Records, leader: int, ceilings: Floats
) -> tuple[float, float]:
    """Set ceilings for all weights, and return the interval of the leader's mean in which they hold.

    The interval is as wide as possible, provided that lowering the mean to its lower end adds at most a given share to
    each ceiling, plus a small number of rings per pull.
    """
    pulls, means, m = state.pulls, state.means, state.means[leader]
    c, second, width = coordinate(policy, m), -math.inf, math.inf
    spared = RINGS_SPARED / pulls.size
    for arm in range(pulls.size):
        if arm != leader:
            slope = tangents.slope[arm]
            if math.isnan(slope) or (slope == math.inf and tangents.at[arm] != c):  # a vertical one is no bound here
                set_tangent(policy, state, tangents, expansions, arm, m)
            second = max(second, means[arm])
            slope = pulls[arm] * tangents.slope[arm]
            if slope > 0.0:
                room = math.log(1.0 + RINGS_IN_VAIN + spared * math.exp(-log_ceiling(tangents, arm, pulls[arm], c)))
                width = min(width, room / slope) if slope < math.inf else 0.0
    low = min(max(mean_at(policy, c - width), second), m)
    high = max(mean_at(policy, c + width), m)
    least = coordinate(policy, low)
    for arm in range(pulls.size):
        ceilings[arm] = 0.0 if arm == leader else math.exp(log_ceiling(tangents, arm, pulls[arm], least))
    return low, high


@jit
def leaders_before(total: float, rng: np.random.Generator) -> int:
    """Return how often the leader is proposed before another arm: tails before the first head at these odds."""
    wait = -math.log(1.0 - rng.random()) / math.log1p(total)
    return int(wait) if wait < NEVER else NEVER  # also if no other arm can be proposed


@shortcut(MEDParams, EmpiricalMEDParams)
def play_med(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Play until the run is over."""
    n_arms = state.pulls.size
    wait_by_clock(policy, state, run, new_tangents(n_arms), make_expansions(n_arms), np.zeros(n_arms), rng)


@jit_inline
def wait_by_clock(
    policy: Any,
    state: Any,
    run: Run,
    tangents: Tangents,
    expansions: Records,
    ceilings: Floats,
    rng: np.random.Generator,
) -> None:
    """Pull the leader until the clock rings, then the arm that is proposed and accepted."""
    pulls, means, n_arms = state.pulls, state.means, state.pulls.size
    while not ended(run.progress):
        leader = argmax_of(means)
        low, high = certify(policy, state, tangents, expansions, leader, ceilings)
        least = coordinate(policy, low)
        tangents.slope[leader] = math.nan
        good = True
        while good:
            total = 0.0
            for arm in range(n_arms):
                total += ceilings[arm]
            quiet = leaders_before(total, rng)
            while quiet >= fewest_repeated(policy) and low <= means[leader] <= high and not ended(run.progress):
                state = with_room(state, leader)
                quiet -= pull_while(run, state, leader, low, high, quiet)
            while quiet > 0 and low <= means[leader] <= high and not ended(run.progress):
                reward = pull(run, leader)
                state = verbs.update(policy, state, leader, reward, rng)
                quiet -= 1
            if ended(run.progress) or quiet > 0 or not low <= means[leader] <= high:
                break
            arm = ringing_arm(ceilings, total, rng)
            value = set_tangent(policy, state, tangents, expansions, arm, means[leader])
            if rng.random() * ceilings[arm] < math.exp(-pulls[arm] * value):
                reward = pull(run, arm)
                state = verbs.update(policy, state, arm, reward, rng)
                adjust_tangent(policy, state, tangents, expansions, arm, means[leader], reward)
                value = tangents.value[arm]
            log_r = log_ceiling(tangents, arm, pulls[arm], least)
            ceilings[arm] = math.exp(log_r)
            good = means[arm] <= low and log_r + pulls[arm] * value <= CERTIFICATE_WORN
