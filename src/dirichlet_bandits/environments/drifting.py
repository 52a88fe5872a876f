"""Arms whose means move with time: noise around them, or a distribution whose only parameter is its mean."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.environments.bandit import Bandit
from dirichlet_bandits.environments.environment import Environment, RewardLaw, law_identity
from dirichlet_bandits.environments.laws import Bernoulli, Exponential, Gaussian, Poisson
from dirichlet_bandits.errors import ArgumentError, one_of
from dirichlet_bandits.seeding import generator
from dirichlet_bandits.types import Floats, Words
from dirichlet_bandits.validation import Phrase, finite_array, positive_number

_CENTERED = 1e-9  # how far a mean may be from what it should be, for rounding

Draw = Callable[[np.random.Generator, Floats], Floats]
_FAMILIES: Final[dict[str, tuple[Callable[[float], RewardLaw], Draw]]] = {
    "bernoulli": (Bernoulli, lambda rng, means: (rng.random(means.size) < means).astype(float)),
    "exponential": (Exponential, lambda rng, means: means * rng.standard_exponential(means.size)),
    "poisson": (Poisson, lambda rng, means: rng.poisson(means).astype(float)),
}
"""For each family by name, the distribution with a mean, and how to draw one reward for each of many means."""


class Drifting(Environment):
    """Arms whose means depend on time.

    ``means`` is a function of the pull t = 1, 2, ... that returns K numbers, or an array with one row per pull. The
    regret is dynamic: a pull costs the gap to the best arm of its time.

    A reward is the mean plus ``noise``, a distribution of mean zero, by default the standard normal; the j-th noise of
    an arm is the same for every policy. With ``law``, a reward has a distribution with this mean instead:
    "bernoulli", "exponential", "poisson", "gaussian" with the standard deviation ``sigma``, or any function that
    returns a distribution with a given mean. Then the reward of an arm at a time is the same for every policy.

    >>> drifting = Drifting(means=lambda t: [0.5, 0.5 + 0.3 * np.sin(t / 100)], law="bernoulli")
    >>> drifting.values_over(3).round(4).tolist()
    [[0.5, 0.503], [0.5, 0.506], [0.5, 0.509]]
    """

    in_files = "drifting"

    def __init__(
        self,
        means: Callable[[int], ArrayLike] | ArrayLike,
        noise: RewardLaw | None = None,
        names: Sequence[str] | None = None,
        *,
        law: Literal["bernoulli", "exponential", "poisson", "gaussian"] | Callable[[float], RewardLaw] | None = None,
        sigma: float | None = None,
    ) -> None:
        if noise is not None and law is not None:
            raise ArgumentError("noise", "left out where 'law' is given", noise)
        if (sigma is not None) != (law == "gaussian"):
            raise ArgumentError("sigma", "given if law is 'gaussian', and only then", sigma)
        self.law, self.sigma = law, None if sigma is None else positive_number("sigma", sigma)
        if law is not None and not callable(law) and law not in (*_FAMILIES, "gaussian"):
            raise ArgumentError("law", f"{one_of([*_FAMILIES, 'gaussian'])}, or a function of the mean", law)
        self.noise: RewardLaw = Gaussian(0.0, 1.0) if noise is None else noise
        if not isinstance(self.noise, RewardLaw) or not abs(float(self.noise.mean())) <= _CENTERED:
            raise ArgumentError("noise", "a distribution with mean 0, such as Gaussian(0.0, 1.0)", noise)
        self._function = means if callable(means) else None
        first = np.atleast_2d(_row(means, 1)) if callable(means) else _checked_means(means)
        self._array = None if callable(means) else first
        if first.shape[1] < 2:
            raise ArgumentError("means", "those of at least two arms", Phrase(f"{first.shape[1]} arm"))
        self._noise = Bandit([self.noise] * first.shape[1], names)
        self.names, self.indexed_by = self._noise.names, "time" if law else "pulls"
        self._known: dict[int, Floats] = {}
        self._laws(first)

    def rewards(self, seeds: Words, horizon: int) -> Floats:
        if self.law is None:
            return self._noise.rewards(seeds, horizon)
        return np.stack(
            [self._draw(generator(seed), row) for seed, row in zip(seeds, self.values_over(horizon).T, strict=True)]
        )

    def drift(self, horizon: int) -> Floats:
        return self.values_over(horizon) if self.law is None else super().drift(horizon)

    def values_over(self, horizon: int) -> Floats:
        if self._array is not None:
            if len(self._array) < horizon:
                expected = f"an array with a row for each of the {horizon} pulls"
                raise ArgumentError("means", expected, Phrase(f"{len(self._array)} rows"))
            return np.ascontiguousarray(self._array[:horizon])
        if horizon not in self._known:
            self._known[horizon] = self._computed(horizon)
        return self._known[horizon]

    def _computed(self, horizon: int) -> Floats:
        """Call the function once for each pull."""
        assert self._function is not None
        rows = [_row(self._function, t) for t in range(1, horizon + 1)]
        for t, row in enumerate(rows, start=1):
            if row.size != len(self):
                raise ArgumentError(f"means({t})", f"{len(self)} finite numbers", row.tolist())
        values = np.array(rows)
        self._laws(values)
        return values

    def _law_of(self, mean: float) -> RewardLaw:
        """Return the distribution with this mean."""
        if callable(self.law):
            return self.law(mean)
        return Gaussian(mean, self.sigma) if self.sigma is not None else _FAMILIES[str(self.law)][0](mean)

    def _draw(self, rng: np.random.Generator, means: Floats) -> Floats:
        """Draw one reward for each mean."""
        if self.sigma is not None:
            return means + self.sigma * rng.standard_normal(means.size)
        if not callable(self.law):
            return _FAMILIES[str(self.law)][1](rng, means)
        rewards, (distinct, which) = np.empty(means.size), np.unique(means, return_inverse=True)
        for k, mean in enumerate(distinct.tolist()):
            rewards[which == k] = self.law(mean).rvs(size=int((which == k).sum()), random_state=rng)
        return rewards

    def laws(self, horizon: int) -> dict[str, Any]:
        return self._laws(self.values_over(horizon))

    def _laws(self, values: Floats) -> dict[str, RewardLaw]:
        """Return the distributions with the smallest and the largest of these means, or, for a function, with any.

        Raise if there is none; the means that a family can have are an interval.
        """
        if self.law is None:
            return {}
        means = np.unique(values) if callable(self.law) else np.array([values.min(), values.max()])
        found: dict[str, RewardLaw] = {}
        for mean in means.tolist():
            try:
                law = self._law_of(mean)
            except ArgumentError as error:
                t, arm = np.argwhere(values == mean)[0].tolist()
                got = Phrase(f"{mean:g} of {self.names[arm]!r} at pull {t + 1}: {error}")
                raise ArgumentError("means", f"means that the law {self.law!r} can have", got) from None
            if not isinstance(law, RewardLaw) or not abs(float(law.mean()) - mean) <= _CENTERED * (1.0 + abs(mean)):
                raise ArgumentError("law", f"a function that returns a distribution with the given mean {mean:g}", law)
            found[f"the law of mean {mean!r}"] = law
        return found

    def support(self, horizon: int) -> tuple[float, float]:
        values = self.values_over(horizon)
        if self.law is None:
            low, high = self._noise.support()
            return float(values.min()) + low, float(values.max()) + high
        ends = [Bandit([law, law]).support() for law in self._laws(values).values()]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def state_identity(self, horizon: int) -> Any:
        if self.law is None:
            return law_identity(self.noise)
        return [law_identity(law) for law in self.laws(horizon).values()]

    def __repr__(self) -> str:
        law = f"noise={self.noise!r}" if self.law is None else f"law={self.law!r}"
        return f"Drifting({len(self)} arms, {law}{'' if self.sigma is None else f', sigma={self.sigma:g}'})"


def _row(means: Callable[[int], ArrayLike], t: int) -> Floats:
    """Return the means of all arms at one time."""
    return finite_array(f"means({t})", means(t))


def _checked_means(means: ArrayLike) -> Floats:
    """Return the means as an array with one row per pull."""
    try:
        array = np.array(means, np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("means", "a function of the pull, or an array with one row per pull", means) from None
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        expected = "an array of finite numbers, with one row per pull and one column per arm"
        raise ArgumentError("means", expected, Phrase(f"shape {array.shape}") if array.ndim != 2 else array.tolist())
    return array
