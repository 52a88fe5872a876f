"""Policies for arms that change, which forget old rewards: SlidingWindow, Discounted and SW-LB-SDA."""

from dirichlet_bandits.policies.forgetting.lbsda import SWLBSDA
from dirichlet_bandits.policies.forgetting.probability import (
    discounted_propensities,
    duel_propensities,
    refuse_histories,
    window_propensities,
    within_the_window,
)
from dirichlet_bandits.policies.forgetting.rule import Discounted, SlidingWindow
from dirichlet_bandits.policies.registry import register

register(SlidingWindow, probability=window_propensities, from_histories=within_the_window)
register(Discounted, probability=discounted_propensities, from_histories=refuse_histories)
register(SWLBSDA, probability=duel_propensities, from_histories=refuse_histories)

__all__ = ["SWLBSDA", "Discounted", "SlidingWindow"]
