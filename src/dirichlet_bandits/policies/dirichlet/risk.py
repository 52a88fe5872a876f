"""Dirichlet Sampling for CVaR, without a bound on the rewards: ``RDS(level=...)``. Experimental; no theorem covers it.

A challenger with rewards X_1 <= ... <= X_n faces the leader's CVaR m. It wins at once if its own CVaR reaches m.
Otherwise, it wins if its index does: the CVaR of its rewards and of the bonus of RDS,

    bonus = m + rho_n * mean_i (m - X_i)^+,

with weights w ~ Dirichlet(1, ..., 1). This index has the distribution of the mean of the k + 1 smallest of the n + 1
values, with independent weights and k ~ Binomial(n, level) (``numerics/cvar_crossing.py``). So a duel costs about level
* n exponentials, and the probability of winning is exact. Unlike a bound, the bonus may lie among the rewards; it then
takes its place in their order.
"""

import math
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.history import History, keeps_cvars, rewards
from dirichlet_bandits.engine.verbs import duel, implements, select
from dirichlet_bandits.numerics.cvar_crossing import log_cvar_crossing
from dirichlet_bandits.policies.dirichlet.rule import RiskRDSParams, bonus_of
from dirichlet_bandits.policies.rounds import duel_round, incremental_win_probability, win_probability
from dirichlet_bandits.types import Floats


@implements(duel, RiskRDSParams)
def reweighted_cvar_duel(
    policy: RiskRDSParams, state: History, challenger: int, leader: int, rng: np.random.Generator
) -> bool:
    """Whether the challenger's CVaR, or else its index, reaches the leader's CVaR."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return True
    x = rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    total, i = 0.0, 0
    for _ in range(rng.binomial(x.size, policy.level) + 1):
        if i == x.size or b < x[i]:  # the bonus has its turn, once
            value, b = b, math.inf
        else:
            value = x[i]
            i += 1
        total += (value - m) * rng.standard_exponential()
    return total >= 0.0


@jit
def offsets_with_bonus(x: Floats, b: float, m: float) -> Floats:
    """Return the offsets from m of the ordered rewards, with the bonus in its place."""
    offsets = np.empty(x.size + 1)
    i = x.size
    while i > 0 and x[i - 1] > b:
        offsets[i] = x[i - 1] - m
        i -= 1
    offsets[i] = b - m
    for j in range(i):
        offsets[j] = x[j] - m
    return offsets


@implements(win_probability, RiskRDSParams)
def cvar_crossing_win(policy: RiskRDSParams, state: History, challenger: int, leader: int) -> float:
    """Return 1 if the challenger's CVaR reaches the leader's, else the probability that its index does."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return 1.0
    x = rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    return math.exp(log_cvar_crossing(offsets_with_bonus(x, b, m), policy.level))


@implements(incremental_win_probability, RiskRDSParams)
def cvar_crossing_win_anew(policy: RiskRDSParams, state: History, challenger: int, leader: int, memory: Any) -> float:
    """Return the probability of winning, computed from scratch because nothing is stored."""
    return cvar_crossing_win(policy, state, challenger, leader)


keeps_cvars(RiskRDSParams)
implements(select, RiskRDSParams)(duel_round)
