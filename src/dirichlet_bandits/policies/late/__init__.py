"""Policies for rewards that arrive late: Queued and CountPending."""

from dirichlet_bandits.policies.late.pending import CountPending, pending_propensities
from dirichlet_bandits.policies.late.queued import ONE_DRAW_MANY_PULLS, Queued
from dirichlet_bandits.policies.registry import register

register(Queued, obstacle=lambda policy: ONE_DRAW_MANY_PULLS)
register(CountPending, probability=pending_propensities)

__all__ = ["CountPending", "Queued"]
