"""Thompson Sampling and upper confidence bounds for the conditional value at risk (CVaR) of the rewards.

The CVaR at a level is the mean of the worst rewards, a share ``level`` of all; level 1 is the mean.

Propensities of B-CVTS and M-CVTS: the CVaR of a reweighted sample is a mixture of crossing probabilities.

The index of M-CVTS has the distribution of that of a sample in which every value occurs once more often than it was
observed, because Dirichlet weights with integer parameters are sums of weights with parameter 1. An index equals the
smallest value with positive probability, when all weight that counts falls on it, so arms may tie there.

In a large sample, few values matter individually: those among which the n + 1 smallest may end. Larger values never
count, and smaller values, which always do, are compressed to a few weighted points. So the cost grows with the square
root of the number of rewards.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit_inline
from dirichlet_bandits.engine.history import History, keeps_cvars, keeps_rewards, rewards
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import implements, index, init, update
from dirichlet_bandits.environments.objective import CVaR, Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.argmax import RandomVariable, Tails, constant, log_binomial
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.cvar import level_of, shortfall_in_the_band
from dirichlet_bandits.numerics.cvar_crossing import log_cvar_tails_beyond, new_base, new_scratch
from dirichlet_bandits.numerics.draws import binomial
from dirichlet_bandits.numerics.tolerances import COMPRESSED_NODES, PANEL_NEGLIGIBLE
from dirichlet_bandits.policies.families import BELOW_A_BOUND
from dirichlet_bandits.policies.index import random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import finite_array, large_count, reward_bound, reward_scale


class BCVTSParams(NamedTuple):
    """The upper bound of the rewards, and the level of the CVaR."""

    upper: float
    level: float


class MCVTSParams(NamedTuple):
    """The values that rewards can have, and the level of the CVaR."""

    support: Floats
    level: float


class UUCBParams(NamedTuple):
    """The upper bound of the rewards, and the level of the CVaR."""

    upper: float
    level: float


class CVaRUCBParams(NamedTuple):
    """The upper bound, the level of the CVaR, and the horizon; 0 for the number of pulls so far."""

    upper: float
    level: float
    horizon: int


class RiskAverse(Policy):
    """A policy that judges an arm by its CVaR."""

    level: float
    example_parameters: ClassVar = {"upper": 1.0, "level": 0.5}

    @property
    def objective(self) -> Objective:
        return CVaR(self.level)


@dataclass(frozen=True)
class BCVTS(RiskAverse):
    """Thompson Sampling for the CVaR of bounded rewards: every arm's rewards and the bound are reweighted at random.

    index = CVaR_level of X_1, ..., X_n, upper with weights w ~ Dirichlet(1, ..., 1), drawn again for every arm at every
    step. With level 1, this is NPTS.

    >>> BCVTS(upper=1.0, level=0.2)
    BCVTS(upper=1.0, level=0.2)

    Reference: Baudry, Gautron, Kaufmann and Maillard, ICML 2021.
    """

    upper: float
    level: float
    assumes: ClassVar[str] = f"{BELOW_A_BOUND}, judged by their CVaR"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Baudry, Gautron et al. (2021)"

    def __post_init__(self) -> None:
        reward_bound("upper", self.upper)
        level_of("level", self.level)

    @property
    def params(self) -> BCVTSParams:
        return BCVTSParams(float(self.upper), float(self.level))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return -math.inf, float(self.upper)


@dataclass(frozen=True)
class MCVTS(RiskAverse):
    """Thompson Sampling for the CVaR of rewards with finitely many known values.

    index = CVaR_level of the values x_1 < ... < x_M with probabilities p ~ Dirichlet(1 + N_1, ..., 1 + N_M), where N_j
    is the number of rewards x_j of the arm. A reward between two of the values counts as the lower one. As with all
    policies here, every arm is pulled once before the first index is drawn.

    >>> MCVTS(support=[0, 0.5, 1], level=0.2)
    MCVTS(support=(0.0, 0.5, 1.0), level=0.2)

    Reference: Baudry, Gautron, Kaufmann and Maillard, ICML 2021.
    """

    support: Sequence[float]
    level: float
    assumes: ClassVar[str] = "rewards with finitely many known values, judged by their CVaR"
    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Baudry, Gautron et al. (2021)"
    example_parameters: ClassVar = {"support": (0.0, 1.0), "level": 0.5}

    def __post_init__(self) -> None:
        values = finite_array("support", self.support)
        if values.size < 2 or not (np.diff(values) > 0.0).all():
            raise ArgumentError("support", "at least two numbers in ascending order", self.support)
        object.__setattr__(self, "support", tuple(float(x) for x in values))
        level_of("level", self.level)

    @property
    def params(self) -> MCVTSParams:
        return MCVTSParams(np.array(self.support), float(self.level))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return float(self.support[0]), float(self.support[-1])


@dataclass(frozen=True)
class UUCB(RiskAverse):
    """The CVaR of an arm's rewards plus a confidence width: CVaR_level(F_k) + upper / level sqrt(log t / N_k).

    >>> UUCB(upper=1.0, level=0.2)
    UUCB(upper=1.0, level=0.2)

    Reference: Cassel, Mannor and Zeevi, COLT 2018; in the form of Baudry, Gautron, Kaufmann and Maillard, ICML 2021.
    """

    upper: float
    level: float
    assumes: ClassVar[str] = "rewards between 0 and a known bound, judged by their CVaR"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Cassel, Mannor and Zeevi (2018)"

    def __post_init__(self) -> None:
        reward_scale("upper", self.upper)
        level_of("level", self.level)

    @property
    def params(self) -> UUCBParams:
        return UUCBParams(float(self.upper), float(self.level))

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return 0.0, float(self.upper)


@dataclass(frozen=True)
class CVaRUCB(RiskAverse):
    """The CVaR of the best distribution in a confidence band around the rewards.

    index = CVaR_level of the distribution function max(F_k(x) - b, 0) below ``upper`` and 1 there, where
    b = sqrt(log(2 T^2) / (2 N_k)) and T is the horizon if it is given, else the number of pulls so far. In other words,
    the worst b of all weight moves to the bound.

    >>> CVaRUCB(upper=1.0, level=0.2)
    CVaRUCB(upper=1.0, level=0.2, horizon=None)

    Reference: Tamkin, Keramati, Dann and Brunskill, NeurIPS 2019 workshop on safety and robustness in decision making.
    """

    upper: float
    level: float
    horizon: int | None = None
    assumes: ClassVar[str] = f"{BELOW_A_BOUND}, judged by their CVaR"
    guarantee: ClassVar[str] = "logarithmic"
    reference: ClassVar[str] = "Tamkin et al. (2019)"

    def __post_init__(self) -> None:
        reward_bound("upper", self.upper)
        level_of("level", self.level)
        if self.horizon is not None:
            large_count("horizon", self.horizon, at_least=1)

    @property
    def params(self) -> CVaRUCBParams:
        return CVaRUCBParams(float(self.upper), float(self.level), self.horizon or 0)

    @property
    def reward_bounds(self) -> tuple[float, float]:
        return -math.inf, float(self.upper)


class ValueCounts(NamedTuple):
    """A tally, its pulls and means, and how often each arm returned each of the values."""

    pulls: Ints
    means: Floats
    tally: Tally
    counts: Ints


keeps_rewards(BCVTSParams, CVaRUCBParams, ordered=True)
keeps_cvars(UUCBParams)


@implements(init, MCVTSParams)
def no_counts(policy: MCVTSParams, n_arms: int) -> ValueCounts:
    """Return empty counts."""
    tally = new_tally(n_arms)
    return ValueCounts(tally.pulls, tally.means, tally, np.zeros((n_arms, policy.support.size), np.int64))


@implements(update, MCVTSParams, random=False)
def count_value(
    policy: MCVTSParams, state: ValueCounts, arm: int, reward: float, rng: np.random.Generator
) -> ValueCounts:
    """Count the reward as the largest value that does not exceed it."""
    j = policy.support.size - 1
    while j > 0 and policy.support[j] > reward:
        j -= 1
    state.counts[arm, j] += 1
    count(state.tally, arm, reward)
    return state


@implements(index, BCVTSParams)
def resampled_cvar(
    policy: BCVTSParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the mean of the n + 1 smallest values, n binomial, with exponentials over their sum as weights.

    This has the distribution of the CVaR of all values with Dirichlet weights (``numerics/cvar_crossing.py``), at a
    cost of about ``level`` times their number. Excesses over the smallest value keep ties exact.
    """
    x = rewards(state, arm)
    n = binomial(x.size, policy.level, rng)
    return x[0] + mean_excess(x, 0, n, policy.upper, x[0], 0.0, 0.0, rng)


@jit_inline
def mean_excess(
    x: Floats, first: int, n: int, upper: float, least: float, weights: float, excess: float, rng: np.random.Generator
) -> float:
    """Return the weighted mean excess over ``least`` of the n + 1 smallest values; the bound is the last value.

    ``weights`` and ``excess`` are the sums for the first values, which are already weighted.
    """
    for i in range(first, min(n + 1, x.size)):
        weight = rng.standard_exponential()
        weights += weight
        excess += weight * (x[i] - least)
    if n == x.size:
        weight = rng.standard_exponential()
        weights += weight
        excess += weight * (upper - least)
    return excess / weights


@implements(index, MCVTSParams)
def posterior_cvar(
    policy: MCVTSParams, state: ValueCounts, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return a draw of the CVaR from its posterior.

    The probabilities are drawn one after the other, each as a share of the rest, until the level is reached.
    """
    support, counts = policy.support, state.counts
    others, left, room, excess = float(support.size + state.pulls[arm]), 1.0, policy.level, 0.0
    for j in range(support.size):
        weight = 1.0 + counts[arm, j]
        others -= weight
        chance = left * rng.beta(weight, others) if j < support.size - 1 else left
        taken = min(chance, room)
        excess += taken * (support[j] - support[0])
        left -= chance
        room -= taken
        if room <= 0.0:
            break
    return support[0] + excess / policy.level


@implements(index, UUCBParams)
def cvar_and_width(
    policy: UUCBParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index CVaR_level(F_k) + upper / level sqrt(log t / N_k)."""
    return state.means[arm] + policy.upper / policy.level * math.sqrt(math.log(total) / state.pulls[arm])


@implements(index, CVaRUCBParams)
def cvar_in_the_band(
    policy: CVaRUCBParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return CVaR_level of max(F_k - b, 0) below the bound, b = sqrt(log(2 T^2) / (2 N_k))."""
    x, end = rewards(state, arm), policy.horizon if policy.horizon > 0 else total
    b = math.sqrt(math.log(2.0 * end * end) / (2.0 * x.size))
    return policy.upper - shortfall_in_the_band(x, policy.upper, policy.level, b) / policy.level


_UNDERFLOW: Final = -150.0  # tails below exp(-150) = 1e-65 count as 0: such a pull will never occur
_FEW: Final = 24  # with at most so many values, the distribution is a spline with knots that matter

_BLOCK: Final = 2 * COMPRESSED_NODES  # fewer values are not compressed


def resampled_cvar_propensities(policy: BCVTS, state: History) -> Floats:
    """Return the propensities of B-CVTS.

    The origin is the largest of the arms' smallest rewards.

    Only indices above that number can be the largest, and arms may differ by little just above it; with another origin,
    the integral would lose those digits.
    """
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = max(x[0] for x in every)
    return random_index_propensities(
        [reweighted_cvar(np.append(x, policy.upper) - origin, float(policy.level)) for x in every]
    )


def posterior_cvar_propensities(policy: MCVTS, state: ValueCounts) -> Floats:
    """Return the propensities of M-CVTS, where every value counts once more often than it was observed."""
    support = np.array(policy.support) - policy.support[0]
    return random_index_propensities(
        [reweighted_cvar(np.repeat(support, 1 + counts), float(policy.level)) for counts in state.counts]
    )


def reweighted_cvar(x: Floats, level: float) -> RandomVariable:
    """Return the distribution of the CVaR of ordered values with Dirichlet(1, ..., 1) weights.

    It is treated as constant if it differs from the smallest value with a probability below the last bit of 1.
    Otherwise, center and width are those of the part that differs.
    """
    log_chances = log_binomial(x.size - 1, level)
    seen = int(np.flatnonzero(log_chances >= _UNDERFLOW)[-1]) + 1  # more values than these hardly ever take part
    highest, x, log_chances = float(x[-1]), x[:seen], log_chances[:seen]
    chances, sizes = np.where(x > x[0], np.exp(log_chances), 0.0), np.arange(1.0, x.size + 1.0)
    moves = float(chances.sum())
    if moves < PANEL_NEGLIGIBLE:
        return constant(float(x[0]))
    chances /= moves
    # Given n: the mean of n + 1 values, and their variance over n + 2.
    means = np.cumsum(x) / sizes
    spreads = np.maximum(np.cumsum(x * x) / sizes - means**2, 0.0) / (sizes + 1.0)
    center = float(chances @ means)
    width = math.sqrt(float(chances @ (spreads + (means - center) ** 2)))
    if not width > 0.0:  # of values that differ in the last bits, or too rarely
        width = highest - float(x[0])
    count = float(chances @ sizes)
    knots = np.unique(x[: 2 * _FEW]) if count <= _FEW else x[:1]
    always = int(np.flatnonzero(log_chances >= _UNDERFLOW)[0])  # so many values nearly always take part
    points, weights = compress(x[:always], np.empty(0)) if always > _BLOCK else (np.empty(0), np.empty(0))
    first = always if points.size else 0
    tails: Tails = functools.partial(_tails, points, weights, x[first:], log_chances[first:], float(x[0]))
    rounding = 100.0 * math.sqrt(x.size) * float(np.finfo(np.float64).eps)
    return RandomVariable(center, width, tails, np.append(knots, highest), rounding, float(x[0]))


def _tails(
    points: Floats, weights: Floats, x: Floats, log_chances: Floats, least: float, v: Floats
) -> tuple[Floats, Floats]:
    log_below, log_above = np.empty(v.shape), np.empty(v.shape)
    _fill(points, weights, x, log_chances, least, np.ascontiguousarray(v), log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@entry_point
def _fill(
    points: Floats,
    weights: Floats,
    x: Floats,
    log_chances: Floats,
    least: float,
    v: Floats,
    log_below: Floats,
    log_above: Floats,
) -> None:
    """Write the logarithms of P(index <= v) and P(index > v) at each v; an entry point.

    Weighted points replace the values that always count; ``least`` is the smallest value of all.
    """
    base, offsets, work = new_base(points.size), np.empty(x.size), new_scratch(x.size)
    for i in range(points.size):
        base.weights[i] = weights[i]
    for row in range(v.shape[0]):
        for j in range(v.shape[1]):
            if v[row, j] == least:  # it has a probability of its own
                chance = 0.0
                for n in range(x.size):
                    if x[n] == least:
                        chance += math.exp(log_chances[n])
                log_below[row, j], log_above[row, j] = math.log(chance), math.log(max(1.0 - chance, 0.0))
                continue
            for i in range(points.size):
                base.offsets[i] = points[i] - v[row, j]
            for i in range(x.size):
                offsets[i] = x[i] - v[row, j]
            log_below[row, j], log_above[row, j] = log_cvar_tails_beyond(base, offsets, log_chances, _UNDERFLOW, work)
