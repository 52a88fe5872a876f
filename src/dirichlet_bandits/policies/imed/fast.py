"""IMED by tangents: an arm is evaluated again only when it may be the one to pull.

The index of an arm that is not pulled changes only because the largest mean changes. Its divergence is convex in that
mean, so the tangent at the last evaluation lies below it (``policies/tangents.py``), whatever the leader earns. While
all tangents lie above the leader's log N, the leader is pulled without evaluating the other arms. Only an arm whose
tangent falls below is evaluated again. For example, a leader with 1000 pulls has the index log 1000 = 6.9; another arm
whose tangent gives 9.5 cannot be the next one.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.repeated_pulls import pull_while, with_room
from dirichlet_bandits.engine.run import Run, ended, pull
from dirichlet_bandits.engine.verbs import shortcut
from dirichlet_bandits.numerics.arrays import argmax_of
from dirichlet_bandits.numerics.compensated import raised
from dirichlet_bandits.numerics.kinf_series import make_expansions
from dirichlet_bandits.policies.imed.rule import EmpiricalIMEDParams, IMEDParams
from dirichlet_bandits.policies.min_divergence import coordinate
from dirichlet_bandits.policies.tangents import imed_index_at, index_lower_bound, new_tangents, pulls_before_rivals


@shortcut(IMEDParams, EmpiricalIMEDParams)
def play_imed(policy: Any, state: Any, run: Run, rng: np.random.Generator) -> None:
    """Pull the arm with the smallest N_k D_k + log N_k until the run is over."""
    n_arms = state.pulls.size
    tangents, expansions = new_tangents(n_arms), make_expansions(n_arms)
    pulls, means = state.pulls, state.means
    while not ended(run.progress):
        leader = argmax_of(means)
        m = means[leader]
        c = coordinate(policy, m)
        chosen, least, second = leader, math.inf, math.inf
        for i in range(n_arms):
            arm = (leader + i) % n_arms  # the leader first: its index costs nothing and spares most of the others'
            if index_lower_bound(tangents, arm, pulls[arm], c) > raised(least):
                continue
            found = imed_index_at(policy, state, tangents, expansions, arm, m)
            if found < least:
                chosen, least, second = arm, found, least
            else:
                second = min(second, found)
        if second <= raised(least):  # too close for rounding, or tied
            chosen = verbs.select(policy, state, rng)
        if means[chosen] == m:
            state = with_room(state, chosen)
            more, low = pulls_before_rivals(policy, tangents, state, chosen, pulls[chosen])
            pull_while(run, state, chosen, low, math.inf if more > 1 else m, more)
        else:
            reward = pull(run, chosen)
            if not ended(run.progress):
                state = verbs.update(policy, state, chosen, reward, rng)
        tangents.slope[chosen] = math.nan
