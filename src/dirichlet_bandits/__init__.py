"""Dirichlet Sampling and its competitors: non-parametric stochastic bandits, exact and fast.

>>> import dirichlet_bandits as db
>>> bandit = db.Bandit([db.Gaussian(1.0, 1.0), db.Gaussian(2.0, 3**0.5)], names=["low", "high"])
>>> result = db.simulate(bandit, {"RDS": db.RDS()}, horizon=500, replications=20, seed=0)
>>> bool(result.pulls.sel(policy="RDS", arm="high").mean() > 400)
True
"""

from dirichlet_bandits import crops, experiments, testing
from dirichlet_bandits.arms import (
    Bandit,
    Bernoulli,
    Beta,
    ClippedGaussian,
    Empirical,
    Exponential,
    Gaussian,
    GaussianMixture,
    Poisson,
    Uniform,
)
from dirichlet_bandits.errors import (
    ArgumentError,
    DirichletBanditsError,
    FormatError,
    MissingExtraError,
    PolicyError,
    RewardError,
)
from dirichlet_bandits.policies import (
    BDS,
    IMED,
    KLUCB,
    NPTS,
    QDS,
    RBSDA,
    RDS,
    RUCBLT,
    UCB1,
    BinarizedTS,
    EmpiricalIMED,
    EmpiricalKLUCB,
    Policy,
    ThompsonSampling,
)
from dirichlet_bandits.results import Comparison, Result, load
from dirichlet_bandits.simulation import simulate

__version__ = "0.1.0"

__all__ = [
    "BDS",
    "IMED",
    "KLUCB",
    "NPTS",
    "QDS",
    "RBSDA",
    "RDS",
    "RUCBLT",
    "UCB1",
    "ArgumentError",
    "Bandit",
    "Bernoulli",
    "Beta",
    "BinarizedTS",
    "ClippedGaussian",
    "Comparison",
    "DirichletBanditsError",
    "Empirical",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "Exponential",
    "FormatError",
    "Gaussian",
    "GaussianMixture",
    "MissingExtraError",
    "Poisson",
    "Policy",
    "PolicyError",
    "Result",
    "RewardError",
    "ThompsonSampling",
    "Uniform",
    "crops",
    "experiments",
    "load",
    "simulate",
    "testing",
]
