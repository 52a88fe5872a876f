"""What makes an arm good: the number by which distributions are compared, whose loss is the regret."""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.cvar import cvar, level_of
from dirichlet_bandits.numerics.tolerances import TAIL_ERROR

_MOST_VALUES = 10_000_000  # of a discrete SciPy distribution below its quantile


@runtime_checkable
class Objective(Protocol):
    """The value of a distribution; the best arm has the largest one.

    ``name`` is written to results, and ``label`` names the regret in plots and tables.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def value(self, law: Any) -> float:
        """Return how good the distribution is."""


@dataclass(frozen=True)
class Mean:
    """The expectation.

    >>> from dirichlet_bandits.environments.laws import Bernoulli
    >>> Mean().value(Bernoulli(0.3))
    0.3
    """

    name: str = "mean"
    label: str = "regret"

    def value(self, law: Any) -> float:
        return float(law.mean())


@dataclass(frozen=True)
class CVaR:
    """The average over the worst rewards, the share ``level`` of all: what you get in bad years.

    CVaR_a(F) = 1/a * integral over (0, a) of F^{-1}(u) du; a = 1 is the mean.

    >>> from dirichlet_bandits.environments.laws import Empirical
    >>> CVaR(0.5).value(Empirical([4, 1, 3, 2]))
    1.5
    >>> CVaR(0.2).label
    'CVaR regret at 20 %'

    Reference: Rockafellar and Uryasev (2000), Optimization of conditional value-at-risk.
    """

    level: float

    def __post_init__(self) -> None:
        level_of("level", self.level)

    @property
    def name(self) -> str:
        return f"CVaR at {100 * self.level:.12g} %"

    @property
    def label(self) -> str:
        return f"CVaR regret at {100 * self.level:.12g} %"

    def value(self, law: Any) -> float:
        return lower_tail_mean(law, float(self.level))


def lower_tail_mean(law: Any, level: float) -> float:
    """Return the CVaR of a distribution: its own, or exact from atoms, or by integrating its distribution function.

    A level of 1 gives the mean.

    >>> from dirichlet_bandits.environments.laws import Exponential, Uniform
    >>> lower_tail_mean(Uniform(0.0, 1.0), 0.5)
    0.25
    >>> from scipy import stats
    >>> round(lower_tail_mean(stats.expon(), 0.2) / lower_tail_mean(Exponential(1.0), 0.2), 10)
    1.0
    """
    if level == 1.0:
        return float(law.mean())
    if hasattr(law, "lower_tail_mean"):
        return float(law.lower_tail_mean(level))
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
