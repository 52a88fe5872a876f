"""What the theory asks of a law, ours or a frozen one of SciPy, and how it integrates over it."""

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

_POINTS = 400  # Gauss-Legendre nodes in the quantile: smooth integrands, errors far below 1e-9
_MOST_ATOMS = 10_000_000  # of a discrete SciPy law: beyond, its table would not fit in memory
_SCIPY_FAMILIES = {"bernoulli": "bernoulli", "norm": "gaussian", "expon": "exponential", "poisson": "poisson"}


def _interpreted(function: Any) -> Any:
    """Return a compiled function as Python runs it, with those that it calls."""
    plain = function.py_func
    names = plain.__globals__
    called = {
        name: _interpreted(names[name]) for name in plain.__code__.co_names if hasattr(names.get(name), "py_func")
    }
    return FunctionType(plain.__code__, {**names, **called}, plain.__name__, plain.__defaults__)


_divergence = _interpreted(divergence)  # called a few times per process: too rarely to be compiled


class Law(Protocol):
    """A law with a quantile function; the frozen distributions of SciPy and our continuous laws have it."""

    def ppf(self, q: Floats) -> Floats: ...
    def cdf(self, x: float) -> float: ...
    def mean(self) -> float: ...


def continuous(name: str, law: Any) -> Law:
    """The law, if it can be integrated over: ``mean``, ``cdf`` and ``ppf`` are there."""
    if isinstance(law, type) or not all(callable(getattr(law, verb, None)) for verb in ("mean", "cdf", "ppf")):
        raise ArgumentError(name, "a continuous law with mean(), cdf(x) and ppf(q)", law)
    return law


def family_of(law: Any) -> str | None:
    """The one-parameter family of a law: 'bernoulli', 'gaussian', 'exponential', 'poisson', or None.

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
    """Standard deviation of a law."""
    return float(law.std())


def divergence_in_family(family: str, sigma: float, mean: float, target: float) -> float:
    """Divergence from the member of this mean to the one whose mean is the target."""
    return _divergence(FAMILIES[family], float(sigma), float(mean), float(target))


def as_atoms(name: str, law: Any) -> tuple[Floats, Floats]:
    """Values and probabilities: exactly for discrete laws, quadrature nodes over the quantiles for others."""
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


def nodes(law: Law, low: float, high: float) -> tuple[Floats, Floats]:
    """Points and weights that integrate over the law between two quantile levels.

    Levels are level = low + (high - low) sin^2(angle), which gathers the points at both ends, where a
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
