"""NPTS with Dirichlet parameters other than 1, and the distribution of its index for any of them.

Discounted rewards (experimental) are handled by compiled code, past rewards of a live study (``live/warm_start.py``) in
plain Python, with one pass over all rewards per decision.
"""

import functools
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import entry_point, jit
from dirichlet_bandits.engine.verbs import implements, specialized
from dirichlet_bandits.numerics.argmax import RandomVariable, Tails, constant
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.numerics.contour import build, evaluate, make
from dirichlet_bandits.numerics.crossing import log_crossing
from dirichlet_bandits.numerics.saddle import saddle
from dirichlet_bandits.numerics.tolerances import CONTOUR_ERROR
from dirichlet_bandits.policies.index import larger, random_index_propensities
from dirichlet_bandits.policies.npts.rule import NPTS, NPTSParams
from dirichlet_bandits.policies.ring import Ring, discounted_samples, select_discounted
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats

_UNDERFLOW: Final = -746.0  # the logarithm of what is 0 in double precision
_FEW: Final = 16  # with fewer distinct values, the distribution is a spline with knots that matter
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
    if knots.size > _FEW:
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
    """Write the logarithms of both tails of the index at each v; an entry point."""
    n, held = points.size - 1, 0.0
    for row in range(v.shape[0]):
        # Of the event or of its complement, whichever is the rarer; one contour serves a row, and maybe the next.
        first, last, bound = v[row, 0], v[row, -1], points[n]
        sign = 1.0 if 0.5 * (first + last) > center else -1.0
        if log_ceiling(sign * (points - (first if sign > 0.0 else last)), weights) < _UNDERFLOW:
            log_above[row], log_below[row] = (-np.inf, 0.0) if sign > 0.0 else (0.0, -np.inf)
            continue
        at_first = evaluate(contour, sign * first, sign * bound)[1]
        at_last = evaluate(contour, sign * last, sign * bound)[1]
        if sign != held or not max(at_first, at_last) <= CONTOUR_ERROR:
            build(contour, sign * points[:n], weights[:n], sign * bound, sign * 0.5 * (first + last))
            whole = np.round(contour.total)
            if abs(contour.total - whole) <= _WHOLE * whole:
                contour.total = whole  # a whole power is the cheapest
            held = sign
        for j in range(v.shape[1]):
            log_p, error = evaluate(contour, sign * v[row, j], sign * bound)
            if not error <= CONTOUR_ERROR:
                log_p = log_crossing(sign * (points - v[row, j]), weights)
            rest = np.log(-np.expm1(min(log_p, 0.0)))
            log_above[row, j] = log_p if sign > 0.0 else rest
            log_below[row, j] = rest if sign > 0.0 else log_p


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
