"""The paper's upper and lower bounds on the boundary crossing probability, next to the exact value."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number


class Bound(NamedTuple):
    """The logarithm of a bound, the bound itself, and its source."""

    log: float
    value: float
    source: str


class CrossingBounds(NamedTuple):
    """The exact probability and its bounds from the theory: lower_* <= exact <= upper_*."""

    exact: Bound
    upper_chernoff: Bound
    upper_kinf: Bound
    lower_gap: Bound
    lower_product: Bound
    lower_simplex: Bound


def crossing_bounds(values: ArrayLike, threshold: float, upper: float | None = None) -> CrossingBounds:
    """Return bounds on P(sum_i w_i values_i >= threshold), w uniform on the simplex; a bonus is one of the values.

    With N values, largest M, and Kinf(B) = Kinf of their empirical distribution with upper bound B (`upper`, or M):

    * upper_chernoff = exp(-N Kinf(M)); upper_kinf = exp(-N Kinf(B)), the same unless `upper` is given;
    * lower_product = prod over the others of (M - t)/(M - min(x, t)): all others cut at the threshold t;
    * lower_gap = exp(-sum over the others of (t - x)^+/(M - t)), a little below it;
    * lower_simplex = (N-1)! prod over the others of v_i, v_i = 1/(N (1 - lam (x_i - t))), Kinf's allocation.

    The printed lower_gap leaves out *every* observation equal to M; only one may be left out, but the others have no
    gap (M > t), so both give the same. In the printed simplex lemma, the product runs over the data without the
    bonus, and the constant is N!/prod alpha_i!; with weights of 1 and one maximum left out, it reads as above.

    >>> bounds = crossing_bounds([0, 1, 4, 5], 3)
    >>> bounds.lower_product.value < bounds.exact.value < bounds.upper_chernoff.value
    True
    >>> bounds.lower_gap.source
    'Lemma (Lower bound for the BCP), section 3'

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, section 3 and appendix on the boundary crossing probability; Riou and Honda (2020),
    Bandit algorithms based on Thompson sampling for bounded reward distributions, lemmas 14 and 15.
    """
    x = finite_array("values", values)
    t = finite_number("threshold", threshold)
    top = float(x.max())
    bound = top if upper is None else finite_number("upper", upper)
    if top > bound:
        raise ArgumentError("values", f"at most upper = {bound}", top)
    gap, product, simplex = _log_lower(x, t)
    return CrossingBounds(
        exact=_bound(crossing_probability(x, t, log=True), "contour integral"),
        upper_chernoff=_bound(-x.size * _kinf(x, t, top), "Lemma (Upper bound on the BCP), appendix, first part"),
        upper_kinf=_bound(-x.size * _kinf(x, t, bound), "Lemma (Upper bound on the BCP), appendix, Kinf form"),
        lower_gap=_bound(gap, "Lemma (Lower bound for the BCP), section 3"),
        lower_product=_bound(product, "Lemma (Lower bound for the BCP), second line of its proof"),
        lower_simplex=_bound(simplex, "Lemma 14 of Riou and Honda (2020), with the allocation of its corollary"),
    )


def _bound(log: float, source: str) -> Bound:
    return Bound(log, math.exp(log), source)


def _kinf(x: Floats, threshold: float, upper: float) -> float:
    """Return Kinf, whose own rules for a threshold at or below the mean, or at or above the bound, are right here."""
    return kinf(x, threshold, upper).value


def _log_lower(x: Floats, t: float) -> tuple[float, float, float]:
    """Return the logarithms of the three lower bounds; one of the maxima serves as the lemma's last observation."""
    top = float(x.max())
    if x.min() >= t:
        return 0.0, 0.0, 0.0
    if top <= t:
        return -math.inf, -math.inf, -math.inf
    others = np.delete(x, int(np.argmax(x)))
    shortfall = np.maximum(t - others, 0.0) / (top - t)
    gap = -float(shortfall.sum())
    product = -float(np.log1p(shortfall).sum())
    multiplier = kinf(x, t, top).multiplier
    # v sums to one and its mean is t, so every w with w_i <= v_i off the maximum has a mean of at least t.
    simplex = math.lgamma(x.size) - float(np.log(x.size * (1.0 - multiplier * (others - t))).sum())
    return gap, product, simplex
