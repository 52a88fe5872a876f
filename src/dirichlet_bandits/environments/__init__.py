"""Environments for :func:`dirichlet_bandits.simulate`: distributions, bandits, arms that change, late rewards."""

from dirichlet_bandits.environments.bandit import Bandit
from dirichlet_bandits.environments.drifting import Drifting
from dirichlet_bandits.environments.environment import Environment, RewardLaw
from dirichlet_bandits.environments.feedback import Feedback, Geometric, Pareto
from dirichlet_bandits.environments.laws import (
    Bernoulli,
    Beta,
    ClippedGaussian,
    Empirical,
    Exponential,
    Gaussian,
    GaussianMixture,
    Law,
    Poisson,
    Uniform,
)
from dirichlet_bandits.environments.objective import CVaR, Mean, Objective
from dirichlet_bandits.environments.piecewise import Piecewise

__all__ = [
    "Bandit",
    "Bernoulli",
    "Beta",
    "CVaR",
    "ClippedGaussian",
    "Drifting",
    "Empirical",
    "Environment",
    "Exponential",
    "Feedback",
    "Gaussian",
    "GaussianMixture",
    "Geometric",
    "Law",
    "Mean",
    "Objective",
    "Pareto",
    "Piecewise",
    "Poisson",
    "RewardLaw",
    "Uniform",
]
