"""Every policy beside its naive twin, with rewards that both accept."""

from functools import partial
from typing import NamedTuple

import dirichlet_bandits as db
from tests.naive import policies as naive


class Pair(NamedTuple):
    policy: object
    twin: object
    rewards: str = "unit"
    toss: object = None


def toss(reward, rng):
    return float(rng.random() < reward)


PAIRS = {
    "BDS known": Pair(db.BDS(upper=1.0), partial(naive.bds_known, upper=1.0)),
    "BDS detectable": Pair(db.BDS(rho=4, gamma=0.1), partial(naive.bds_detectable, rho=4, gamma=0.1)),
    "RDS sqrt-log": Pair(db.RDS(), naive.rds),
    "RDS log": Pair(db.RDS("log"), partial(naive.rds, rho="log")),
    "RDS log2": Pair(db.RDS("log2"), partial(naive.rds, rho="log2")),
    "QDS": Pair(db.QDS(rho=4, alpha=0.3), partial(naive.qds, rho=4, alpha=0.3)),
    "NPTS": Pair(db.NPTS(upper=1.0), partial(naive.npts, upper=1.0)),
    "RBSDA": Pair(db.RBSDA(), naive.rbsda),
    "UCB1": Pair(db.UCB1(sigma=0.5), partial(naive.ucb1, sigma=0.5)),
    "RUCBLT log2": Pair(db.RUCBLT(), naive.rucblt),
    "RUCBLT log": Pair(db.RUCBLT("log"), partial(naive.rucblt, f="log")),
    "RUCBLT sqrt-log": Pair(db.RUCBLT("sqrt-log"), partial(naive.rucblt, f="sqrt-log")),
    "EmpiricalKLUCB": Pair(db.EmpiricalKLUCB(upper=1.0), partial(naive.empirical_klucb, upper=1.0)),
    "EmpiricalIMED": Pair(db.EmpiricalIMED(upper=1.0), partial(naive.empirical_imed, upper=1.0)),
    "BinarizedTS": Pair(db.BinarizedTS(0.0, 1.0), partial(naive.binarized_ts, lower=0, upper=1), "unit", toss),
}
for family, sigma, rewards in (
    ("bernoulli", None, "unit"),
    ("gaussian", 0.5, "unit"),
    ("exponential", None, "positive"),
    ("poisson", None, "positive"),
):
    given = {"family": family} if sigma is None else {"family": family, "sigma": sigma}
    PAIRS |= {
        f"KLUCB {family}": Pair(db.KLUCB(**given), partial(naive.klucb, **given), rewards),
        f"IMED {family}": Pair(db.IMED(**given), partial(naive.imed, **given), rewards),
        f"TS {family}": Pair(db.ThompsonSampling(**given), partial(naive.thompson, **given), rewards),
    }
