"""Decision rules, one family a file; never imports arms."""

from dirichlet_bandits.policies import index as _defaults  # noqa: F401 - registers the default verbs
from dirichlet_bandits.policies import random_index as _laws  # noqa: F401 - registers their propensities
from dirichlet_bandits.policies.base import Policy
from dirichlet_bandits.policies.dirichlet import BDS, QDS, RDS
from dirichlet_bandits.policies.imed import IMED, EmpiricalIMED
from dirichlet_bandits.policies.npts import NPTS
from dirichlet_bandits.policies.propensity import propensities, propensity_of, state_propensities
from dirichlet_bandits.policies.subsampling import RBSDA
from dirichlet_bandits.policies.thompson import BinarizedTS, ThompsonSampling
from dirichlet_bandits.policies.ucb import KLUCB, RUCBLT, UCB1, EmpiricalKLUCB

POLICIES: dict[str, type[Policy]] = {
    policy.__name__: policy
    for policy in (
        BDS,
        RDS,
        QDS,
        NPTS,
        UCB1,
        RUCBLT,
        KLUCB,
        EmpiricalKLUCB,
        IMED,
        EmpiricalIMED,
        ThompsonSampling,
        BinarizedTS,
        RBSDA,
    )
}

__all__ = [
    "BDS",
    "IMED",
    "KLUCB",
    "NPTS",
    "POLICIES",
    "QDS",
    "RBSDA",
    "RDS",
    "RUCBLT",
    "UCB1",
    "BinarizedTS",
    "EmpiricalIMED",
    "EmpiricalKLUCB",
    "Policy",
    "ThompsonSampling",
    "propensities",
    "propensity_of",
    "state_propensities",
]
