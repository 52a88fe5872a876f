"""How probable the decisions of policies that forget are: those of the inner policy on what is remembered."""

from typing import Any

import numpy as np

from dirichlet_bandits.engine.verbs import specialised
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.policies.forgetting.lbsda import SWLBSDA, leaders, winners_against
from dirichlet_bandits.policies.forgetting.ring import Ring
from dirichlet_bandits.policies.forgetting.rule import Discounted, SlidingWindow, discounted_state, state_in_window
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.registry import propensities_of
from dirichlet_bandits.types import Flags, Floats, Ints


def window_propensities(policy: SlidingWindow, state: Ring) -> Floats:
    """Return the inner policy's propensities in the window."""
    inner = specialised(_state_in_window, policy.params)(policy.params, state, np.random.default_rng(0))
    return _of_inner(policy.policy, inner)


def discounted_propensities(policy: Discounted, state: Ring) -> Floats:
    """Return the inner policy's propensities for the discounted counts and means."""
    inner = specialised(_discounted_state, policy.params)(policy.params, state)
    return _of_inner(policy.policy, inner)


def duel_propensities(policy: SWLBSDA, state: Any) -> Floats:
    """Return 1 for the winners, on average over the arms that may be the leader; nothing else is left to chance."""
    possible = specialised(_leaders, policy.params)(policy.params, state)
    wins = specialised(_winners_against, policy.params)
    return np.mean([wins(policy.params, state, leader) for leader in possible], axis=0)


def within_the_window(policy: SlidingWindow, histories: list[Floats]) -> Floats:
    """Return the inner policy's propensities for histories of which nothing is forgotten."""
    n = sum(x.size for x in histories)
    if n > policy.window:
        expected = f"at most {policy.window} rewards, the window: of more, the last ones are not known"
        raise ArgumentError("histories", expected, n)
    state = policy.init(len(histories))
    rng = np.random.default_rng(0)  # nothing is drawn from it
    for arm, x in enumerate(histories):
        for reward in x:
            state = policy.update(state, arm, float(reward), rng)
    return window_propensities(policy, state)


def refuse_histories(policy: Policy, histories: list[Floats]) -> Floats:
    """Refuse histories: the order of the decisions matters, and they do not tell it."""
    expected = "one that does not forget: histories do not tell which decision came last (state_propensities does)"
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
