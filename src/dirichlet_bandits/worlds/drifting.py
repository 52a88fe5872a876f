"""Arms whose means move with time, with identically distributed noise around them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dirichlet_bandits.arms.bandit import Bandit, RewardLaw
from dirichlet_bandits.arms.laws import Gaussian
from dirichlet_bandits.arms.tapes import draw_tape, law_identity
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Words
from dirichlet_bandits.validation import Phrase, finite_array
from dirichlet_bandits.worlds.world import Rewards, World

_CENTRED = 1e-9  # how far from 0 the mean of the noise may be, for rounding


class Drifting(World):
    """Arms whose rewards are a mean that depends on time plus noise: X_t = m_k(t) + noise.

    ``means`` is a function of the pull t = 1, 2, ... that returns K numbers, or an array with one row per pull.
    ``noise`` is a distribution of mean zero, by default the standard normal; its j-th value for an arm is the same for
    every policy. The regret is dynamic: a pull costs the gap to the best arm of its time.

    >>> world = Drifting(means=lambda t: [0.5, 0.5 + 0.3 * np.sin(t / 100)])
    >>> world.values(3).round(4).tolist()
    [[0.5, 0.503], [0.5, 0.506], [0.5, 0.509]]
    """

    def __init__(
        self,
        means: Callable[[int], ArrayLike] | ArrayLike,
        noise: RewardLaw | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._function = means if callable(means) else None
        self._array = None if callable(means) else _checked_means(means)
        n_arms = _row(means, 1).size if callable(means) else self._array.shape[1]  # type: ignore[union-attr]
        if n_arms < 2:
            raise ArgumentError("means", "those of at least two arms", Phrase(f"{n_arms} arm"))
        self.noise: RewardLaw = Gaussian(0.0, 1.0) if noise is None else noise
        if not isinstance(self.noise, RewardLaw) or not abs(float(self.noise.mean())) <= _CENTRED:
            raise ArgumentError("noise", "a distribution with mean 0, such as Gaussian(0.0, 1.0)", noise)
        self._known: dict[int, Floats] = {}
        self._bandit = Bandit([self.noise] * n_arms, names)
        self.names = self._bandit.names

    def rewards(self, seeds: Words, horizon: int) -> Rewards:
        return Rewards(draw_tape(self._bandit, seeds, horizon), self.values(horizon))

    def values(self, horizon: int) -> Floats:
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
        return np.array(rows)

    def support(self, horizon: int) -> tuple[float, float]:
        low, high = self._bandit.support()
        values = self.values(horizon)
        return float(values.min()) + low, float(values.max()) + high

    def identity(self) -> Any:
        return law_identity(self.noise)

    def __repr__(self) -> str:
        return f"Drifting({len(self)} arms, noise={self.noise!r})"


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
