"""Policies that sample in order to decide: EqualSplit, EpsilonGreedy and TopTwo."""

from dirichlet_bandits.policies.deciding.probability import (
    equal_propensities,
    greedy_propensities,
    top_two_propensities,
)
from dirichlet_bandits.policies.deciding.rule import EpsilonGreedy, EqualSplit
from dirichlet_bandits.policies.deciding.top_two import TopTwo
from dirichlet_bandits.policies.registry import register

register(EqualSplit, probability=equal_propensities)
register(EpsilonGreedy, probability=greedy_propensities)
register(TopTwo, probability=top_two_propensities)

__all__ = ["EpsilonGreedy", "EqualSplit", "TopTwo"]
