"""Dirichlet Sampling and its competitors: non-parametric stochastic bandits, exact and fast.

>>> import dirichlet_bandits as db
>>> bandit = db.Bandit([db.Gaussian(1.0, 1.0), db.Gaussian(2.0, 3**0.5)], names=["low", "high"])
>>> result = db.simulate(bandit, {"RDS": db.RDS()}, horizon=500, replications=20, seed=0)
>>> bool(result.pulls.sel(policy="RDS", arm="high").mean() > 400)
True
"""

from dirichlet_bandits import crops, experiments, policies, report, testing
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
    AccessError,
    ArgumentError,
    ConflictError,
    DirichletBanditsError,
    FormatError,
    LostWorkerError,
    MissingExtraError,
    NotFoundError,
    PolicyError,
    RewardError,
    StorageError,
)
from dirichlet_bandits.live import Estimate, Replay, Study, Trial, create_study, load_study, study_names
from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.kinf import KinfResult, kinf
from dirichlet_bandits.policies import *  # noqa: F403 - the policies and their propensities, by their own __all__
from dirichlet_bandits.results import Comparison, Result, load
from dirichlet_bandits.service import RemoteStudy, Service, connect
from dirichlet_bandits.simulation import simulate
from dirichlet_bandits.theory.bounds import Bound, CrossingBounds, crossing_bounds
from dirichlet_bandits.theory.conditions import QDSCondition, necessary_bonus, qds_condition
from dirichlet_bandits.theory.lower_bound import LowerBound, lower_bound

__version__ = "0.1.0"

__all__ = [
    *policies.__all__,
    "AccessError",
    "ArgumentError",
    "Bandit",
    "Bernoulli",
    "Beta",
    "Bound",
    "ClippedGaussian",
    "Comparison",
    "ConflictError",
    "CrossingBounds",
    "DirichletBanditsError",
    "Empirical",
    "Estimate",
    "Exponential",
    "FormatError",
    "Gaussian",
    "GaussianMixture",
    "KinfResult",
    "LostWorkerError",
    "LowerBound",
    "MissingExtraError",
    "NotFoundError",
    "Poisson",
    "PolicyError",
    "QDSCondition",
    "RemoteStudy",
    "Replay",
    "Result",
    "RewardError",
    "Service",
    "StorageError",
    "Study",
    "Trial",
    "Uniform",
    "connect",
    "create_study",
    "crops",
    "crossing_bounds",
    "crossing_probability",
    "experiments",
    "kinf",
    "load",
    "load_study",
    "lower_bound",
    "necessary_bonus",
    "qds_condition",
    "report",
    "simulate",
    "study_names",
    "testing",
]
