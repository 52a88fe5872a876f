"""NPTS in which rewards have weights: Dirichlet parameters other than 1.

Discounted rewards (experimental) are handled by compiled code, past rewards of a live study (``live/settings.py``) in
plain Python, with one pass over all rewards per decision.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from dirichlet_bandits.compiler import jit
from dirichlet_bandits.engine.verbs import implements, specialized
from dirichlet_bandits.numerics.argmax import RandomVariable
from dirichlet_bandits.numerics.compression import compress
from dirichlet_bandits.policies.index import larger, random_index_propensities
from dirichlet_bandits.policies.npts.rule import NPTS, NPTSParams
from dirichlet_bandits.policies.resampled_index import crossing_tails
from dirichlet_bandits.policies.ring import Ring, discounted_samples, select_discounted
from dirichlet_bandits.policies.weighted_rewards import WeightedRewards
from dirichlet_bandits.types import Floats

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
