"""Decision rules, one family a folder: rule, probability, shortcut; never imports simulation or live."""

from dirichlet_bandits.policies.dirichlet import BDS, QDS, RDS
from dirichlet_bandits.policies.imed import IMED, EmpiricalIMED
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.npts import NPTS
from dirichlet_bandits.policies.propensity import propensities, state_propensities
from dirichlet_bandits.policies.registry import POLICIES as POLICIES
from dirichlet_bandits.policies.registry import propensity_of
from dirichlet_bandits.policies.subsampling import RBSDA
from dirichlet_bandits.policies.thompson import BinarizedTS, ThompsonSampling
from dirichlet_bandits.policies.ucb import KLUCB, RUCBLT, UCB1, EmpiricalKLUCB

# isort: split
from dirichlet_bandits.policies.cvar import BCVTS, MCVTS, UUCB, CVaRUCB  # tables list them after those of the mean

__all__ = [
    "BCVTS",
    "BDS",
    "IMED",
    "KLUCB",
    "MCVTS",
    "NPTS",
    "QDS",
    "RBSDA",
    "RDS",
    "RUCBLT",
    "UCB1",
    "UUCB",
    "BinarizedTS",
    "CVaRUCB",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "Policy",
    "ThompsonSampling",
    "propensities",
    "propensity_of",
    "state_propensities",
]
