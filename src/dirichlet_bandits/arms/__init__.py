"""Reward distributions, and bandits made of them; never imports policies."""

from dirichlet_bandits.arms.bandit import Bandit, RewardLaw
from dirichlet_bandits.arms.laws import (
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
from dirichlet_bandits.arms.objective import CVaR, Mean, Objective

__all__ = [
    "Bandit",
    "Bernoulli",
    "Beta",
    "CVaR",
    "ClippedGaussian",
    "Empirical",
    "Exponential",
    "Gaussian",
    "GaussianMixture",
    "Law",
    "Mean",
    "Objective",
    "Poisson",
    "RewardLaw",
    "Uniform",
]
