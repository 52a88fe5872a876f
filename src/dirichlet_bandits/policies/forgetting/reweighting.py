"""NPTS and RDS with discounted rewards: Dirichlet parameters gamma^(t - s) in place of 1 (experimental)."""

import math
from typing import Any, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.tally import unpulled
from dirichlet_bandits.engine.verbs import implements, select
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.policies.forgetting.ring import Ring, decisions_made
from dirichlet_bandits.policies.forgetting.rule import (
    DiscountedNPTSParams,
    DiscountedRDSParams,
    Weighted,
    discounted_state,
)
from dirichlet_bandits.policies.growth import slow_growth
from dirichlet_bandits.policies.index import larger
from dirichlet_bandits.policies.rounds import complete_round, leader_of
from dirichlet_bandits.types import Floats, Ints


class DiscountedRewards(NamedTuple):
    """The rewards of all arms, newest first, and their weights.

    Those of arm k are from ``first[k]`` to ``first[k + 1]``.
    """

    values: Floats
    weights: Floats
    first: Ints


@jit
def discounted_samples(gamma: float, state: Ring) -> DiscountedRewards:
    """Return the rewards that still have a weight, by arm."""
    n_arms = state.pulls.size
    first = np.zeros(n_arms + 1, np.int64)
    for arm in range(n_arms):
        first[arm + 1] = first[arm] + state.pulls[arm]
    values, weights, used = np.empty(first[n_arms]), np.empty(first[n_arms]), first.copy()
    size, now, weight = state.arms.size, decisions_made(state), 1.0
    place = (now - 1) % size  # of the newest decision
    for _ in range(min(now, size)):
        arm = state.arms[place]
        if arm >= 0:
            values[used[arm]], weights[used[arm]] = state.rewards[place], weight
            used[arm] += 1
        weight *= gamma
        place = place - 1 if place > 0 else size - 1
    return DiscountedRewards(values, weights, first)


@jit
def log_gamma_draw(weight: float, rng: np.random.Generator) -> float:
    """Return the logarithm of a gamma variable, which itself would often underflow if the weight is small.

    A variable of shape w is one of shape w + 1 times U^(1/w), where U is uniform.
    """
    if weight >= 1.0:
        return math.log(rng.standard_gamma(weight))
    return math.log(rng.standard_gamma(weight + 1.0)) - rng.standard_exponential() / weight


@jit
def minus_log_shortfall(values: Floats, weights: Floats, upper: float, rng: np.random.Generator) -> float:
    """Return -log(upper - index) for a newly drawn index.

    It is larger if the index is, and infinite if all values equal ``upper``.
    """
    total, top, scaled = rng.standard_exponential(), -math.inf, 0.0
    for i in range(values.size):
        log = log_gamma_draw(weights[i], rng)
        total += math.exp(log)
        if values[i] < upper:
            log += math.log(upper - values[i])
            if log > top:
                scaled = scaled * math.exp(top - log) + 1.0
                top = log
            else:
                scaled += math.exp(log - top)
    return math.log(total) - top - math.log(scaled) if scaled > 0.0 else math.inf


@implements(select, DiscountedNPTSParams)
def select_resampled(policy: DiscountedNPTSParams, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a weighted reward; if there are none, the arm with the largest index."""
    arms = unpulled(state.pulls, rng)
    if arms.size == 0:
        values, weights, first = discounted_samples(policy.gamma, state)
        best, largest, ties = 0, -math.inf, 0
        for arm in range(state.pulls.size):
            own = slice(first[arm], first[arm + 1])
            value = minus_log_shortfall(values[own], weights[own], policy.inner.upper, rng)
            best, largest, ties = larger(best, largest, ties, arm, value, rng)
        arms = np.full(1, best)
    return arms


@jit
def discounted_bonus(policy: DiscountedRDSParams, values: Floats, weights: Floats, n: float, m: float) -> float:
    """Return the bonus of RDS: m + rho_n times the mean of (m - X)^+, where n and the mean are discounted."""
    shortfall = 0.0
    for i in range(values.size):
        shortfall += weights[i] * max(m - values[i], 0.0)
    return m + slow_growth(policy.inner.growth, 1.0 + n) * shortfall / n


@jit
def reweighted_duel(
    policy: DiscountedRDSParams,
    values: Floats,
    weights: Floats,
    judged: Weighted,
    challenger: int,
    leader: int,
    rng: np.random.Generator,
) -> bool:
    """Whether the challenger's mean, or else its index, reaches the leader's mean."""
    m = judged.means[leader]
    if judged.means[challenger] >= m:
        return True
    total = (discounted_bonus(policy, values, weights, judged.pulls[challenger], m) - m) * rng.standard_exponential()
    for i in range(values.size):
        total += (values[i] - m) * rng.standard_gamma(weights[i])
    return total >= 0.0


@implements(select, DiscountedRDSParams)
def select_by_duels(policy: DiscountedRDSParams, state: Ring, rng: np.random.Generator) -> Ints:
    """Return all arms without a weighted reward; if there are none, the winners of the duels, or the leader."""
    arms = unpulled(state.pulls, rng)
    if arms.size > 0:
        return arms
    judged, (values, weights, first) = discounted_state(policy, state), discounted_samples(policy.gamma, state)
    leader = leader_of(judged.pulls, judged.means, rng)
    winners, n = np.empty(state.pulls.size, np.int64), 0
    for arm in range(state.pulls.size):
        own = slice(first[arm], first[arm + 1])
        if judged.pulls[arm] < judged.pulls[leader] and reweighted_duel(
            policy, values[own], weights[own], judged, arm, leader, rng
        ):
            winners[n] = arm
            n += 1
    return winners[: complete_round(winners, n, leader, rng)]


def samples_of(policy: Any, state: Any) -> Any:
    """Return the rewards that still have a weight, by arm; an entry point."""
    return discounted_samples(policy.gamma, state)


def duel_chances(policy: Any, state: Any, judged: Any, leader: int) -> Floats:
    """Return each arm's probability of winning against this leader, 0 for those that do not duel; an entry point."""
    values, weights, first = discounted_samples(policy.gamma, state)
    chances, m = np.zeros(state.pulls.size), judged.means[leader]
    for arm in range(chances.size):
        if judged.pulls[arm] >= judged.pulls[leader]:
            continue
        if judged.means[arm] >= m:
            chances[arm] = 1.0
            continue
        own = slice(first[arm], first[arm + 1])
        n = values[own].size
        offsets, masses = np.empty(n + 1), np.empty(n + 1)
        for i in range(n):
            offsets[i], masses[i] = values[first[arm] + i] - m, weights[first[arm] + i]
        offsets[n] = discounted_bonus(policy, values[own], weights[own], judged.pulls[arm], m) - m
        masses[n] = 1.0
        chances[arm] = math.exp(log_crossing(offsets, masses))
    return chances
