"""Non-Parametric Thompson Sampling (Riou and Honda, ALT 2020).

The distribution of the index of NPTS: a Dirichlet-weighted mean of rewards and their bound.

The Dirichlet parameters need not be 1, so the same functions serve discounted rewards.

Propensities of NPTS: the probability that each arm's reweighted mean is the largest.

The density of each reweighted mean is kept in a table, which is made again when its arm has a new reward
(``numerics/resampled_means.py``). A few samples resist, such as many rewards of which some are far larger than the
others. Then the distribution functions are integrated instead, which takes far longer, from samples that are
compressed to a few weighted points if they are large.

NPTS in which rewards have weights: Dirichlet parameters other than 1.

Discounted rewards (experimental) are handled by compiled code, past rewards of a live study (``live/settings.py``) in
plain Python, with one pass over all rewards per decision.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from dirichlet_bandits.compiler import Direct, borrowed, entry_point, jit
from dirichlet_bandits.engine.history import History, keeps_rewards, rewards
from dirichlet_bandits.engine.verbs import implements, index, specialized
from dirichlet_bandits.numerics.argmax import RandomVariable, Tails, constant
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.contour import build, evaluate, make
from dirichlet_bandits.numerics.crossing import log_crossing, saddle
from dirichlet_bandits.numerics.resampled_means import ResampledMeans, largest_mean, new_means
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR, PROPENSITY_DEFECT
from dirichlet_bandits.policies.families import BoundedAbovePolicy
from dirichlet_bandits.policies.index import larger, random_index_propensities
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.policies.ring import Ring, discounted_samples, select_discounted
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats


class NPTSParams(NamedTuple):
    """The upper bound of the rewards."""

    upper: float


@dataclass(frozen=True)
class NPTS(BoundedAbovePolicy):
    """Thompson Sampling without a model: every arm's rewards and the bound are reweighted at random.

    index = sum_i w_i X_i + w_{n+1} upper, w ~ Dirichlet(1, ..., 1), drawn again for every arm at every step.

    >>> NPTS(upper=1.0)
    NPTS(upper=1.0)

    Reference: Riou and Honda, ALT 2020.
    """

    guarantee: ClassVar[str] = "optimal"
    reference: ClassVar[str] = "Riou and Honda (2020)"

    @property
    def params(self) -> NPTSParams:
        return NPTSParams(float(self.upper))


keeps_rewards(NPTSParams)


@implements(index, NPTSParams)
def resampled_mean(
    policy: NPTSParams, state: History, arm: int, total: int, best_mean: float, rng: np.random.Generator
) -> float:
    """Return the index; Dirichlet weights are exponentials over their sum, and shortfalls keep ties exact."""
    weights = rng.standard_exponential()
    shortfall = 0.0
    for value in rewards(state, arm):
        weight = rng.standard_exponential()
        weights += weight
        shortfall += weight * (policy.upper - value)
    return policy.upper - shortfall / weights


_UNDERFLOW: Final = -746.0  # the logarithm of what is 0 in double precision
_KNOTS_THAT_MATTER: Final = 16  # with fewer distinct values, the distribution is a spline with knots that matter
_WHOLE: Final = 1e-11  # a relative distance to a whole number that only rounding can explain


def resampled_index(points: Floats, weights: Floats, upper: float) -> RandomVariable:
    """Return the distribution of the index of NPTS for a sample, compressed if the sample is large."""
    knots = np.unique(points)
    points, weights = np.append(points, upper), np.append(weights, 1.0)
    if knots[0] == upper:
        return constant(upper)
    total = weights.sum()
    center = float(weights @ points / total)
    offsets = points - center
    unit = 2.0 ** math.frexp(np.abs(offsets).max())[1]  # exact, and squares of tiny rewards do not vanish
    width = unit * math.sqrt(weights @ (offsets / unit) ** 2 / total / (total + 1.0))
    if knots.size > _KNOTS_THAT_MATTER:
        knots = knots[:1]  # smooth elsewhere: at a value, there are as many derivatives as other values
    tails: Tails = functools.partial(crossing_tails, points, weights, center)
    # Logarithms of n factors near 1, each about 1/sqrt(n) from it, are summed and cancel.
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return RandomVariable(center, width, tails, np.append(knots, upper), rounding)


def crossing_tails(points: Floats, weights: Floats, center: float, v: Floats) -> tuple[Floats, Floats]:
    """Return P(index <= v) and P(index > v) for rows of v; the last point is the bound."""
    log_above, log_below = np.empty(v.shape), np.empty(v.shape)
    contour = make.py_func(1)[0]  # type: ignore[attr-defined]
    _fill(points, weights, center, np.ascontiguousarray(v), contour, log_below, log_above)
    return np.exp(log_below), np.exp(log_above)


@jit
def log_ceiling(offsets: Floats, weights: Floats) -> float:
    """Return a Chernoff bound: log P(sum_i a_i G_i >= 0) <= -sum_i w_i log(1 - s a_i) for all s in [0, 1/max a]."""
    top = offsets.max()
    if top <= 0.0:
        return -np.inf if top < 0.0 else 0.0
    e, _ = saddle(offsets, weights, top)
    total, scale = 0.0, top * (1.0 + e)
    for i in range(offsets.size):  # a product of arrays would import a large part of SciPy
        total -= weights[i] * math.log1p(-offsets[i] / scale)
    return total


@entry_point
def _fill(
    points: Floats, weights: Floats, center: float, v: Floats, contour: Any, log_below: Floats, log_above: Floats
) -> None:
    """Write the logarithms of both tails of the index at each v; an entry point.

    In each row, that of the event or of its complement is computed, whichever is the rarer.
    """
    sign = 0.0
    for row in range(v.shape[0]):
        held, sign = sign, 1.0 if 0.5 * (v[row, 0] + v[row, -1]) > center else -1.0
        nearest = v[row, 0] if sign > 0.0 else v[row, -1]
        rare, rest = (log_above[row], log_below[row]) if sign > 0.0 else (log_below[row], log_above[row])
        if log_ceiling(sign * (points - nearest), weights) < _UNDERFLOW:
            rare[:], rest[:], sign = -np.inf, 0.0, held
            continue
        _cover(contour, sign * points, weights, sign * v[row], sign != held)
        for j in range(v.shape[1]):
            log_p, error = evaluate(contour, sign * v[row, j], sign * points[-1])
            if not error <= CONTOUR_ERROR:
                log_p = log_crossing(sign * (points - v[row, j]), weights)
            rare[j], rest[j] = log_p, np.log(-np.expm1(min(log_p, 0.0)))


@jit
def _cover(contour: Any, points: Floats, weights: Floats, v: Floats, other_side: bool) -> None:
    """Build the contour again unless it belongs to this side and is accurate from the first to the last v."""
    n, bound = points.size - 1, points[-1]
    at_first, at_last = evaluate(contour, v[0], bound)[1], evaluate(contour, v[-1], bound)[1]
    if other_side or not max(at_first, at_last) <= CONTOUR_ERROR:
        build(contour, points[:n], weights[:n], bound, 0.5 * (v[0] + v[-1]))
        whole = np.round(contour.total)
        if abs(contour.total - whole) <= _WHOLE * whole:
            contour.total = whole  # a whole power is the cheapest


def resampling_propensities(policy: NPTS, state: History) -> Floats:
    """Return the propensities, from tables that are made for this call."""
    return TabulatedIndices(policy, state.pulls.size).propensities(state)


class TabulatedIndices:
    """Propensities in a growing study, from tables of the densities of all indices."""

    def __init__(self, policy: Policy, n_arms: int) -> None:
        (self._upper,) = policy.params
        self._means: ResampledMeans = new_means(n_arms)
        self._chances = np.empty(n_arms)
        self._write = Direct(lambda: write_chances)

    def propensities(self, state: History) -> Floats:
        """Return the propensities from the tables, or from distribution functions if there are none."""
        if self._write(self._means, state, self._upper, self._chances):
            return self._chances.copy()
        return from_distribution_functions(state, self._upper)

    def without_compiling(self, state: History) -> Floats | None:
        """Return the propensities if there are tables, or None if this would compile something."""
        if self._write.is_compiled and self._write(self._means, state, self._upper, self._chances):
            return self._chances.copy()
        return None


@entry_point
def write_chances(means: ResampledMeans, state: History, upper: float, chances: Floats) -> bool:
    """Write the propensities to ``chances`` and return True, or return False if the tables cannot give them."""
    if not largest_mean(borrowed(means), state.pool, state.start, state.pulls, upper, chances):
        return False
    total = chances.sum()
    chances /= total
    return abs(total - 1.0) <= PROPENSITY_DEFECT


def from_distribution_functions(state: History, upper: float) -> Floats:
    """Return the propensities from crossing probabilities: P(index > v) for rewards and the bound.

    The very first reward is subtracted from all rewards, to keep digits far from 0.
    """
    every = [rewards.py_func(state, arm) for arm in range(state.pulls.size)]  # type: ignore[attr-defined]
    origin = every[0][0]
    samples = [compress(x - origin, np.empty(0)) for x in every]
    return random_index_propensities([resampled_index(*sample, float(upper - origin)) for sample in samples])


_FEW: Final = 16  # with more distinct values, the distribution is smooth enough at most of them


@jit
def log_gamma_draw(weight: float, rng: np.random.Generator) -> float:
    """Return the logarithm of a gamma variable, which itself would often underflow if the weight is small.

    A variable of shape w is one of shape w + 1 times U^(1/w), where U is uniform.
    """
    if weight >= 1.0:
        return math.log(rng.standard_gamma(weight))
    return math.log(rng.standard_gamma(weight + 1.0)) - rng.standard_exponential() / weight


@jit
def minus_log_shortfall(values: Floats, weights: Floats, upper: float, rng: np.random.Generator) -> float:
    """Return -log(upper - index) for a newly drawn index.

    It is larger if the index is, and infinite if all values equal ``upper``.
    """
    total, top, scaled = rng.standard_exponential(), -math.inf, 0.0
    for i in range(values.size):
        log = log_gamma_draw(weights[i], rng)
        total += math.exp(log)
        if values[i] < upper:
            log += math.log(upper - values[i])
            if log > top:
                scaled = scaled * math.exp(top - log) + 1.0
                top = log
            else:
                scaled += math.exp(log - top)
    return math.log(total) - top - math.log(scaled) if scaled > 0.0 else math.inf


@implements(select_discounted, NPTSParams)
def select_resampled(inner: NPTSParams, policy: Any, ring: Ring, rng: np.random.Generator) -> int:
    """Return the arm with the largest index."""
    values, weights, first = discounted_samples(policy, ring)
    best, largest, ties = 0, -math.inf, 0
    for arm in range(ring.pulls.size):
        own = slice(first[arm], first[arm + 1])
        value = minus_log_shortfall(values[own], weights[own], inner.upper, rng)
        best, largest, ties = larger(best, largest, ties, arm, value, rng)
    return best


def discounted_indices(policy: Any, ring: Ring) -> Floats:
    """Return the propensities of discounted NPTS, the wrapping policy that is given."""
    values, weights, first = specialized(discounted_samples, policy.params)(policy.params, ring)
    parts = [slice(*ends) for ends in pairwise(first.tolist())]
    return resampled_propensities([(policy.policy.upper - values[part], weights[part]) for part in parts])


def resampled_propensities(samples: list[tuple[Floats, Floats]]) -> Floats:
    """Return each arm's probability of having the smallest reweighted shortfall, from shortfalls and weights.

    An arm whose rewards all equal the bound has a shortfall of 0, and shares the decision with other such arms.
    """
    perfect = np.array([not shortfalls.any() for shortfalls, _ in samples])
    if perfect.any():
        return perfect / perfect.sum()
    return random_index_propensities([log_shortfall(*sample) for sample in samples])


def log_shortfall(shortfalls: Floats, weights: Floats) -> RandomVariable:
    """Return the distribution of Z = -log S, where S is the reweighted shortfall of an arm from the bound.

    With total weight a of the positive shortfalls, P(S <= s) is proportional to s^a near 0, so the logarithm is a
    smooth variable even where a is small. The power is exact below the smallest shortfall if no reward equals the
    bound; otherwise, it has a relative error below 1e-12 where it is used.
    """
    points, masses = compress(-shortfalls, weights)
    points, masses = np.append(points, 0.0), np.append(masses, 1.0)
    positive = points < 0.0
    a, total, least = float(masses[positive].sum()), float(masses.sum()), float(-points[positive].max())
    end = least if shortfalls.min() > 0.0 else 1e-12 * least
    center = float(masses @ -points / total)
    deviation = math.sqrt(float(masses @ np.square(points + center)) / total / (total + 1.0)) / center
    above_end = float(crossing_tails(points, masses, -center, np.array([[-end]]))[1][0, 0])

    def tails(z: Floats) -> tuple[Floats, Floats]:
        inside = np.clip(z, math.log(-1.0 / points.min()), -math.log(end))  # S is not above the largest shortfall
        below, above = crossing_tails(points, masses, -center, -np.exp(-inside))
        power = above_end * np.exp(-a * np.maximum(z + math.log(end), 0.0))
        far = z > -math.log(end)
        return np.where(far, 1.0 - power, below), np.where(far, power, above)

    knots = np.unique(-points[positive])
    knots = -np.log(np.append(knots if knots.size <= _FEW else knots[[0, -1]], end))
    rounding = 10.0 * math.sqrt(total) * float(np.finfo(np.float64).eps)
    return RandomVariable(-math.log(center), max(deviation, 1.0 / a if a < 1.0 else 0.0), tails, knots, rounding)


class WeightedIndices(WeightedRewards):
    """NPTS with Dirichlet parameters other than 1: its decisions and their propensities.

    With weight 1, it equals the compiled policy (a test compares them).
    """

    def __init__(self, policy: NPTS, past: Sequence[Floats], weight: float) -> None:
        super().__init__(past, weight)
        self._upper = float(policy.upper)

    def propensities(self) -> Floats:
        """Return the probability that each arm is pulled next."""
        samples = [self.sample(arm) for arm in range(len(self._x))]
        return resampled_propensities([(self._upper - x, w) for x, w in samples])

    def select(self, rng: np.random.Generator) -> list[int]:
        """Return the arm whose reweighted mean is the largest."""
        values = np.array([self._value(arm, rng) for arm in range(len(self._x))])
        return [int(rng.choice(np.flatnonzero(values == values.max())))]

    def _value(self, arm: int, rng: np.random.Generator) -> float:
        """Return minus the logarithm of the reweighted shortfall from the bound."""
        x, w = self.sample(arm)
        # A gamma variable of shape w is one of shape w + 1 times U^(1/w): as a logarithm, it does not underflow.
        logs = np.log(rng.standard_gamma(w + 1.0)) - rng.standard_exponential(x.size) / w
        total = np.logaddexp.reduce([*logs, np.log(rng.standard_exponential())])
        short = x < self._upper
        if not short.any():
            return np.inf
        return float(total - np.logaddexp.reduce(logs[short] + np.log(self._upper - x[short])))
