"""Policies that sample to decide: EqualSplit and EpsilonGreedy."""

from dirichlet_bandits.policies.deciding.probability import equal_propensities, greedy_propensities
from dirichlet_bandits.policies.deciding.rule import EpsilonGreedy, EqualSplit
from dirichlet_bandits.policies.registry import register

register(EqualSplit, probability=equal_propensities)
register(EpsilonGreedy, probability=greedy_propensities)

__all__ = ["EpsilonGreedy", "EqualSplit"]
