"""What the theory requires of a distribution, ours or a frozen one from SciPy, and how to integrate over it."""

import functools
import itertools
import math
from types import FunctionType
from typing import Any, Protocol

import numpy as np
import scipy  # its parts are imported when they are used

from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.divergences import FAMILIES, divergence
from dirichlet_bandits.types import Floats

_POINTS = 400  # Gauss-Legendre nodes in the quantile: for smooth integrands, errors are far below 1e-9
_MOST_ATOMS = 10_000_000  # of a discrete SciPy distribution: a larger table would not fit in memory
_SCIPY_FAMILIES = {"bernoulli": "bernoulli", "norm": "gaussian", "expon": "exponential", "poisson": "poisson"}


def _interpreted(function: Any) -> Any:
    """Return a compiled function, and the functions it calls, as plain Python."""
    plain = function.py_func
    names = plain.__globals__
    called = {
        name: _interpreted(names[name]) for name in plain.__code__.co_names if hasattr(names.get(name), "py_func")
    }
    return FunctionType(plain.__code__, {**names, **called}, plain.__name__, plain.__defaults__)


_divergence = _interpreted(divergence)  # called a few times per process: too rarely to be compiled


class ContinuousLaw(Protocol):
    """A distribution with a quantile function, such as the frozen ones of SciPy and our continuous ones."""

    def ppf(self, q: Floats) -> Floats: ...
    def cdf(self, x: float) -> float: ...
    def mean(self) -> float: ...


def continuous(name: str, law: Any) -> ContinuousLaw:
    """Return the distribution if it has the ``mean``, ``cdf`` and ``ppf`` needed for integration; raise otherwise."""
    if isinstance(law, type) or not all(callable(getattr(law, verb, None)) for verb in ("mean", "cdf", "ppf")):
        raise ArgumentError(name, "a continuous law with mean(), cdf(x) and ppf(q)", law)
    return law


def family_of(law: Any) -> str | None:
    """Return the one-parameter family of a distribution: 'bernoulli', 'gaussian', 'exponential', 'poisson', or None.

    >>> from scipy import stats
    >>> family_of(stats.expon(scale=2)), family_of(stats.expon(loc=1)), family_of(stats.gamma(3))
    ('exponential', None, None)
    """
    if hasattr(law, "family"):
        return law.family
    family = _SCIPY_FAMILIES.get(getattr(getattr(law, "dist", None), "name", ""))
    if family in ("bernoulli", "exponential", "poisson") and law.support()[0] != 0.0:
        return None  # shifted
    return family


def deviation(law: Any) -> float:
    """Return the standard deviation of a distribution."""
    return float(law.std())


def divergence_in_family(family: str, sigma: float, mean: float, target: float) -> float:
    """Return the divergence from the member of this mean to the one whose mean is the target."""
    return _divergence(FAMILIES[family], float(sigma), float(mean), float(target))


def as_atoms(name: str, law: Any) -> tuple[Floats, Floats]:
    """Return values and probabilities: exact if the distribution is discrete, else quadrature nodes over quantiles."""
    if hasattr(law, "atoms"):
        values, chances = law.atoms()
        return values, chances
    if hasattr(law, "pmf"):
        low, high = law.support()
        if not high - low < _MOST_ATOMS:
            raise ArgumentError(name, f"a law with fewer than {_MOST_ATOMS} values", law)
        values = np.arange(low, high + 1.0)
        chances = law.pmf(values)
        return values[chances > 0.0], chances[chances > 0.0]
    if not callable(getattr(law, "ppf", None)):
        raise ArgumentError(name, "a law with atoms(), pmf(x) or ppf(q)", law)
    levels = sorted({0.0, 1.0, *(law.kinks() if hasattr(law, "kinks") else ())})
    pieces = [nodes(law, low, high) for low, high in itertools.pairwise(levels)]
    return np.concatenate([x for x, _ in pieces]), np.concatenate([w for _, w in pieces])


def nodes(law: ContinuousLaw, low: float, high: float) -> tuple[Floats, Floats]:
    """Return points and weights that integrate over the distribution between two quantile levels.

    Levels are level = low + (high - low) sin^2(angle), which concentrates the points at both ends, where a
    quantile function may be steep.
    """
    t, w = _legendre()
    angle = (t + 1.0) * math.pi / 4.0
    level = low + (high - low) * np.sin(angle) ** 2
    return np.asarray(law.ppf(level)), w * math.pi / 4.0 * (high - low) * np.sin(2.0 * angle)


@functools.cache
def _legendre() -> tuple[Floats, Floats]:
    t, w = scipy.special.roots_legendre(_POINTS)
    return t, w
