"""Every policy beside its naive twin: the one list from which all tests of policies are made.

A new policy adds its examples here, and is then compared with its twin, its shortcut with the plain loop, its
propensities with draws and its incremental ones with those computed anew; a test says so if it is missing.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import dirichlet_bandits as db
from tests.naive import policies as naive


class World(NamedTuple):
    """The interval of the rewards; the unit of their size."""

    lower: float = 0.0
    upper: float = 1.0
    unit: float = 1.0


class Example(NamedTuple):
    """A policy fit for a world, its twin, and what it asks of the rewards: ``unit`` is [0, 1], ``positive`` above 0.

    ``moves``: in another world, moved or stretched, it pulls the same arms. ``exact``: it has exact propensities, and
    so live studies.
    """

    make: Callable[[World], db.Policy]
    twin: Any
    rewards: str = "unit"
    toss: Any = None
    moves: bool = True
    exact: bool = True

    @property
    def policy(self) -> db.Policy:
        return self.make(World())


def toss(reward, rng):
    return float(rng.random() < reward)


PAIRS = {
    "BDS known": Example(lambda w: db.BDS(upper=w.upper), partial(naive.bds_known, upper=1.0)),
    "BDS detectable": Example(
        lambda w: db.BDS(rho=4, gamma=0.1 * w.unit), partial(naive.bds_detectable, rho=4, gamma=0.1)
    ),
    "RDS sqrt-log": Example(lambda w: db.RDS(), naive.rds),
    "RDS log": Example(lambda w: db.RDS("log"), partial(naive.rds, rho="log")),
    "RDS log2": Example(lambda w: db.RDS("log2"), partial(naive.rds, rho="log2")),
    "QDS": Example(lambda w: db.QDS(rho=4, alpha=0.3), partial(naive.qds, rho=4, alpha=0.3)),
    "NPTS": Example(lambda w: db.NPTS(upper=w.upper), partial(naive.npts, upper=1.0)),
    "RBSDA": Example(lambda w: db.RBSDA(), naive.rbsda),
    "RBSDA forced": Example(lambda w: db.RBSDA("sqrt-log"), partial(naive.rbsda, forced="sqrt-log")),
    "LBSDA": Example(lambda w: db.LBSDA(), naive.lbsda),
    "LBSDA forced": Example(lambda w: db.LBSDA("cbrt-log"), partial(naive.lbsda, forced="cbrt-log")),
    "LBSDA limited": Example(
        lambda w: db.LBSDA("cbrt-log", memory="log2"), partial(naive.limited_lbsda, forced="cbrt-log")
    ),
    "LDSSDA": Example(lambda w: db.LDSSDA(), naive.ldssda),
    "LDSSDA forced": Example(lambda w: db.LDSSDA("sqrt-log"), partial(naive.ldssda, forced="sqrt-log")),
    "SSMC": Example(lambda w: db.SSMC(), naive.ssmc),
    "WRSDA": Example(lambda w: db.WRSDA(), naive.wrsda, exact=False),
    "WRSDA forced": Example(lambda w: db.WRSDA("sqrt-log"), partial(naive.wrsda, forced="sqrt-log"), exact=False),
    "WRSDA random ties": Example(lambda w: db.WRSDA(ties="random"), partial(naive.wrsda, ties="random"), exact=False),
    "BESA": Example(lambda w: db.BESA(), naive.besa, exact=False),
    "BESA random ties": Example(lambda w: db.BESA("random"), partial(naive.besa, ties="random"), exact=False),
    "UCB1": Example(lambda w: db.UCB1(sigma=0.5 * w.unit), partial(naive.ucb1, sigma=0.5)),
    "RUCBLT log2": Example(lambda w: db.RUCBLT(), naive.rucblt, moves=False),
    "RUCBLT log": Example(lambda w: db.RUCBLT("log"), partial(naive.rucblt, f="log"), moves=False),
    "RUCBLT sqrt-log": Example(lambda w: db.RUCBLT("sqrt-log"), partial(naive.rucblt, f="sqrt-log"), moves=False),
    "EmpiricalKLUCB": Example(lambda w: db.EmpiricalKLUCB(upper=w.upper), partial(naive.empirical_klucb, upper=1.0)),
    "EmpiricalIMED": Example(lambda w: db.EmpiricalIMED(upper=w.upper), partial(naive.empirical_imed, upper=1.0)),
    "BinarizedTS": Example(
        lambda w: db.BinarizedTS(w.lower, w.upper), partial(naive.binarized_ts, lower=0, upper=1), "unit", toss
    ),
}
for family, rewards in (("bernoulli", "unit"), ("exponential", "positive"), ("poisson", "positive")):
    for name, policy, twin in (
        ("KLUCB", db.KLUCB, naive.klucb),
        ("IMED", db.IMED, naive.imed),
        ("TS", db.ThompsonSampling, naive.thompson),
    ):
        make = partial(lambda policy, family, w: policy(family), policy, family)
        PAIRS[f"{name} {family}"] = Example(make, partial(twin, family=family), rewards, moves=False)
PAIRS |= {
    "KLUCB gaussian": Example(
        lambda w: db.KLUCB("gaussian", sigma=0.5 * w.unit), partial(naive.klucb, family="gaussian", sigma=0.5)
    ),
    "IMED gaussian": Example(
        lambda w: db.IMED("gaussian", sigma=0.5 * w.unit), partial(naive.imed, family="gaussian", sigma=0.5)
    ),
    "TS gaussian": Example(
        lambda w: db.ThompsonSampling("gaussian", sigma=0.5 * w.unit),
        partial(naive.thompson, family="gaussian", sigma=0.5),
    ),
}
