"""The built-in reward distributions.

Each has a mean, a standard deviation and a support, and draws samples. The methods are those of frozen
``scipy.stats`` distributions, so you can mix both in one bandit. For the theory, discrete distributions with finitely
many values list them (``atoms``), and continuous ones have ``cdf`` and ``ppf``. ``lower_tail_mean`` is the mean of the
worst share of the rewards, the CVaR, in closed form: with q the quantile of the level, CVaR = q - E(q - X)^+ / level.
The right-hand side is largest at that q, so a small error in the quantile does not matter.
"""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy  # its parts are imported when they are used
from numpy.typing import ArrayLike

from dirichlet_bandits.environments.sampler import N_PARAMETERS, SAMPLERS, Kind
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.numerics.compensated import log1p_minus
from dirichlet_bandits.numerics.cvar import cvar
from dirichlet_bandits.types import Floats
from dirichlet_bandits.validation import finite_array, finite_number, positive_number, reward_array

_NO_DATA = np.empty(0)


class Law:
    """A built-in reward distribution, with the user's ``parameters`` and its row for the compiled sampler."""

    kind: ClassVar[Kind]
    family: ClassVar[str | None] = None  # the one-parameter family it belongs to

    def __init__(self, parameters: dict[str, Any], row: Sequence[float] = (), data: Floats = _NO_DATA) -> None:
        self.parameters = parameters
        self.row = np.zeros(N_PARAMETERS)
        self.row[: len(row)] = row
        self.data = data

    def mean(self) -> float:
        """Return the expectation."""
        raise NotImplementedError

    def std(self) -> float:
        """Return the standard deviation."""
        raise NotImplementedError

    def support(self) -> tuple[float, float]:
        """Return the smallest interval that contains all rewards."""
        return -math.inf, math.inf

    def rvs(self, size: int = 1, random_state: int | np.random.Generator | None = None) -> Floats:
        """Draw a sample, as from a frozen ``scipy.stats`` distribution."""
        out = np.empty(size)
        SAMPLERS[self.kind](self.row, self.data, np.random.default_rng(random_state), out)
        return out

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={_short(v)}' for k, v in self.parameters.items())})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Law)
            and self.kind == other.kind
            and np.array_equal(self.row, other.row)
            and np.array_equal(self.data, other.data)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.row.tobytes(), self.data.tobytes()))


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > 8:
        return f"<{len(value)} values>"
    return repr(value)


class Bernoulli(Law):
    """Bernoulli distribution: 1 with probability p, else 0.

    >>> Bernoulli(0.3).mean()
    0.3
    """

    kind = Kind.BERNOULLI
    family = "bernoulli"

    def __init__(self, p: float) -> None:
        self.p = finite_number("p", p)
        if not 0 <= self.p <= 1:
            raise ArgumentError("p", "a probability in [0, 1]", p)
        super().__init__({"p": self.p}, [self.p])

    def mean(self) -> float:
        return self.p

    def std(self) -> float:
        return math.sqrt(self.p * (1 - self.p))

    def support(self) -> tuple[float, float]:
        return (0.0 if self.p < 1 else 1.0), (1.0 if self.p > 0 else 0.0)

    def atoms(self) -> tuple[Floats, Floats]:
        """Return the values and their probabilities."""
        values, chances = np.array([0.0, 1.0]), np.array([1.0 - self.p, self.p])
        return values[chances > 0.0], chances[chances > 0.0]


class Gaussian(Law):
    """Normal distribution with this mean and standard deviation.

    >>> Gaussian(mean=1.0, std=2.0).std()
    2.0
    """

    kind = Kind.GAUSSIAN
    family = "gaussian"

    def __init__(self, mean: float, std: float) -> None:
        mu, sigma = finite_number("mean", mean), positive_number("std", std)
        super().__init__({"mean": mu, "std": sigma}, [mu, sigma])

    def mean(self) -> float:
        return float(self.row[0])

    def std(self) -> float:
        return float(self.row[1])

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return np.asarray(scipy.special.ndtr((np.asarray(x) - self.mean()) / self.std()))

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile of level q."""
        return np.asarray(self.mean() + self.std() * scipy.special.ndtri(q))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        return self.mean() - self.std() * _density(float(scipy.special.ndtri(level))) / level


class Exponential(Law):
    """Exponential distribution with this mean.

    >>> Exponential(2.0).support()
    (0.0, inf)
    """

    kind = Kind.EXPONENTIAL
    family = "exponential"

    def __init__(self, mean: float) -> None:
        theta = positive_number("mean", mean)
        super().__init__({"mean": theta}, [theta])

    def mean(self) -> float:
        return float(self.row[0])

    def std(self) -> float:
        return self.mean()

    def support(self) -> tuple[float, float]:
        return 0.0, math.inf

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return -np.expm1(-np.maximum(x, 0.0) / self.mean())

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile of level q."""
        return -self.mean() * np.log1p(-np.asarray(q))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        # (level + (1 - level) log(1 - level)) / level, without the cancellation
        curved = log1p_minus.py_func(-level)  # type: ignore[attr-defined]
        return self.mean() * (level + (1.0 - level) * curved / level)


class Uniform(Law):
    """Uniform distribution on [low, high].

    >>> Uniform(0.2, 0.9).mean()
    0.55
    """

    kind = Kind.UNIFORM

    def __init__(self, low: float, high: float) -> None:
        a, b = finite_number("low", low), finite_number("high", high)
        if not a < b:
            raise ArgumentError("high", f"greater than low = {a}", high)
        super().__init__({"low": a, "high": b}, [a, b])

    def mean(self) -> float:
        low, high = self.support()
        return (low + high) / 2

    def std(self) -> float:
        low, high = self.support()
        return (high - low) / math.sqrt(12)

    def support(self) -> tuple[float, float]:
        return float(self.row[0]), float(self.row[1])

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        low, high = self.support()
        return np.clip((np.asarray(x) - low) / (high - low), 0.0, 1.0)

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile of level q."""
        low, high = self.support()
        return np.asarray(low + (high - low) * np.asarray(q))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        low, high = self.support()
        return low + level * (high - low) / 2


class Beta(Law):
    """Beta distribution with shapes a and b.

    >>> Beta(1, 3).mean()
    0.25
    """

    kind = Kind.BETA

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = positive_number("a", a), positive_number("b", b)
        super().__init__({"a": self.a, "b": self.b}, [self.a, self.b])

    def mean(self) -> float:
        return self.a / (self.a + self.b)

    def std(self) -> float:
        s = self.a + self.b
        return math.sqrt(self.a * self.b / (s * s * (s + 1)))

    def support(self) -> tuple[float, float]:
        return 0.0, 1.0

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        return np.asarray(scipy.special.betainc(self.a, self.b, np.clip(x, 0.0, 1.0)))

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile of level q."""
        return np.asarray(scipy.special.betaincinv(self.a, self.b, q))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        quantile = float(self.ppf(level))
        below = self.mean() * float(scipy.special.betainc(self.a + 1.0, self.b, quantile))  # E[X; X <= quantile]
        return quantile - (quantile * float(self.cdf(quantile)) - below) / level


class Poisson(Law):
    """Poisson distribution with this mean.

    >>> Poisson(4.0).std()
    2.0
    """

    kind = Kind.POISSON
    family = "poisson"

    def __init__(self, mean: float) -> None:
        rate = positive_number("mean", mean)
        super().__init__({"mean": rate}, [rate])

    def mean(self) -> float:
        return float(self.row[0])

    def std(self) -> float:
        return math.sqrt(self.mean())

    def support(self) -> tuple[float, float]:
        return 0.0, math.inf

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        rate = self.mean()
        quantile = max(math.ceil(float(scipy.special.pdtrik(level, rate)) - 1e-9), 0)
        return quantile - math.fsum(scipy.special.pdtr(np.arange(quantile), rate)) / level


class ClippedGaussian(Law):
    """Gaussian distribution clipped to [low, high]: values outside are moved to the nearer end, not drawn again.

    >>> ClippedGaussian(0.5, 0.1, 0, 1).mean()
    0.5
    """

    kind = Kind.CLIPPED_GAUSSIAN

    def __init__(self, mean: float, std: float, low: float, high: float) -> None:
        mu, sigma = finite_number("mean", mean), positive_number("std", std)
        a, b = finite_number("low", low), finite_number("high", high)
        if not a < b:
            raise ArgumentError("high", f"greater than low = {a}", high)
        super().__init__({"mean": mu, "std": sigma, "low": a, "high": b}, [mu, sigma, a, b])

    def _moments(self) -> tuple[float, float]:
        mu, sigma, low, high = (float(x) for x in self.row)
        a, b = (low - mu) / sigma, (high - mu) / sigma
        below, above = float(scipy.special.ndtr(a)), float(scipy.special.ndtr(-b))
        inside = 1 - below - above
        first = _density(a) - _density(b)  # E[Z; a < Z < b]
        second = inside + a * _density(a) - b * _density(b)  # E[Z^2; a < Z < b]
        mean = a * below + b * above + first
        variance = a * a * below + b * b * above + second - mean * mean
        return mu + sigma * mean, sigma * math.sqrt(max(variance, 0.0))

    def mean(self) -> float:
        return self._moments()[0]

    def std(self) -> float:
        return self._moments()[1]

    def support(self) -> tuple[float, float]:
        _, _, low, high = self.row
        return float(low), float(high)

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(X <= x)."""
        low, high = self.support()
        return np.where(np.asarray(x) < low, 0.0, np.where(np.asarray(x) < high, self._level(x), 1.0))

    def ppf(self, q: ArrayLike) -> Floats:
        """Return the quantile of level q."""
        mu, sigma, low, high = self.row
        return np.clip(mu + sigma * scipy.special.ndtri(q), low, high)

    def kinks(self) -> tuple[float, float]:
        """Return the levels between which the quantile function is not flat."""
        low, high = self.support()
        return float(self._level(low)), float(self._level(high))

    def _level(self, x: ArrayLike) -> Floats:
        mu, sigma, _, _ = self.row
        return np.asarray(scipy.special.ndtr((np.asarray(x) - mu) / sigma))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        mean, deviation, low, _ = self.row
        quantile = float(self.ppf(level))
        if quantile == low:
            return quantile
        return quantile - (_shortfall(mean, deviation, quantile) - _shortfall(mean, deviation, low)) / level


def _density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _shortfall(mean: float, deviation: float, x: float) -> float:
    """Return E(x - Y)^+ for a Gaussian Y."""
    z = (x - mean) / deviation
    return float(deviation * (z * scipy.special.ndtr(z) + _density(z)))


class GaussianMixture(Law):
    """Mixture of Gaussian components with the given weights.

    >>> GaussianMixture([0.5, 0.5], means=[-0.3, 1.3], stds=[0.5, 0.5]).mean()
    0.5
    """

    kind = Kind.MIXTURE

    def __init__(self, weights: ArrayLike, means: ArrayLike, stds: ArrayLike) -> None:
        w, m, s = finite_array("weights", weights), finite_array("means", means), finite_array("stds", stds)
        if not w.size == m.size == s.size:
            raise ArgumentError("means", f"of the length of weights, {w.size}, and so stds", (m.size, s.size))
        if (w < 0).any() or not math.isclose(w.sum(), 1.0, abs_tol=1e-9):
            raise ArgumentError("weights", "non-negative numbers that sum to one", w.tolist())
        if (s <= 0).any():
            raise ArgumentError("stds", "positive numbers", s.tolist())
        self.weights, self.means, self.stds = w, m, s
        parameters = {"weights": w.tolist(), "means": m.tolist(), "stds": s.tolist()}
        super().__init__(parameters, data=np.concatenate([np.cumsum(w), m, s]))

    def mean(self) -> float:
        return float(self.weights @ self.means)

    def std(self) -> float:
        return math.sqrt(self.weights @ (self.stds**2 + (self.means - self.mean()) ** 2))

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        quantile = self._quantile(level)
        parts = zip(self.weights, self.means, self.stds, strict=True)
        return quantile - math.fsum(w * _shortfall(mean, deviation, quantile) for w, mean, deviation in parts) / level

    def _quantile(self, level: float) -> float:
        of_parts = self.means + self.stds * scipy.special.ndtri(level)
        low, high = float(of_parts.min()), float(of_parts.max())
        if low == high:
            return low

        def excess(x: float) -> float:
            return float(self.weights @ scipy.special.ndtr((x - self.means) / self.stds)) - level

        # At the ends, all parts are on one side, except for rounding.
        if excess(low) >= 0.0 or excess(high) <= 0.0:
            return low if excess(low) >= 0.0 else high
        return float(scipy.optimize.brentq(excess, low, high))


class Empirical(Law):
    """Empirical distribution: draws with replacement from observed values, each equally likely.

    >>> Empirical([0, 0, 3]).mean()
    1.0
    """

    kind = Kind.EMPIRICAL

    def __init__(self, values: ArrayLike) -> None:
        data = reward_array("values", values)
        super().__init__({"values": data.tolist()}, data=data)

    def __reduce__(self) -> tuple[type["Empirical"], tuple[Floats]]:
        return type(self), (self.data,)  # pickle many values once, not as a list too

    def mean(self) -> float:
        return float(self.data.mean())

    def std(self) -> float:
        return float(self.data.std())

    def support(self) -> tuple[float, float]:
        return float(self.data.min()), float(self.data.max())

    def atoms(self) -> tuple[Floats, Floats]:
        """Return the values and their probabilities."""
        values, counts = np.unique(self.data, return_counts=True)
        return values, counts / self.data.size

    def lower_tail_mean(self, level: float) -> float:
        """Return the mean of the worst share of the rewards."""
        return cvar(self.data, level)
