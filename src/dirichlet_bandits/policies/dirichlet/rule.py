"""Dirichlet Sampling: BDS, RDS and QDS (Baudry, Saux and Maillard, NeurIPS 2021).

A challenger with rewards ``X_1..X_n`` faces the leader's mean m. It wins at once if its own mean reaches m. Otherwise,
it wins if its index does, a random reweighting of its rewards and an exploration bonus:

    sum_i w_i X_i + w_{n+1} bonus >= m,    w ~ Dirichlet(1, ..., 1)

With unit exponentials E_i in place of the weights, this is ``sum_i E_i (X_i - m) + E_{n+1} (bonus - m) >= 0``. The
three policies differ in their bonus, which is built on

    B(X, m, rho) = m + rho * mean_i (m - X_i)^+                                   (eq. 5)

Dirichlet Sampling for CVaR, without a bound on the rewards: ``RDS(level=...)``. Experimental; no theorem covers it.

A challenger with rewards X_1 <= ... <= X_n faces the leader's CVaR m. It wins at once if its own CVaR reaches m.
Otherwise, it wins if its index does: the CVaR of its rewards and of the bonus of RDS,

    bonus = m + rho_n * mean_i (m - X_i)^+,

with weights w ~ Dirichlet(1, ..., 1). This index has the distribution of the mean of the k + 1 smallest of the n + 1
values, with independent weights and k ~ Binomial(n, level) (``numerics/cvar_crossing.py``). So a duel costs about level
* n exponentials, and the probability of winning is exact. Unlike a bound, the bonus may lie among the rewards; it then
takes its place in their order.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import jit, jit_sum
from dirichlet_bandits.engine.history import History, keeps_cvars, keeps_rewards, rewards
from dirichlet_bandits.engine.verbs import duel, implements, select, verb
from dirichlet_bandits.environments.objective import CVaR, Mean, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.arrays import partition, scaled, set_all, with_last
from dirichlet_bandits.numerics.compensated import two_sum
from dirichlet_bandits.numerics.cvar import level_of
from dirichlet_bandits.numerics.cvar_crossing import log_cvar_crossing
from dirichlet_bandits.numerics.tolerances import QUANTILE_SLACK
from dirichlet_bandits.policies.families import BELOW_A_BOUND
from dirichlet_bandits.policies.growth import GROWTHS, slow_growth
from dirichlet_bandits.policies.interface import Policy, choice
from dirichlet_bandits.policies.rounds import duel_round, incremental_win_probability, win_probability
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number, positive_number, reward_bound

_PAPER = "Baudry, Saux and Maillard (2021)"
_SHORT = 6  # values of a tail that are found one by one


class BDSParams(NamedTuple):
    """The parameters of BDS; ``upper`` is infinite when the bound is not known but detectable."""

    upper: float
    rho: float
    gamma: float


class RDSParams(NamedTuple):
    """The growth of the sequence rho_n."""

    growth: int


class RiskRDSParams(NamedTuple):
    """The growth of the sequence rho_n, and the level of the CVaR."""

    growth: int
    level: float


class QDSParams(NamedTuple):
    """The leverage, and the share of the upper tail that is summarized by its mean."""

    rho: float
    alpha: float


@dataclass(frozen=True)
class BDS(Policy):
    """Bounded Dirichlet Sampling, for rewards below a bound that is known or that samples come near.

    If the bound is known, use ``BDS(upper=...)``, with bonus = upper. If the bound is detectable, use ``BDS(rho=...,
    gamma=...)``, with bonus = max(max X + gamma, B(X, m, rho)). If a reward falls within gamma of the bound with
    probability p, the theory requires ``rho >= -1 / log(1 - p)``. Both proofs also assume some lower bound.

    >>> BDS(upper=1.0)
    BDS(upper=1.0, rho=None, gamma=None)

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, Theorem 2.
    """

    upper: float | None = None
    rho: float | None = None
    gamma: float | None = None
    assumes: ClassVar[str] = f"{BELOW_A_BOUND}; logarithmic with a detectable one and a large enough rho"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = _PAPER
    example_parameters: ClassVar = {"upper": 1.0}

    def __post_init__(self) -> None:
        if self.upper is not None:
            reward_bound("upper", self.upper)
            if self.rho is not None or self.gamma is not None:
                raise ArgumentError("upper", "given alone, without rho and gamma", self.upper)
        elif self.rho is None or self.gamma is None:
            raise ArgumentError("upper", "given, or else both rho and gamma", None)
        else:
            positive_number("rho", self.rho)
            positive_number("gamma", self.gamma)

    @property
    def params(self) -> BDSParams:
        upper = math.inf if self.upper is None else self.upper
        return BDSParams(float(upper), float(self.rho or 0.0), float(self.gamma or 0.0))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return -math.inf, self.params.upper


@dataclass(frozen=True)
class RDS(Policy):
    """Robust Dirichlet Sampling, for any light-tailed rewards, with nothing to tune.

    Bonus = B(X, m, rho_n), where n is the number of rewards of the challenger and rho_n is ``sqrt(log(1+n))``,
    ``log(1+n)`` or ``log(1+n)^2``.

    With a ``level``, arms are judged by their CVaR, without any bound on the rewards: m is the leader's CVaR, and the
    index is the CVaR of the reweighted rewards and bonus. This is experimental, and no
    theorem covers it.

    >>> RDS(), RDS(level=0.2)
    (RDS(rho='sqrt-log', level=None), RDS(rho='sqrt-log', level=0.2))

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, Theorem 4; for the reweighted CVaR, Baudry, Gautron, Kaufmann
    and Maillard, ICML 2021.
    """

    rho: Literal["sqrt-log", "log", "log2"] = "sqrt-log"
    level: float | None = field(default=None, metadata={"later": True})
    assumes: ClassVar[str] = "light tails; nothing to tune; experimental with a level for CVaR, nothing proved"
    guarantee: ClassVar[str] = "almost logarithmic"
    reference: ClassVar[str] = _PAPER

    def __post_init__(self) -> None:
        choice("rho", self.rho, GROWTHS)
        if self.level is not None:
            level_of("level", self.level)

    @property
    def params(self) -> RDSParams | RiskRDSParams:
        growth = GROWTHS[self.rho]
        if self.level is None or self.level == 1:
            return RDSParams(growth)
        return RiskRDSParams(growth, float(self.level))

    @property
    def objective(self) -> Objective:
        return Mean() if self.level is None else CVaR(self.level)


@dataclass(frozen=True)
class QDS(Policy):
    """Quantile Dirichlet Sampling, for unbounded rewards under a mild condition on an upper quantile.

    The largest rewards, from rank ``q = ceil(n (1 - alpha))`` on, are replaced by their mean C, whose Dirichlet weight
    is the number of rewards that it replaces. The bonus is B(X, m, rho) of the original rewards. The theory requires
    ``rho >= (1 + alpha) / alpha^2``; the paper's experiments use 4.

    >>> QDS(rho=4, alpha=0.05)
    QDS(rho=4, alpha=0.05)

    Reference: Baudry, Saux and Maillard, NeurIPS 2021, Theorem 3.
    """

    rho: float = 4.0
    alpha: float = 0.05
    assumes: ClassVar[str] = "bounded below, with a condition on an upper quantile; the proof requires a larger rho"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = _PAPER

    def __post_init__(self) -> None:
        positive_number("rho", self.rho)
        if not 0 < finite_number("alpha", self.alpha) < 1:
            raise ArgumentError("alpha", "a level between 0 and 1", self.alpha)

    @property
    def params(self) -> QDSParams:
        return QDSParams(float(self.rho), float(self.alpha))


@jit_sum
def mean_shortfall(x: Floats, m: float) -> float:
    """Return mean_i (m - x_i)^+, the mean shortfall of the rewards from m."""
    total = 0.0
    for i in range(x.size):
        total += m - min(x[i], m)
    return total / x.size


@verb
def bonus(policy: Any, n: int, largest: float, shortfall: float, m: float) -> Any:
    """Return a challenger's exploration bonus from the number of rewards, the largest, and the mean shortfall at m."""


@implements(bonus, BDSParams)
def bds_bonus(policy: BDSParams, n: int, largest: float, shortfall: float, m: float) -> float:
    """Return the known bound, or eq. (6)."""
    return policy.upper if policy.upper < math.inf else max(largest + policy.gamma, m + policy.rho * shortfall)


@implements(bonus, RDSParams, RiskRDSParams)
def rds_bonus(policy: Any, n: int, largest: float, shortfall: float, m: float) -> float:
    """Return eq. (5) with a leverage that grows with n."""
    return m + slow_growth(policy.growth, 1.0 + n) * shortfall


@implements(bonus, QDSParams)
def qds_bonus(policy: QDSParams, n: int, largest: float, shortfall: float, m: float) -> float:
    """Return eq. (5)."""
    return m + policy.rho * shortfall


@jit
def bonus_of(policy: Any, state: History, challenger: int, m: float) -> float:
    """Return the challenger's bonus at m, with one pass over its rewards."""
    x = rewards(state, challenger)
    return bonus(policy, x.size, state.highs[challenger], mean_shortfall(x, m), m)


@jit
def rank_of_tail(n: int, alpha: float) -> int:
    """Return the rank (from 1, ascending) at which the upper tail of QDS begins."""
    return max(math.ceil(n * (1.0 - alpha) - QUANTILE_SLACK), 1)


@jit
def split_tail(x: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return the rewards below the tail, and the tail with its smallest value first."""
    rank = rank_of_tail(x.size, alpha)
    parted = scaled(x, 1.0)
    if x.size - rank >= _SHORT and rank > 1:
        partition(parted, rank - 1)
        return parted[: rank - 1], parted[rank - 1 :]
    for end in range(x.size - 1, rank - 2, -1):  # for a short tail quicker: the largest of the rest to the end
        largest = 0
        for i in range(1, end + 1):
            if parted[i] > parted[largest]:
                largest = i
        parted[largest], parted[end] = parted[end], parted[largest]
    return parted[: rank - 1], parted[rank - 1 :]


@jit
def tail_mean(tail: Floats) -> float:
    """Return the mean of a tail.

    The sum is rounded once, so the result does not depend on the order of the values: a stored contour can remove
    exactly what was added.
    """
    total, rest = 0.0, 0.0
    for value in tail:
        total, carry = two_sum(total, value)
        rest += carry
    return (total + rest) / tail.size


@verb
def reweighted(policy: Any, x: Floats) -> Any:
    """Return what a duel reweights besides the bonus: values and Dirichlet weights (empty if all are 1)."""


@implements(reweighted, BDSParams, RDSParams)
def all_rewards(policy: Any, x: Floats) -> tuple[Floats, Floats]:
    """Return the rewards unchanged."""
    return x, np.empty(0)


@implements(reweighted, QDSParams)
def truncated_rewards(policy: QDSParams, x: Floats) -> tuple[Floats, Floats]:
    """Return the rewards below the tail, and the tail's mean with the weight of the tail."""
    below, tail = split_tail(x, policy.alpha)
    weights = np.empty(below.size + 1)
    set_all(weights, 1.0)
    weights[-1] = tail.size
    return with_last(below, tail_mean(tail)), weights


@implements(duel, BDSParams, RDSParams, QDSParams)
def resampling_duel(policy: Any, state: History, challenger: int, leader: int, rng: np.random.Generator) -> bool:
    """Whether the challenger's mean, or else its index, reaches the leader's mean."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return True
    values, weights = reweighted(policy, rewards(state, challenger))
    total, n = (bonus_of(policy, state, challenger, m) - m) * rng.standard_exponential(), values.size
    if weights.size > 0:  # the tail of QDS, the only weight that is not 1, comes last
        n -= 1
        total += (values[n] - m) * rng.standard_gamma(weights[n])
    for value in values[:n]:
        total += (value - m) * rng.standard_exponential()
    return total >= 0.0


keeps_rewards(BDSParams, RDSParams, QDSParams)
implements(select, BDSParams, RDSParams, QDSParams)(duel_round)


@implements(duel, RiskRDSParams)
def reweighted_cvar_duel(
    policy: RiskRDSParams, state: History, challenger: int, leader: int, rng: np.random.Generator
) -> bool:
    """Whether the challenger's CVaR, or else its index, reaches the leader's CVaR."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return True
    x = rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    total, i = 0.0, 0
    for _ in range(rng.binomial(x.size, policy.level) + 1):
        if i == x.size or b < x[i]:  # the bonus has its turn, once
            value, b = b, math.inf
        else:
            value = x[i]
            i += 1
        total += (value - m) * rng.standard_exponential()
    return total >= 0.0


@jit
def offsets_with_bonus(x: Floats, b: float, m: float) -> Floats:
    """Return the offsets from m of the ordered rewards, with the bonus in its place."""
    offsets = np.empty(x.size + 1)
    i = x.size
    while i > 0 and x[i - 1] > b:
        offsets[i] = x[i - 1] - m
        i -= 1
    offsets[i] = b - m
    for j in range(i):
        offsets[j] = x[j] - m
    return offsets


@implements(win_probability, RiskRDSParams)
def cvar_crossing_win(policy: RiskRDSParams, state: History, challenger: int, leader: int) -> float:
    """Return 1 if the challenger's CVaR reaches the leader's, else the probability that its index does."""
    m = state.means[leader]
    if state.means[challenger] >= m:
        return 1.0
    x = rewards(state, challenger)
    b = bonus_of(policy, state, challenger, m)
    return math.exp(log_cvar_crossing(offsets_with_bonus(x, b, m), policy.level))


@implements(incremental_win_probability, RiskRDSParams)
def cvar_crossing_win_anew(policy: RiskRDSParams, state: History, challenger: int, leader: int, memory: Any) -> float:
    """Return the probability of winning, computed from scratch because nothing is stored."""
    return cvar_crossing_win(policy, state, challenger, leader)


keeps_cvars(RiskRDSParams)
implements(select, RiskRDSParams)(duel_round)
