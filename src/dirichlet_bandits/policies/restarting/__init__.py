"""Policies for rewards that change from time to time: restarts after an alarm, and EXP3.S."""

from dirichlet_bandits.policies.registry import register
from dirichlet_bandits.policies.restarting.detectors import CUSUM, GLR, MeanShift
from dirichlet_bandits.policies.restarting.exp3s import EXP3S, weight_propensities
from dirichlet_bandits.policies.restarting.probability import obstacle, refuse_histories, restarting_propensities
from dirichlet_bandits.policies.restarting.published import CUSUMUCB, GLRKLUCB, MUCB
from dirichlet_bandits.policies.restarting.rule import Restarting

register(Restarting, probability=restarting_propensities, from_histories=refuse_histories, obstacle=obstacle)
register(GLRKLUCB, MUCB, CUSUMUCB, probability=restarting_propensities, from_histories=refuse_histories)
register(EXP3S, probability=weight_propensities, from_histories=refuse_histories)

__all__ = ["CUSUM", "CUSUMUCB", "EXP3S", "GLR", "GLRKLUCB", "MUCB", "MeanShift", "Restarting"]
