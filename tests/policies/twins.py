"""Every policy beside its naive twin: the one list from which all tests of policies are made.

A new policy adds its examples here, and is then compared with its twin, its shortcut with the plain loop, its
propensities with draws and its incremental ones with those computed anew; a test says so if it is missing.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

import dirichlet_bandits as db
from tests.naive import bootstraps, deciding, forgetting, restarting
from tests.naive import policies as naive


class World(NamedTuple):
    """The interval of the rewards; the unit of their size."""

    lower: float = 0.0
    upper: float = 1.0
    unit: float = 1.0


class Example(NamedTuple):
    """A policy fit for a world, its twin, and what it asks of the rewards: ``unit`` is [0, 1], ``binary`` 0 or 1,
    ``positive`` above 0.

    ``toss``: what is kept of a reward, by the policy as by the twin, is drawn at random. ``moves``: in another
    world, moved or stretched, it pulls the same arms, and its own code looks at rewards. ``live``: its propensities
    are known. ``ordered``: they depend on the order of the decisions, which histories do not tell. ``several``: a
    round may pull several arms, although the policy has no verb ``win_probability``.
    """

    make: Callable[[World], db.Policy]
    twin: Any
    rewards: str = "unit"
    toss: Any = None
    moves: bool = True
    live: bool = True
    ordered: bool = False
    several: bool = False

    @property
    def policy(self) -> db.Policy:
        return self.make(World())


def toss(reward, rng):
    return float(rng.random() < reward)


GRID = (0.0, 0.25, 0.5, 1.0)  # the values of a small discrete problem

PAIRS = {
    "BDS known": Example(lambda w: db.BDS(upper=w.upper), partial(naive.bds_known, upper=1.0)),
    "BDS detectable": Example(
        lambda w: db.BDS(rho=4, gamma=0.1 * w.unit), partial(naive.bds_detectable, rho=4, gamma=0.1)
    ),
    "RDS sqrt-log": Example(lambda w: db.RDS(), naive.rds),
    "RDS log": Example(lambda w: db.RDS("log"), partial(naive.rds, rho="log")),
    "RDS log2": Example(lambda w: db.RDS("log2"), partial(naive.rds, rho="log2")),
    "RDS level 50 %": Example(lambda w: db.RDS(level=0.5), partial(naive.risk_rds, level=0.5)),
    "QDS": Example(lambda w: db.QDS(rho=4, alpha=0.3), partial(naive.qds, rho=4, alpha=0.3)),
    "NPTS": Example(lambda w: db.NPTS(upper=w.upper), partial(naive.npts, upper=1.0)),
    "BCVTS 40 %": Example(lambda w: db.BCVTS(w.upper, 0.4), partial(naive.bcvts, upper=1.0, level=0.4)),
    "BCVTS 90 %": Example(lambda w: db.BCVTS(w.upper, 0.9), partial(naive.bcvts, upper=1.0, level=0.9)),
    "MCVTS": Example(
        lambda w: db.MCVTS([w.lower + w.unit * x for x in GRID], 0.3), partial(naive.mcvts, support=GRID, level=0.3)
    ),
    "UUCB": Example(lambda w: db.UUCB(w.upper, 0.4), partial(naive.uucb, upper=1.0, level=0.4), moves=False),
    "CVaRUCB": Example(lambda w: db.CVaRUCB(w.upper, 0.4), partial(naive.cvar_ucb, upper=1.0, level=0.4)),
    "CVaRUCB horizon": Example(
        lambda w: db.CVaRUCB(w.upper, 0.4, horizon=30), partial(naive.cvar_ucb, upper=1.0, level=0.4, horizon=30)
    ),
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
    "WRSDA": Example(lambda w: db.WRSDA(), naive.wrsda, live=False),
    "WRSDA forced": Example(lambda w: db.WRSDA("sqrt-log"), partial(naive.wrsda, forced="sqrt-log"), live=False),
    "WRSDA random ties": Example(lambda w: db.WRSDA(ties="random"), partial(naive.wrsda, ties="random"), live=False),
    "BESA": Example(lambda w: db.BESA(), naive.besa, live=False),
    "BESA random ties": Example(lambda w: db.BESA("random"), partial(naive.besa, ties="random"), live=False),
    "UCB1": Example(lambda w: db.UCB1(sigma=0.5 * w.unit), partial(naive.ucb1, sigma=0.5)),
    "RUCBLT log2": Example(lambda w: db.RUCBLT(), naive.rucblt, moves=False),
    "RUCBLT log, half": Example(lambda w: db.RUCBLT("log", 0.5 * w.unit), partial(naive.rucblt, f="log", scale=0.5)),
    "RUCBLT sqrt-log": Example(lambda w: db.RUCBLT("sqrt-log"), partial(naive.rucblt, f="sqrt-log"), moves=False),
    "EmpiricalKLUCB": Example(lambda w: db.EmpiricalKLUCB(upper=w.upper), partial(naive.empirical_klucb, upper=1.0)),
    "EmpiricalIMED": Example(lambda w: db.EmpiricalIMED(upper=w.upper), partial(naive.empirical_imed, upper=1.0)),
    "Empirical MED": Example(lambda w: db.MED(upper=w.upper), partial(naive.med, upper=1.0)),
    "Maillard": Example(
        lambda w: db.MaillardSampling(sigma=0.5 * w.unit), partial(naive.med, family="gaussian", sigma=0.5)
    ),
    "Empirical DMED": Example(lambda w: db.DMED(upper=w.upper), naive.DMED(upper=1.0)),
    "KLUCBSwitch": Example(
        lambda w: db.KLUCBSwitch(upper=w.upper, lower=w.lower), partial(naive.klucb_switch, upper=1.0)
    ),
    "KLUCBSwitch horizon": Example(
        lambda w: db.KLUCBSwitch(upper=w.upper, horizon=200, lower=w.lower),
        partial(naive.klucb_switch, upper=1.0, horizon=200),
    ),
    "BinarizedTS": Example(
        lambda w: db.BinarizedTS(w.lower, w.upper), partial(naive.binarized_ts, lower=0, upper=1), "unit", toss
    ),
}
PAIRS |= {
    "PHE": Example(lambda w: db.PHE(lower=w.lower, upper=w.upper), bootstraps.phe),
    "PHE .5": Example(lambda w: db.PHE(0.5, w.lower, w.upper), partial(bootstraps.phe, a=0.5)),
    "ReBoot": Example(lambda w: db.ReBoot(sigma=0.4 * w.unit), partial(bootstraps.reboot, sigma=0.4)),
    "MBE": Example(lambda w: db.MBE(lower=w.lower, upper=w.upper), bootstraps.mbe),
    "GIRO": Example(lambda w: db.GIRO(lower=w.lower, upper=w.upper), bootstraps.giro, live=False),
    "GIRO binary": Example(
        lambda w: db.GIRO(0.3, w.lower, w.upper, binary=True), partial(bootstraps.giro, a=0.3), "binary", moves=False
    ),
    "BootstrapTS": Example(
        lambda w: db.BootstrapTS(4, w.lower, w.upper), partial(bootstraps.bootstrap_ts, artificial=4), live=False
    ),
    "BootstrapTS binary": Example(
        lambda w: db.BootstrapTS(3, w.lower, w.upper, binary=True),
        partial(bootstraps.bootstrap_ts, artificial=3, coins=True),
        "binary",
        moves=False,
    ),
    "OnlineBootstrapTS": Example(
        lambda w: db.OnlineBootstrapTS(6, "double-or-nothing", w.lower, w.upper),
        bootstraps.online_bootstrap_ts,
        toss=bootstraps.double_or_nothing,
    ),
    "OnlineBootstrapTS poisson": Example(
        lambda w: db.OnlineBootstrapTS(6, "poisson", w.lower, w.upper),
        bootstraps.online_bootstrap_ts,
        toss=bootstraps.poisson,
    ),
}
for family, rewards in (("bernoulli", "unit"), ("exponential", "positive"), ("poisson", "positive")):
    for name, policy, twin in (
        ("KLUCB", db.KLUCB, naive.klucb),
        ("IMED", db.IMED, naive.imed),
        ("TS", db.ThompsonSampling, naive.thompson),
        ("MED", db.MED, naive.med),
        ("DMED", db.DMED, naive.DMED),
        ("UnimodalIMED", db.UnimodalIMED, naive.unimodal_imed),
        ("KLUCBPlusPlus", partial(db.KLUCBPlusPlus, horizon=100), partial(naive.klucb_plus_plus, horizon=100)),
    ):
        make = partial(lambda policy, family, w: policy(family), policy, family)
        known = twin(family=family) if twin is naive.DMED else partial(twin, family=family)
        PAIRS[f"{name} {family}"] = Example(make, known, rewards, moves=False)
PAIRS |= {
    "KLUCB gaussian": Example(
        lambda w: db.KLUCB("gaussian", sigma=0.5 * w.unit), partial(naive.klucb, family="gaussian", sigma=0.5)
    ),
    "IMED gaussian": Example(
        lambda w: db.IMED("gaussian", sigma=0.5 * w.unit), partial(naive.imed, family="gaussian", sigma=0.5)
    ),
    "DMED gaussian": Example(
        lambda w: db.DMED("gaussian", sigma=0.5 * w.unit), naive.DMED(family="gaussian", sigma=0.5)
    ),
    "UnimodalIMED gaussian": Example(
        lambda w: db.UnimodalIMED("gaussian", sigma=0.5 * w.unit),
        partial(naive.unimodal_imed, family="gaussian", sigma=0.5),
    ),
    "KLUCBPlusPlus gaussian": Example(
        lambda w: db.KLUCBPlusPlus("gaussian", sigma=0.5 * w.unit, horizon=100),
        partial(naive.klucb_plus_plus, family="gaussian", sigma=0.5, horizon=100),
    ),
    "TS gaussian": Example(
        lambda w: db.ThompsonSampling("gaussian", sigma=0.5 * w.unit),
        partial(naive.thompson, family="gaussian", sigma=0.5),
    ),
}
PAIRS |= {
    "EqualSplit": Example(lambda w: db.EqualSplit(), deciding.equal_split),
    "EpsilonGreedy": Example(lambda w: db.EpsilonGreedy(0.3), partial(deciding.epsilon_greedy, epsilon=0.3)),
    "TopTwo": Example(
        lambda w: db.TopTwo(w.lower, w.upper), partial(deciding.top_two_coins, beta=0.5), "binary", moves=False
    ),
    "Floored UCB1": Example(
        lambda w: db.Floored(db.UCB1(sigma=0.5 * w.unit), 0.1),
        partial(naive.floored, floor=0.1, inner=partial(naive.ucb1, sigma=0.5)),
        moves=False,
    ),
    "Floored RDS": Example(lambda w: db.Floored(db.RDS(), 0.2), partial(naive.floored, floor=0.2, inner=naive.rds)),
}
PAIRS |= {
    "SlidingWindow UCB1": Example(
        lambda w: db.SlidingWindow(db.UCB1(sigma=0.5 * w.unit), 100),
        partial(forgetting.sliding_window, window=100, inner=partial(naive.ucb1, sigma=0.5)),
    ),
    "SlidingWindow TS": Example(
        lambda w: db.SlidingWindow(db.ThompsonSampling("bernoulli"), 100),
        partial(forgetting.sliding_window, window=100, inner=partial(naive.thompson, family="bernoulli")),
        moves=False,
    ),
    "SlidingWindow RDS": Example(
        lambda w: db.SlidingWindow(db.RDS(), 100), partial(forgetting.sliding_window, window=100, inner=naive.rds)
    ),
    "Discounted UCB1": Example(
        lambda w: db.Discounted(db.UCB1(sigma=0.5 * w.unit), 0.9),
        partial(forgetting.discounted_ucb1, gamma=0.9, sigma=0.5),
        ordered=True,
    ),
    "Discounted TS": Example(
        lambda w: db.Discounted(db.ThompsonSampling("bernoulli"), 0.9),
        partial(forgetting.discounted_ts, gamma=0.9),
        moves=False,
        ordered=True,
    ),
    "SWLBSDA": Example(lambda w: db.SWLBSDA(100), forgetting.SWLBSDA(100), ordered=True, several=True),
}
PAIRS |= {
    "Queued UCB1": Example(
        lambda w: db.Queued(db.UCB1(sigma=0.5 * w.unit)), partial(naive.ucb1, sigma=0.5), moves=False, live=False
    ),
    "CountPending UCB1": Example(
        lambda w: db.CountPending(db.UCB1(sigma=0.5 * w.unit)), partial(naive.ucb1, sigma=0.5), moves=False
    ),
}
Changing = partial(Example, moves=False, ordered=True)
QUICK = 0.9, "jmlr", 1  # a GLR that raises alarms after a few rewards
quick = restarting.glr_alarm(0.9, 1.0)
PAIRS |= {
    "Restarting TS": Changing(
        lambda w: db.Restarting(db.ThompsonSampling("bernoulli"), db.GLR(*QUICK)),
        restarting.Restarting(restarting.of(naive.thompson, family="bernoulli"), quick),
        "binary",
    ),
    "Restarting RDS local": Changing(
        lambda w: db.Restarting(db.RDS(), db.CUSUM(2, 0.05, 0.6), exploration=0.2, scope="local"),
        restarting.Restarting(
            restarting.of(naive.rds), restarting.cusum_alarm(2, 0.05, 0.6), restarting.constant(0.2), local=True
        ),
    ),
    "GLRKLUCB": Changing(
        lambda w: db.GLRKLUCB(0.9, threshold="jmlr", every=1), restarting.Restarting(restarting.klucb, quick), "binary"
    ),
    "GLRKLUCB local": Changing(
        lambda w: db.GLRKLUCB(0.9, 0.1, "local", "jmlr", 1, growing=True),
        restarting.Restarting(restarting.klucb, quick, lambda k, since, alarms: 0.1 * (1 + alarms) ** 0.5, local=True),
        "binary",
    ),
    "GLRKLUCB scheduled": Changing(
        lambda w: db.GLRKLUCB(0.9, 0.5, threshold="jmlr", every=1, scheduled=True),
        restarting.Restarting(restarting.klucb, quick, restarting.constant(0.5), scheduled="since the start"),
        "binary",
    ),
    "MUCB": Changing(
        lambda w: db.MUCB(2, horizon=100, segments=2, threshold=0.6, exploration=0.2),
        restarting.Restarting(
            restarting.of(naive.ucb1, sigma=1.0), restarting.mean_shift_alarm(2, 0.6), restarting.constant(0.2)
        ),
    ),
    "MUCB scheduled": Changing(
        lambda w: db.MUCB(4, horizon=100, segments=2, threshold=0.6, exploration=0.4, scheduled=True),
        restarting.Restarting(
            restarting.of(naive.ucb1, sigma=1.0),
            restarting.mean_shift_alarm(4, 0.6),
            restarting.constant(0.4),
            scheduled="since the alarm",
        ),
    ),
    "CUSUMUCB": Changing(
        lambda w: db.CUSUMUCB(100, 3, first=1, threshold=0.5, exploration=0.2),
        restarting.Restarting(
            restarting.of(naive.ucb1, sigma=0.5),
            restarting.cusum_alarm(1, 0.05, 0.5),
            restarting.constant(0.2),
            local=True,
        ),
    ),
    "CUSUMUCB forced": Changing(
        lambda w: db.CUSUMUCB(100, 3, first=2, threshold=0.5, exploration=0.2, forced=True),
        restarting.Restarting(
            restarting.of(naive.ucb1, sigma=0.5),
            restarting.cusum_alarm(2, 0.05, 0.5),
            restarting.constant(0.2),
            local=True,
            first=2,
        ),
    ),
    "EXP3S": Changing(
        lambda w: db.EXP3S(100, 3, alpha=0.05, gamma=0.4), partial(restarting.exp3s, alpha=0.05, gamma=0.4)
    ),
}

# What these add to one family with each policy, to each family with KLUCB and TS, and to the wrappers with other
# policies is no code of their own. In tests/environments/test_late.py, the game inside a queue is compared bit for bit.
CROSSED = {
    f"{name} {family}"
    for name in ("IMED", "MED", "DMED", "UnimodalIMED", "KLUCBPlusPlus")
    for family in ("exponential", "poisson", "gaussian")
} & set(PAIRS) | {"SlidingWindow TS", "Floored RDS", "Restarting TS", "Queued UCB1"}


def default(cases):
    """Leave the cases of ``CROSSED`` examples to the slow tests; a case is a name, or a tuple that begins with it."""
    parts = [(case,) if isinstance(case, str) else case for case in cases]
    return [pytest.param(*part, marks=pytest.mark.slow if part[0] in CROSSED else ()) for part in parts]
