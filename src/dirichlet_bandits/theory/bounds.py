"""Bounds on the boundary crossing probability, and conditions: that of QDS, and the bonus that exploration needs."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.crossing import crossing_probability
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.theory.laws import ContinuousLaw, continuous, deviation, divergence_in_family, family_of, nodes
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number, number_between, positive_number


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


class QDSCondition(NamedTuple):
    """Both sides of the quantile condition and the numbers behind them; it holds if truncated <= family."""

    truncated: float
    family: float
    upper: float
    quantile: float
    tail_mean: float
    holds: bool


def qds_condition(
    law: ContinuousLaw, target: float, rho: float, alpha: float, family_divergence: float | None = None
) -> QDSCondition:
    """Test the condition of QDS, Kinf(truncated distribution, target; upper) <= Kinf in the distribution's own family.

    The distribution is cut at its quantile of level 1 - alpha, and its tail is replaced by an atom at the tail's mean
    C; the bound is upper = max(C, target + rho E[(target - X)^+]). The paper writes the quantile instead of C in the
    main text and C in the appendix; the truncated distribution has an atom at C, so only C makes sense. The family's
    side is the divergence to the member of mean `target`. It is known for exponential and Gaussian distributions, ours
    or SciPy's `expon` and `norm`, and must be given as `family_divergence` for others. There is another misprint: the
    tail mean of a Gaussian distribution is theta + sigma/(alpha sqrt(2 pi)) exp(-z^2/2), z = Phi^-1(1 - alpha); the
    paper omits the square.

    >>> from scipy import stats
    >>> condition = qds_condition(stats.expon(scale=2), target=3, rho=8, alpha=0.05)
    >>> condition.holds, round(condition.tail_mean, 6), round(condition.family, 6)
    (True, 7.991465, 0.072132)

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, theorem on QDS and appendix with examples of distributions.
    """
    mu = finite_number("target", target)
    level = number_between("alpha", alpha, 0, 1)
    leverage = positive_number("rho", rho)
    mean = float(continuous("law", law).mean())
    if not mu > mean:
        raise ArgumentError("target", f"above the law's mean, {mean}", mu)
    family = _family_divergence(law, mean, mu) if family_divergence is None else _given(family_divergence)
    quantile = float(law.ppf(np.array([1.0 - level]))[0])
    x, w = nodes(law, 0.0, 1.0 - level)
    tail_mean = (mean - float(w @ x)) / level  # the part of the mean that the body leaves
    upper = max(tail_mean, mu + leverage * _shortfall(law, mu))
    truncated = _kinf_of_law(np.append(x, tail_mean), np.append(w, level), mu, upper)
    return QDSCondition(truncated, family, upper, quantile, tail_mean, truncated <= family)


def necessary_bonus(law: ContinuousLaw, mu: float) -> float:
    """Return the bonus that a data-independent rule must exceed:  mu + E[(mu - X)^+] / P(X > mu).

    It is infinite if no reward exceeds mu.

    >>> from scipy import stats
    >>> round(necessary_bonus(stats.uniform(), 0.5), 9)  # 1/2 + (1/8)/(1/2)
    0.75

    Reference: Baudry, Saux and Maillard (2021), From optimality to robustness: Dirichlet sampling strategies
    in stochastic bandits, lemma on the necessary condition with a data-independent bonus.
    """
    threshold = finite_number("mu", mu)
    above = 1.0 - float(continuous("law", law).cdf(threshold))
    return threshold + _shortfall(law, threshold) / above if above > 0.0 else math.inf


def _shortfall(law: ContinuousLaw, mu: float) -> float:
    """Return E[(mu - X)^+]."""
    below = float(law.cdf(mu))
    if below <= 0.0:
        return 0.0
    x, w = nodes(law, 0.0, below)
    return float(w @ (mu - x))


def _kinf_of_law(x: Floats, w: Floats, mu: float, upper: float) -> float:
    """Return Kinf of the distribution with these atoms; the quadrature weights are probabilities."""
    return kinf(x, mu, upper, w / w.sum()).value


def _family_divergence(law: ContinuousLaw, mean: float, mu: float) -> float:
    """Return the divergence to the member of mean mu of the distribution's family, exponential or Gaussian."""
    family = family_of(law)
    if family not in ("exponential", "gaussian"):
        raise ArgumentError("family_divergence", "given, for a law that is neither exponential nor Gaussian", None)
    return divergence_in_family(family, deviation(law), mean, mu)


def _given(family_divergence: float) -> float:
    return positive_number("family_divergence", family_divergence)
