"""Conformance checks that users can run on their own policy."""

from dirichlet_bandits.testing.policy import Report, check_policy

__all__ = ["Report", "check_policy"]
