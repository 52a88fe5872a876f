"""Propensities of policies that forget: those of the inner policy for the rewards that are remembered."""

import math
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.argmax import RandomVariable
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.policies.forgetting.lbsda import SWLBSDA, leaders, winners_against
from dirichlet_bandits.policies.forgetting.reweighting import duel_chances, samples_of
from dirichlet_bandits.policies.forgetting.ring import Ring
from dirichlet_bandits.policies.forgetting.rule import (
    Discounted,
    DiscountedNPTSParams,
    DiscountedRDSParams,
    SlidingWindow,
    discounted_state,
    state_in_window,
)
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import propensities_of
from dirichlet_bandits.policies.resampled_index import crossing_tails
from dirichlet_bandits.policies.rounds import average_over_leaders
from dirichlet_bandits.types import Flags, Floats, Ints

_FEW: Final = 16  # with more distinct values, the distribution is smooth enough at most of them


def window_propensities(policy: SlidingWindow, state: Ring) -> Floats:
    """Return the inner policy's propensities in the window."""
    inner = specialized(_state_in_window, policy.params)(policy.params, state, np.random.default_rng(0))
    return _of_inner(policy.policy, inner)


def discounted_propensities(policy: Discounted, state: Ring) -> Floats:
    """Return the inner policy's propensities for the discounted rewards."""
    params = policy.params
    if isinstance(params, DiscountedNPTSParams):
        values, weights, first = specialized(samples_of, params)(params, state)
        parts = [slice(*ends) for ends in pairwise(first.tolist())]
        return resampled_propensities([(params.inner.upper - values[part], weights[part]) for part in parts])
    judged = specialized(_discounted_state, params)(params, state)
    if isinstance(params, DiscountedRDSParams):
        chances = specialized(duel_chances, params)
        return average_over_leaders(judged, lambda leader: chances(params, state, judged, leader))
    return _of_inner(policy.policy, judged)


def resampled_propensities(samples: list[tuple[Floats, Floats]]) -> Floats:
    """Return each arm's probability of having the smallest reweighted shortfall, from shortfalls and weights.

    An arm whose rewards all equal the bound has a shortfall of 0, and shares the decision with other such arms.
    """
    perfect = np.array([not shortfalls.any() for shortfalls, _ in samples])
    if perfect.any():
        return perfect / perfect.sum()
    return random_index_propensities([log_shortfall(*sample) for sample in samples])


def log_shortfall(shortfalls: Floats, weights: Floats) -> RandomVariable:
    """Return the distribution of Z = -log S, where S is the reweighted shortfall of an arm from the bound.

    With total weight a of the positive shortfalls, P(S <= s) is proportional to s^a near 0, so the logarithm is a
    smooth variable even where a is small. The power is exact below the smallest shortfall if no reward equals the
    bound; otherwise, it has a relative error below 1e-12 where it is used.
    """
    points, masses = compress(-shortfalls, weights)
    points, masses = np.append(points, 0.0), np.append(masses, 1.0)
    positive = points < 0.0
    a, total, least = float(masses[positive].sum()), float(masses.sum()), float(-points[positive].max())
    end = least if shortfalls.min() > 0.0 else 1e-12 * least
    center = float(masses @ -points / total)
    deviation = math.sqrt(float(masses @ np.square(points + center)) / total / (total + 1.0)) / center
    above_end = float(crossing_tails(points, masses, -center, np.array([[-end]]))[1][0, 0])

    def tails(z: Floats) -> tuple[Floats, Floats]:
        inside = np.clip(z, math.log(-1.0 / points.min()), -math.log(end))  # S is not above the largest shortfall
        below, above = crossing_tails(points, masses, -center, -np.exp(-inside))
        power = above_end * np.exp(-a * np.maximum(z + math.log(end), 0.0))
        far = z > -math.log(end)
        return np.where(far, 1.0 - power, below), np.where(far, power, above)

    knots = np.unique(-points[positive])
    knots = -np.log(np.append(knots if knots.size <= _FEW else knots[[0, -1]], end))
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return RandomVariable(-math.log(center), max(deviation, 1.0 / a if a < 1.0 else 0.0), tails, knots, rounding)


def duel_propensities(policy: SWLBSDA, state: Any) -> Floats:
    """Return 1 for the winners, averaged over the arms that may be the leader; nothing else is random."""
    possible = specialized(_leaders, policy.params)(policy.params, state)
    wins = specialized(_winners_against, policy.params)
    return np.mean([wins(policy.params, state, leader) for leader in possible], axis=0)


def within_the_window(policy: SlidingWindow, histories: list[Floats]) -> Floats:
    """Return the inner policy's propensities for histories that fit in the window."""
    n = sum(x.size for x in histories)
    if n > policy.window:
        expected = f"at most {policy.window} rewards, the window, because the order of more is not known"
        raise ArgumentError("histories", expected, n)
    state = policy.init(len(histories))
    rng = np.random.default_rng(0)  # nothing is drawn from it
    for arm, x in enumerate(histories):
        for reward in x:
            state = policy.update(state, arm, float(reward), rng)
    return window_propensities(policy, state)


def refuse_histories(policy: Policy, histories: list[Floats]) -> Floats:
    """Refuse histories, because they do not contain the order of the decisions, which matters."""
    expected = "one that does not forget, because histories do not contain the order of decisions (state_propensities)"
    raise ArgumentError("policy", expected, policy)


def _of_inner(policy: Policy, inner: Any) -> Floats:
    rule = propensities_of(policy).from_state
    assert rule is not None  # all policies that can be wrapped have one
    return rule(policy, inner)


def _state_in_window(policy: Any, state: Any, rng: Any) -> Any:
    return state_in_window(policy, state, rng)


def _discounted_state(policy: Any, state: Any) -> Any:
    return discounted_state(policy, state)


def _leaders(policy: Any, state: Any) -> Ints:
    return leaders(state)


def _winners_against(policy: Any, state: Any, leader: int) -> Flags:
    return winners_against(policy, state, leader)
