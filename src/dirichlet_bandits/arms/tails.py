"""The mean of the worst share of a distribution: in closed form for the built-in ones, by quadrature for others.

With q the quantile of the level, CVaR = q - E(q - X)^+ / level. The right-hand side is largest at that q, so a small
error in the quantile does not matter.
"""

import functools
import math
from typing import Any

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.arms.laws import (
    Beta,
    ClippedGaussian,
    Empirical,
    Exponential,
    Gaussian,
    GaussianMixture,
    Poisson,
    Uniform,
)
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.compensated import log1p_minus
from dirichlet_bandits.numerics.cvar import cvar
from dirichlet_bandits.numerics.tolerances import TAIL_ERROR

_MOST_VALUES = 10_000_000  # of a discrete SciPy distribution below its quantile


def lower_tail_mean(law: Any, level: float) -> float:
    """Return the CVaR of a distribution; a level of 1 gives its mean.

    >>> lower_tail_mean(Uniform(0.0, 1.0), 0.5)
    0.25
    >>> from scipy import stats
    >>> round(lower_tail_mean(stats.expon(), 0.2) / lower_tail_mean(Exponential(1.0), 0.2), 10)
    1.0
    """
    return float(law.mean()) if level == 1.0 else float(_tail_mean(law, level))


@functools.singledispatch
def _tail_mean(law: Any, level: float) -> float:
    """Compute the CVaR: exactly from atoms, otherwise by integrating the distribution function."""
    if hasattr(law, "atoms"):
        values, chances = law.atoms()
        return cvar(values, level, chances)
    if not all(callable(getattr(law, verb, None)) for verb in ("cdf", "ppf")):
        raise ArgumentError("arms", "laws with atoms(), or with cdf(x) and ppf(q), for a CVaR to be known", law)
    quantile = float(law.ppf(level))
    below = float(law.support()[0]) if hasattr(law, "support") else -math.inf
    shortfall = _sum_below if hasattr(law, "pmf") else _integral_below
    return quantile - shortfall(law, below, quantile) / level if quantile > below else quantile


def _sum_below(law: Any, low: float, quantile: float) -> float:
    """Return E(q - X)^+ for whole numbers X: the sum of P(X <= k) for k < q."""
    first = low if low > -math.inf else float(law.ppf(TAIL_ERROR * TAIL_ERROR))
    if not quantile - first < _MOST_VALUES:
        raise ArgumentError("arms", f"discrete laws with fewer than {_MOST_VALUES} values below the level", law)
    return math.fsum(law.cdf(np.arange(first, quantile)))


def _integral_below(law: Any, low: float, quantile: float) -> float:
    """Return E(q - X)^+ for continuous X: the integral of P(X <= x) up to q, bounded below or not."""
    total, error = scipy.integrate.quad(law.cdf, low, quantile, epsabs=0.0, epsrel=TAIL_ERROR, limit=1000)
    if not math.isfinite(total):
        return math.inf
    if error > 100.0 * TAIL_ERROR * abs(total):
        raise ArgumentError("arms", "laws whose distribution function can be integrated to 1e-10", law)
    return float(total)


@_tail_mean.register
def _(law: Empirical, level: float) -> float:
    return cvar(law.data, level)


@_tail_mean.register
def _(law: Gaussian, level: float) -> float:
    return law.mean() - law.std() * _density(float(scipy.special.ndtri(level))) / level


@_tail_mean.register
def _(law: Exponential, level: float) -> float:
    # (level + (1 - level) log(1 - level)) / level, without the cancellation
    curved = log1p_minus.py_func(-level)  # type: ignore[attr-defined]
    return law.mean() * (level + (1.0 - level) * curved / level)


@_tail_mean.register
def _(law: Uniform, level: float) -> float:
    low, high = law.support()
    return low + level * (high - low) / 2


@_tail_mean.register
def _(law: Beta, level: float) -> float:
    quantile = float(law.ppf(level))
    return quantile - (quantile * float(law.cdf(quantile)) - _beta_part(law, quantile)) / level


def _beta_part(law: Beta, x: float) -> float:
    """Return E[X; X <= x]."""
    return law.mean() * float(scipy.special.betainc(law.a + 1.0, law.b, x))


@_tail_mean.register
def _(law: Poisson, level: float) -> float:
    rate = law.mean()
    quantile = max(math.ceil(float(scipy.special.pdtrik(level, rate)) - 1e-9), 0)
    below = np.arange(quantile)
    return quantile - math.fsum(scipy.special.pdtr(below, rate)) / level


@_tail_mean.register
def _(law: ClippedGaussian, level: float) -> float:
    mean, deviation, low, _ = law.row
    quantile = float(law.ppf(level))
    if quantile == low:
        return quantile
    return quantile - (_shortfall(mean, deviation, quantile) - _shortfall(mean, deviation, low)) / level


@_tail_mean.register
def _(law: GaussianMixture, level: float) -> float:
    quantile = _mixture_quantile(law, level)
    parts = zip(law.weights, law.means, law.stds, strict=True)
    return quantile - math.fsum(w * _shortfall(mean, deviation, quantile) for w, mean, deviation in parts) / level


def _mixture_quantile(law: GaussianMixture, level: float) -> float:
    of_parts = law.means + law.stds * scipy.special.ndtri(level)
    low, high = float(of_parts.min()), float(of_parts.max())
    if low == high:
        return low

    def excess(x: float) -> float:
        return float(law.weights @ scipy.special.ndtr((x - law.means) / law.stds)) - level

    # At the ends, all parts are on one side, except for rounding.
    return (
        low if excess(low) >= 0.0 else high if excess(high) <= 0.0 else float(scipy.optimize.brentq(excess, low, high))
    )


def _shortfall(mean: float, deviation: float, x: float) -> float:
    """Return E(x - Y)^+ for a Gaussian Y."""
    z = (x - mean) / deviation
    return float(deviation * (z * scipy.special.ndtr(z) + _density(z)))


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
