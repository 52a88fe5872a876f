"""How long rewards take to arrive."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dirichlet_bandits.arms.bandit import RewardLaw
from dirichlet_bandits.arms.tapes import digest, law_identity
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Ints
from dirichlet_bandits.validation import Phrase, number_within, positive_number

Delay = float | RewardLaw | Callable[[Floats], Any]

_EXPECTED = "a number of pulls, a distribution, or a function of an array of rewards"
_PROBES = np.linspace(-1.0, 2.0, 31)  # rewards that distinguish one function of rewards from another


class Geometric:
    """A geometric delay: P(D = n) = p (1 - p)^(n - 1) for n = 1, 2, ..., with mean 1/p.

    >>> Geometric(0.1).mean()
    10.0
    """

    def __init__(self, p: float) -> None:
        self.p = positive_number("p", number_within("p", p, 0.0, 1.0))

    def rvs(self, size: int, random_state: Any = None) -> Floats:
        """Draw a sample."""
        rng = np.random.default_rng(random_state)
        if self.p < 1.0 / 3.0:  # NumPy's own inversion, with one logarithm for all draws
            return np.ceil(rng.standard_exponential(size) / -math.log1p(-self.p))
        return rng.geometric(self.p, size).astype(np.float64)

    def mean(self) -> float:
        """Return the expectation."""
        return 1.0 / self.p

    def support(self) -> tuple[float, float]:
        """Return the smallest interval that contains all values."""
        return 1.0, math.inf

    def __repr__(self) -> str:
        return f"Geometric(p={self.p:g})"


class Pareto:
    """A delay with a heavy tail: P(D > x) = x^-alpha for x >= 1, with infinite mean if alpha <= 1.

    >>> Pareto(3.0).mean()
    1.5

    Reference: Manegueu et al., Stochastic bandits with arm-dependent delays (ICML 2020).
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = positive_number("alpha", alpha)

    def rvs(self, size: int, random_state: Any = None) -> Floats:
        """Draw a sample."""
        return np.random.default_rng(random_state).pareto(self.alpha, size) + 1.0

    def mean(self) -> float:
        """Return the expectation."""
        return self.alpha / (self.alpha - 1.0) if self.alpha > 1.0 else math.inf

    def support(self) -> tuple[float, float]:
        """Return the smallest interval that contains all values."""
        return 1.0, math.inf

    def __repr__(self) -> str:
        return f"Pareto(alpha={self.alpha:g})"


def is_number(delay: object) -> bool:
    """Whether a delay is a constant number."""
    return isinstance(delay, int | float | np.integer | np.floating) and not isinstance(delay, bool)


def checked_delays(delay: Delay | Sequence[Delay]) -> tuple[Delay, ...]:
    """Return the delays as a tuple, one for all arms or one per arm; raise if one of them is invalid."""
    several = tuple(delay) if isinstance(delay, list | tuple) else (delay,)
    one: Any
    for one in several:
        if is_number(one):
            if not float(one) >= 0.0:  # false for NaN too
                raise ArgumentError("delay", "a number of pulls, at least 0", one)
        elif isinstance(one, bool | type) or not (isinstance(one, RewardLaw) or callable(one)):
            raise ArgumentError("delay", _EXPECTED, one)
        elif hasattr(one, "support") and not float(one.support()[0]) >= 0.0:
            raise ArgumentError("delay", "a distribution without negative values", one)
    return several


def draw_delays(delays: Sequence[Delay], rewards: Floats, rng: np.random.Generator) -> Ints:
    """Return the delay of each reward in whole pulls, rounded up and cut at the horizon."""
    n_arms, horizon = rewards.shape
    found = np.empty((n_arms, horizon))
    for arm in range(n_arms):
        delay: Any = delays[arm % len(delays)]
        if is_number(delay):
            found[arm] = float(delay)
        elif isinstance(delay, RewardLaw):
            found[arm] = _checked("draws of 'delay'", delay.rvs(size=horizon, random_state=rng), horizon)
        else:
            found[arm] = _checked("delay(rewards)", delay(rewards[arm]), horizon)
    return np.minimum(np.ceil(found), horizon).astype(np.int64)


def _checked(name: str, drawn: Any, number: int) -> Floats:
    """Return drawn delays as an array; refuse texts, negative numbers, NaN, and too many or too few."""
    expected = f"an array of {number} numbers, each at least 0, one per reward"
    try:
        values = np.asarray(drawn, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(name, expected, Phrase(type(drawn).__name__)) from None
    if values.shape != (number,):
        raise ArgumentError(name, expected, drawn if values.ndim == 0 else Phrase(f"an array of shape {values.shape}"))
    if not (values >= 0.0).all():  # true for NaN too
        raise ArgumentError(name, expected, float(values[~(values >= 0.0)][0]))
    return values


def delay_identity(delay: Any) -> Any:
    """Return plain data that differ if the delays differ."""
    if is_number(delay):
        return float(delay)
    if isinstance(delay, RewardLaw):
        return law_identity(delay)
    return digest(np.asarray(delay(_PROBES), np.float64).tobytes())
