"""Decision rules, one family a folder: rule, probability, shortcut; never imports simulation or live."""

import dirichlet_bandits.policies.dirichlet  # noqa: F401 - the policies of the paper come first in every list
from dirichlet_bandits.policies.dirichlet import BDS, QDS, RDS
from dirichlet_bandits.policies.dmed import DMED
from dirichlet_bandits.policies.imed import IMED, EmpiricalIMED, UnimodalIMED
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.med import MED, MaillardSampling
from dirichlet_bandits.policies.npts import NPTS
from dirichlet_bandits.policies.perturbed import MBE, PHE, ReBoot
from dirichlet_bandits.policies.propensity import propensities, state_propensities
from dirichlet_bandits.policies.registry import POLICIES as POLICIES
from dirichlet_bandits.policies.registry import propensity_of
from dirichlet_bandits.policies.resampling import GIRO, BootstrapTS, OnlineBootstrapTS
from dirichlet_bandits.policies.subsampling import BESA, LBSDA, LDSSDA, RBSDA, SSMC, WRSDA
from dirichlet_bandits.policies.thompson import BinarizedTS, ThompsonSampling
from dirichlet_bandits.policies.ucb import KLUCB, RUCBLT, UCB1, EmpiricalKLUCB, KLUCBPlusPlus, KLUCBSwitch

# isort: split
from dirichlet_bandits.policies.cvar import BCVTS, MCVTS, UUCB, CVaRUCB  # tables list them after those of the mean

__all__ = [
    "BCVTS",
    "BDS",
    "BESA",
    "DMED",
    "GIRO",
    "IMED",
    "KLUCB",
    "LBSDA",
    "LDSSDA",
    "MBE",
    "MCVTS",
    "MED",
    "NPTS",
    "PHE",
    "QDS",
    "RBSDA",
    "RDS",
    "RUCBLT",
    "SSMC",
    "UCB1",
    "UUCB",
    "WRSDA",
    "BinarizedTS",
    "BootstrapTS",
    "CVaRUCB",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "KLUCBPlusPlus",
    "KLUCBSwitch",
    "MaillardSampling",
    "OnlineBootstrapTS",
    "Policy",
    "ReBoot",
    "ThompsonSampling",
    "UnimodalIMED",
    "propensities",
    "propensity_of",
    "state_propensities",
]
