# ruff: isort: skip_file
"""The public names, and where each comes from: read by type checkers, by editors and by ``__init__.py``.

Tables list the policies in this order: those of the paper first, those that optimize the CVaR last.
"""

from dirichlet_bandits.policies.interface import Policy as Policy
from dirichlet_bandits.policies.propensity import propensities as propensities
from dirichlet_bandits.policies.propensity import state_propensities as state_propensities
from dirichlet_bandits.policies.registry import propensity_of as propensity_of
from dirichlet_bandits.policies.dirichlet import BDS as BDS
from dirichlet_bandits.policies.dirichlet import RDS as RDS
from dirichlet_bandits.policies.dirichlet import QDS as QDS
from dirichlet_bandits.policies.dmed import DMED as DMED
from dirichlet_bandits.policies.imed import IMED as IMED
from dirichlet_bandits.policies.imed import EmpiricalIMED as EmpiricalIMED
from dirichlet_bandits.policies.imed import UnimodalIMED as UnimodalIMED
from dirichlet_bandits.policies.med import MED as MED
from dirichlet_bandits.policies.med import MaillardSampling as MaillardSampling
from dirichlet_bandits.policies.npts import NPTS as NPTS
from dirichlet_bandits.policies.perturbed import PHE as PHE
from dirichlet_bandits.policies.perturbed import ReBoot as ReBoot
from dirichlet_bandits.policies.perturbed import MBE as MBE
from dirichlet_bandits.policies.resampling import GIRO as GIRO
from dirichlet_bandits.policies.resampling import BootstrapTS as BootstrapTS
from dirichlet_bandits.policies.resampling import OnlineBootstrapTS as OnlineBootstrapTS
from dirichlet_bandits.policies.subsampling import RBSDA as RBSDA
from dirichlet_bandits.policies.subsampling import LBSDA as LBSDA
from dirichlet_bandits.policies.subsampling import LDSSDA as LDSSDA
from dirichlet_bandits.policies.subsampling import SSMC as SSMC
from dirichlet_bandits.policies.subsampling import WRSDA as WRSDA
from dirichlet_bandits.policies.subsampling import BESA as BESA
from dirichlet_bandits.policies.thompson import ThompsonSampling as ThompsonSampling
from dirichlet_bandits.policies.thompson import BinarizedTS as BinarizedTS
from dirichlet_bandits.policies.ucb import UCB1 as UCB1
from dirichlet_bandits.policies.ucb import RUCBLT as RUCBLT
from dirichlet_bandits.policies.ucb import KLUCB as KLUCB
from dirichlet_bandits.policies.ucb import KLUCBPlusPlus as KLUCBPlusPlus
from dirichlet_bandits.policies.ucb import KLUCBSwitch as KLUCBSwitch
from dirichlet_bandits.policies.ucb import EmpiricalKLUCB as EmpiricalKLUCB
from dirichlet_bandits.policies.deciding import EqualSplit as EqualSplit
from dirichlet_bandits.policies.deciding import EpsilonGreedy as EpsilonGreedy
from dirichlet_bandits.policies.deciding import TopTwo as TopTwo
from dirichlet_bandits.policies.floored import Floored as Floored
from dirichlet_bandits.policies.forgetting import SlidingWindow as SlidingWindow
from dirichlet_bandits.policies.forgetting import Discounted as Discounted
from dirichlet_bandits.policies.forgetting import SWLBSDA as SWLBSDA
from dirichlet_bandits.policies.restarting import Restarting as Restarting
from dirichlet_bandits.policies.restarted_ucb import GLRKLUCB as GLRKLUCB
from dirichlet_bandits.policies.restarted_ucb import MUCB as MUCB
from dirichlet_bandits.policies.restarted_ucb import CUSUMUCB as CUSUMUCB
from dirichlet_bandits.policies.exp3s import EXP3S as EXP3S
from dirichlet_bandits.policies.detectors import CUSUM as CUSUM
from dirichlet_bandits.policies.detectors import GLR as GLR
from dirichlet_bandits.policies.detectors import MeanShift as MeanShift
from dirichlet_bandits.policies.late import Queued as Queued
from dirichlet_bandits.policies.late import CountPending as CountPending
from dirichlet_bandits.policies.cvar import BCVTS as BCVTS
from dirichlet_bandits.policies.cvar import MCVTS as MCVTS
from dirichlet_bandits.policies.cvar import UUCB as UUCB
from dirichlet_bandits.policies.cvar import CVaRUCB as CVaRUCB
