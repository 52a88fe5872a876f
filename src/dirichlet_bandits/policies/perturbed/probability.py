"""Propensities of PHE, ReBoot and MBE: the distributions of their indices, and which is the largest."""

import functools
import math

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.engine.tally import Tally
from dirichlet_bandits.numerics.argmax import RandomVariable, argmax_probabilities, gaussian
from dirichlet_bandits.numerics.discrete import Discrete, binomial_law, discrete_argmax_probabilities
from dirichlet_bandits.policies.bounded import pseudo_rewards
from dirichlet_bandits.policies.index import discrete_index_propensities, normalized, random_index_propensities
from dirichlet_bandits.policies.perturbed.rule import (
    MBE,
    PHE,
    Ratio,
    ReBoot,
    Spread,
    residual_deviation,
    weighted_ratio,
)
from dirichlet_bandits.types import Floats


def perturbed_propensities(policy: PHE, state: Tally) -> Floats:
    """Return the propensities of PHE from binomial distributions on the grids of the arms."""
    totals = zip(state.pulls.tolist(), state.sums + state.carry, strict=True)
    return discrete_index_propensities([_perturbed(policy.a, n, total) for n, total in totals])


def _perturbed(a: float, n: int, total: float) -> Discrete:
    """Return the index distribution of PHE; values are computed as in the rule, so ties are the same."""
    m = pseudo_rewards.py_func(a, n)  # type: ignore[attr-defined]
    first, chances = binomial_law(m, 0.5)
    return Discrete((total + np.arange(first, first + chances.size)) / (n + m), chances)


def residual_propensities(policy: ReBoot, state: Spread) -> Floats:
    """Return the propensities of ReBoot from normal distributions around the means.

    The first mean serves as the origin, because digits would be lost far from 0.
    """
    deviation = residual_deviation.py_func  # type: ignore[attr-defined]
    return random_index_propensities(
        [
            gaussian(float(mean - state.means[0]), deviation(policy.params, state, arm))
            for arm, mean in enumerate(state.means)
        ]
    )


def multiplier_propensities(policy: MBE, state: Spread) -> Floats:
    """Return the propensities of MBE.

    Arms whose weights have no positive sum share the pull; if there are none, the arm with the largest ratio is pulled.
    """
    triples = zip(state.pulls.tolist(), state.means.tolist(), state.squares.tolist(), strict=True)
    ratios = [weighted_ratio.py_func(policy.params, *triple) for triple in triples]  # type: ignore[attr-defined]
    heights = np.array([ratio.weight / math.sqrt(ratio.weight_variance) for ratio in ratios])
    infinite = scipy.special.ndtr(-heights)
    lots = [Discrete(np.array([0.0, 1.0]), np.array([1.0 - p, p])) for p in infinite]
    *shares, none = discrete_argmax_probabilities([*lots, Discrete(np.array([0.5]), np.ones(1))])
    finite = argmax_probabilities([_angle(ratio, height) for ratio, height in zip(ratios, heights, strict=True)])
    return normalized(np.array(shares) + none * finite)


def _angle(ratio: Ratio, height: float) -> RandomVariable:
    """Return the distribution of arctan(A/D) given D > 0, a scale on which the Cauchy tails end at right angles."""
    middle = math.atan(ratio.center + ratio.excess / ratio.weight)
    distance = ratio.excess / ratio.weight
    deviation = math.sqrt(ratio.excess_variance + ratio.weight_variance * distance**2) / ratio.weight  # of A/D, about
    knots = np.array([-0.5 * math.pi, 0.5 * math.pi])
    tails = functools.partial(_angle_tails, ratio, height)
    return RandomVariable(middle, math.cos(middle) ** 2 * deviation, tails, knots)


def _angle_tails(ratio: Ratio, height: float, t: Floats) -> tuple[Floats, Floats]:
    """Return both tails at each angle: normal probabilities of wedges between D = 0 and L = A cos t - D sin t = 0.

    With h = E L / sd L and k = E D / sd D, Owen (1956) has P(L > 0, D > 0) = (Phi(h) + Phi(k)) / 2 - T(h, a) - T(k, b),
    less 1/2 if h < 0. Because the excess and D are independent, b does not depend on t. Written with Phi(-k), the only
    terms that cancel are as small as both tails.
    """
    t = np.clip(t, -0.5 * math.pi, 0.5 * math.pi)
    cos, sin = np.cos(t), np.sin(t)
    slope = ratio.center * cos - sin
    mean = ratio.excess * cos + ratio.weight * slope
    h = mean / np.sqrt(ratio.excess_variance * cos**2 + ratio.weight_variance * slope**2)
    of_excess = math.sqrt(ratio.excess_variance)
    a = height * of_excess * cos - math.sqrt(ratio.weight_variance) * slope * ratio.excess / of_excess
    with np.errstate(divide="ignore"):
        owen = scipy.special.owens_t(h, a / mean) + scipy.special.owens_t(height, ratio.excess / of_excess / height)
    beyond, whole = scipy.special.ndtr(-height), scipy.special.ndtr(height)
    rarer = (
        np.maximum(0.5 * scipy.special.ndtr(-np.abs(h)) - 0.5 * beyond + np.where(h < 0.0, -owen, owen), 0.0) / whole
    )
    other = np.maximum(1.0 - rarer, 0.0)
    return np.where(h < 0.0, other, rarer), np.where(h < 0.0, rarer, other)
