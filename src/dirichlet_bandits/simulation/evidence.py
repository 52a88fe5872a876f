"""IMED by tangents: an arm is looked at again only when it may be the one to pull.

The evidence against an arm, N_k d(mu_k, m) or N_k Kinf(F_k, m), is a convex function of the largest mean m. Its
tangent at the m of the last look lies below it, at every m and whoever leads, until the arm is pulled. While all
tangents lie above the leader's log N, the leader is pulled without asking anybody.

Kinf is convex in its target because it is the least divergence under a linear constraint, and its slope is the
optimal multiplier (Honda and Takemura, 2010).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.numerics.jit import jit
from dirichlet_bandits.numerics.tolerances import INDEX_SLACK
from dirichlet_bandits.policies import verbs
from dirichlet_bandits.policies.imed import EmpiricalIMEDParams, IMEDParams, evidence
from dirichlet_bandits.policies.tally import Floats
from dirichlet_bandits.policies.verbs import implements, play
from dirichlet_bandits.simulation.run import BLOCK, Run, over, pull
from dirichlet_bandits.simulation.stretch import stretch, with_room


class Tangents(NamedTuple):
    """For each arm where the tangent touches, its value and its slope there; NaN where none is known."""

    at: Floats
    value: Floats
    slope: Floats


@jit
def below(tangents: Tangents, arm: int, n: int, m: float) -> float:
    """A number that the arm's index N d + log N cannot be below; minus infinity if nothing is known."""
    bound = n * (tangents.value[arm] + tangents.slope[arm] * (m - tangents.at[arm])) + math.log(n)
    return -math.inf if math.isnan(bound) else bound


@jit
def look(policy: Any, state: Any, tangents: Tangents, arm: int, m: float) -> float:
    """The arm's index at m; its tangent is drawn anew."""
    n = state.pulls[arm]
    value, slope = evidence(policy, state, arm, m, tangents.slope[arm])
    tangents.at[arm], tangents.value[arm], tangents.slope[arm] = m, value, slope
    return n * value + math.log(n)


@jit
def safe_mean(tangents: Tangents, state: Any, leader: int, more: int) -> float:
    """A mean of the leader above which no other arm can be pulled for so many pulls; infinite if there is none."""
    pulls, means = state.pulls, state.means
    level = math.log(pulls[leader] + more) * (1.0 + INDEX_SLACK) + INDEX_SLACK
    safe = -math.inf
    for arm in range(pulls.size):
        if arm != leader:
            slope = tangents.slope[arm]
            if not slope > 0.0:
                return math.inf
            lift = (level - math.log(pulls[arm])) / pulls[arm] - tangents.value[arm]
            safe = max(safe, tangents.at[arm] + lift / slope, np.nextafter(means[arm], math.inf))
    return safe


@implements(play, IMEDParams, EmpiricalIMEDParams)
def play_imed(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the least index until the run is over."""
    n_arms = state.pulls.size
    tangents = Tangents(np.full(n_arms, np.nan), np.full(n_arms, np.nan), np.full(n_arms, np.nan))
    pulls, means = state.pulls, state.means
    while not over(run):
        m = means.max()
        chosen, least, ties = 0, math.inf, 0
        for arm in range(n_arms):
            slack = INDEX_SLACK * (1.0 + abs(least))
            if below(tangents, arm, pulls[arm], m) > least + slack:
                continue
            found = look(policy, state, tangents, arm, m)
            if found < least or ties == 0:
                chosen, least, ties = arm, found, 1
            elif found == least:
                ties += 1
                if rng.random() * ties < 1.0:  # each of the tied arms ends up chosen equally often
                    chosen = arm
        if means[chosen] == m:
            state = with_room(state, chosen)
            more = BLOCK
            while more > 1 and not safe_mean(tangents, state, chosen, more) <= m:
                more //= 16
            low = safe_mean(tangents, state, chosen, more) if more > 1 else m
            stretch(run, state, chosen, low, math.inf if more > 1 else m, more)
        else:
            reward = pull(run, chosen)
            if not over(run):
                state = verbs.update(policy, state, chosen, reward, rng)
        tangents.slope[chosen] = math.nan
