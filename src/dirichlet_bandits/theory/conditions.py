"""Conditions of the theory: the quantile condition of QDS, and the bonus that exploration needs."""

import math
from typing import NamedTuple

import numpy as np

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.kinf import kinf
from dirichlet_bandits.theory.laws import ContinuousLaw, continuous, deviation, divergence_in_family, family_of, nodes
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_number, number_between, positive_number


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
