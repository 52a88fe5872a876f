"""Conformance checks that users can run on their own policies, distributions and environments."""

from dirichlet_bandits.testing.environment import check_environment, check_law
from dirichlet_bandits.testing.policy import Report, check_policy

__all__ = ["Report", "check_environment", "check_law", "check_policy"]
