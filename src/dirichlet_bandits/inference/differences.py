"""Compare two arms: how much their rewards say about the difference of their means, at all times at once.

For arms b and a, ``statistic`` is the evidence Z(d) against mu_a >= mu_b + d, and ``cost`` is what it must exceed
besides log(1/delta). Inverting Z gives a confidence sequence for mu_b - mu_a (``lead``), so a rule that compares Z with
its threshold and an interval that excludes -d are the same thing.

Rewards with two bounds: Z and its threshold are those of ``numerics/kinf_statistic.py``, where they are proved for any
distributions within the bounds and any number of rewards.

Rewards without bounds: mixtures of normal likelihood ratios take the place of the portfolios. With means x, variances
s^2 and a weight h = 50 of the prior, in rewards,

    Z(d) = (x_b - x_a + d)^2 / (2 V),   V = sum over both arms of s^2 (n + h)/n^2,   r(n) = log(1 + n/h) / 2.

If rewards were normal with these variances, exp(Z(d) - r(n_a) - r(n_b)) would be at most the product of two
supermartingales, exp(S^2 / (2 s^2 (n + h))) sqrt(h/(n + h)) with S = n (x - mu), as above. For other distributions with
a variance this holds in the limit of many rewards only, by strong approximation: these are asymptotic confidence
sequences, and nothing is proved for a given number of rewards.

References: Robbins (1970), Statistical methods related to the law of the iterated logarithm, Annals of Mathematical
Statistics 41; Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central limit theory and asymptotic
confidence sequences, Annals of Statistics 52; Kaufmann and Koolen (2021), Mixture martingales revisited, JMLR 22.
"""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from dirichlet_bandits.inference.intervals import Bounds, Interval, are_finite, shares, why_none
from dirichlet_bandits.inference.moments import Moments
from dirichlet_bandits.numerics.costs import STATISTIC_POINTS
from dirichlet_bandits.numerics.kinf_statistic import Grouped, coarser, kinf_statistic, portfolio_regret
from dirichlet_bandits.types import Floats

PROVED: Final = "Kinf statistic of both arms: any distributions within the bounds"
ASYMPTOTIC: Final = "asymptotic confidence sequence of the difference: any distributions with a variance, many rewards"

_PRIOR: Final = 50.0
"""Rewards that the prior of the asymptotic sequence is worth: it is narrowest after about eight times as many."""

_STEPS: Final = 100  # of a solver that needs five


class ArmSample(NamedTuple):
    """Rewards of an arm: their number, mean and variance; with bounds, also values in [0, 1] and their weights.

    ``unit`` is the distance between the bounds, infinite without bounds. ``tells`` is False if the rewards do not yet
    allow a comparison.
    """

    n: float
    mean: float
    variance: float
    unit: float
    tells: bool
    values: Floats
    weights: Floats

    def grown(self, more: float) -> "ArmSample":
        """Return the sample as it would be with more rewards that look like these."""
        return self._replace(n=self.n + more)

    def rough(self, points: int) -> "ArmSample":
        """Return the sample on a grid of so many steps, if it has more rewards than that."""
        if self.n <= points or not self.values.size:
            return self
        values, weights = coarser(self.values, self.weights, points)
        return self._replace(values=values, weights=weights)


def sample(x: Floats, bounds: Bounds, points: int = STATISTIC_POINTS) -> ArmSample:
    """Return rewards in a form that can be compared; with bounds, more than ``points`` of them share a grid.

    >>> sample(np.array([0.0, 1.0, 1.0, 1.0]), (0.0, 1.0)).mean
    0.75
    """
    if are_finite(bounds):
        return BoundedSample(bounds, points).add(x).sample
    moments, none = Moments().add(x), np.empty(0)
    return _sample(moments, math.inf, why_none(x) is None, none, none)


def _sample(moments: Moments, unit: float, tells: bool, values: Floats, weights: Floats) -> ArmSample:
    variance = 0.0 if moments.n == 1 else moments.variance
    return ArmSample(float(moments.n), moments.mean, variance, unit, tells, values, weights)


class BoundedSample:
    """The :func:`sample` of rewards with two bounds, brought up to date with each reward, in two rows of numbers."""

    def __init__(self, bounds: Bounds, points: int = STATISTIC_POINTS) -> None:
        self.bounds, self._moments, self._grouped = bounds, Moments(), Grouped(points)

    def add(self, x: Floats) -> "BoundedSample":
        """Add rewards; the sample is the same to the last bit, however they are divided among calls."""
        self._moments.add(x)
        self._grouped.add(np.clip((x - self.bounds[0]) / (self.bounds[1] - self.bounds[0]), 0.0, 1.0))
        return self

    @property
    def sample(self) -> ArmSample:
        """The rewards so far."""
        return _sample(self._moments, self.bounds[1] - self.bounds[0], self._moments.n > 0, *self._grouped.grouped())


def costs(best: ArmSample, rival: ArmSample) -> float:
    """Return r(n_b) + r(n_a), by which the evidence must exceed log(1/delta)."""
    if best.unit < math.inf:
        return portfolio_regret(best.n) + portfolio_regret(rival.n)
    return 0.5 * (math.log1p(best.n / _PRIOR) + math.log1p(rival.n / _PRIOR))


def statistic(best: ArmSample, rival: ArmSample, margin: float) -> float:
    """Return Z(margin), the evidence that the best arm's mean exceeds the rival's less ``margin``.

    >>> best, rival = (sample(np.array(x), (0.0, 1.0)) for x in ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0]))
    >>> round(statistic(best, rival, 0.0), 12) == round(6.0 * math.log(2.0), 12)
    True
    """
    return _statistic_and_slope(best, rival, margin)[0]


def _statistic_and_slope(best: ArmSample, rival: ArmSample, margin: float) -> tuple[float, float]:
    """Return Z and its derivative in the margin."""
    if not (best.tells and rival.tells):
        return 0.0, 0.0
    if best.values.size:
        mirror = 1.0 - best.values
        found = kinf_statistic(mirror, best.weights, best.n, rival.values, rival.weights, rival.n, margin / best.unit)
        return float(found[0]), float(found[2]) / best.unit
    gap = best.mean - rival.mean + margin
    spread = sum(one.variance * (one.n + _PRIOR) / one.n**2 for one in (best, rival))
    return (0.5 * gap**2 / spread, gap / spread) if gap > 0.0 else (0.0, 0.0)


def lead(best: ArmSample, rival: ArmSample, log_odds: float) -> Interval:
    """Return a confidence sequence for how much the mean of the best arm exceeds that of the rival.

    Each end is wrong, at any time, with probability at most exp(-log_odds): the level is 1 - 2 exp(-log_odds).
    ``low > -margin`` if and only if ``statistic(best, rival, margin) > log_odds + costs``.

    >>> rng = np.random.default_rng(0)
    >>> one, two = (sample((rng.random(1000) < p).astype(float), (0.0, 1.0)) for p in (0.7, 0.5))
    >>> low, high = lead(one, two, math.log(2 / 0.05))
    >>> 0.0 < low < 0.2 < high < 0.35
    True
    """
    return Interval(_least_lead(best, rival, log_odds), -_least_lead(rival, best, log_odds))


def _least_lead(best: ArmSample, rival: ArmSample, log_odds: float) -> float:
    """Return -d for the d with Z(d) = log_odds + r + r, by Newton's method on a convex function, kept in a bracket."""
    widest = best.unit
    if not (best.tells and rival.tells):
        return -widest
    goal = log_odds + costs(best, rival)
    nothing = rival.mean - best.mean  # Z is 0 there
    spread = sum(one.variance * (one.n + _PRIOR) / one.n**2 for one in (best, rival))
    if widest == math.inf:
        return -nothing - math.sqrt(2.0 * goal * spread)
    low, high = nothing, widest
    d = min(nothing + math.sqrt(2.0 * goal * (spread + best.unit**2 / min(best.n, rival.n) ** 2)), 0.5 * (low + high))
    for _ in range(_STEPS):
        z, slope = _statistic_and_slope(best, rival, d)
        low, high = (d, high) if z < goal else (low, d)
        step = (goal - z) / slope if 0.0 < slope < math.inf and z < math.inf else math.nan
        if abs(step) <= 1e-12 * best.unit or high - low <= 1e-12 * best.unit:
            break
        d = d + step if low < d + step < high else 0.5 * (low + high)
    return -high if high < widest else -d


def lifts(samples: Sequence[ArmSample], since: Sequence[int], base: int, level: float) -> list[Interval]:
    """Return confidence sequences of the differences from the mean of arm ``base``, which hold together at the level.

    ``since`` has the number of trials before each arm was added.
    """
    others = [arm for arm in range(len(samples)) if arm != base]
    found = [Interval(0.0, 0.0)] * len(samples)
    for arm, share in zip(others, shares([since[arm] for arm in others]).tolist(), strict=True):
        found[arm] = lead(samples[arm], samples[base], -math.log(0.5 * (1.0 - level) * share))
    return found
