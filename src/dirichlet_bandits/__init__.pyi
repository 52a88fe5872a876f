"""The public names, and where each comes from: read by type checkers, by editors and by ``__init__.py``."""

from dirichlet_bandits import crops as crops
from dirichlet_bandits import experiments as experiments
from dirichlet_bandits import report as report
from dirichlet_bandits import testing as testing
from dirichlet_bandits.arms import Bandit as Bandit
from dirichlet_bandits.arms import Bernoulli as Bernoulli
from dirichlet_bandits.arms import Beta as Beta
from dirichlet_bandits.arms import ClippedGaussian as ClippedGaussian
from dirichlet_bandits.arms import Empirical as Empirical
from dirichlet_bandits.arms import Exponential as Exponential
from dirichlet_bandits.arms import Gaussian as Gaussian
from dirichlet_bandits.arms import GaussianMixture as GaussianMixture
from dirichlet_bandits.arms import Poisson as Poisson
from dirichlet_bandits.arms import Uniform as Uniform
from dirichlet_bandits.errors import AccessError as AccessError
from dirichlet_bandits.errors import ArgumentError as ArgumentError
from dirichlet_bandits.errors import ConflictError as ConflictError
from dirichlet_bandits.errors import DirichletBanditsError as DirichletBanditsError
from dirichlet_bandits.errors import FormatError as FormatError
from dirichlet_bandits.errors import LostWorkerError as LostWorkerError
from dirichlet_bandits.errors import MissingExtraError as MissingExtraError
from dirichlet_bandits.errors import NotFoundError as NotFoundError
from dirichlet_bandits.errors import PolicyError as PolicyError
from dirichlet_bandits.errors import RewardError as RewardError
from dirichlet_bandits.errors import StorageError as StorageError
from dirichlet_bandits.live import Estimate as Estimate
from dirichlet_bandits.live import Replay as Replay
from dirichlet_bandits.live import Study as Study
from dirichlet_bandits.live import Trial as Trial
from dirichlet_bandits.live import create_study as create_study
from dirichlet_bandits.live import load_study as load_study
from dirichlet_bandits.live import study_names as study_names
from dirichlet_bandits.numerics.crossing import crossing_probability as crossing_probability
from dirichlet_bandits.numerics.kinf import KinfResult as KinfResult
from dirichlet_bandits.numerics.kinf import kinf as kinf
from dirichlet_bandits.policies import *  # noqa: F403 - the policies and their propensities, by their own __all__
from dirichlet_bandits.results import Comparison as Comparison
from dirichlet_bandits.results import Result as Result
from dirichlet_bandits.results import load as load
from dirichlet_bandits.service import RemoteStudy as RemoteStudy
from dirichlet_bandits.service import Service as Service
from dirichlet_bandits.service import connect as connect
from dirichlet_bandits.simulation import simulate as simulate
from dirichlet_bandits.theory.bounds import Bound as Bound
from dirichlet_bandits.theory.bounds import CrossingBounds as CrossingBounds
from dirichlet_bandits.theory.bounds import crossing_bounds as crossing_bounds
from dirichlet_bandits.theory.conditions import QDSCondition as QDSCondition
from dirichlet_bandits.theory.conditions import necessary_bonus as necessary_bonus
from dirichlet_bandits.theory.conditions import qds_condition as qds_condition
from dirichlet_bandits.theory.lower_bound import LowerBound as LowerBound
from dirichlet_bandits.theory.lower_bound import lower_bound as lower_bound

__version__: str
