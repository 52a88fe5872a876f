"""Arms whose distributions change at breakpoints and stay the same in between."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dirichlet_bandits.environments.bandit import Bandit
from dirichlet_bandits.environments.environment import Environment, RewardLaw, law_identity
from dirichlet_bandits.environments.objective import Objective
from dirichlet_bandits.errors import ArgumentError
from dirichlet_bandits.types import Floats, Words
from dirichlet_bandits.validation import whole_number

Arms = Iterable[RewardLaw] | Mapping[str, RewardLaw] | Bandit


class Piecewise(Environment):
    """Arms whose distributions change at known times.

    ``segments`` maps the first pull of each segment, counted from 1, to its arms. The j-th reward of an arm *within a
    segment* is the same for every policy. The regret is dynamic: a pull costs the gap to the best arm of its time.

    >>> from dirichlet_bandits import Bernoulli
    >>> world = Piecewise({1: [Bernoulli(0.5), Bernoulli(0.7)], 3000: [Bernoulli(0.5), Bernoulli(0.2)]})
    >>> world.breakpoints, world.values_over(5000)[[0, 2998, 2999]].tolist()
    ((3000,), [[0.5, 0.7], [0.5, 0.7], [0.5, 0.2]])

    Reference: Garivier and Moulines, On upper-confidence bound policies for switching bandit problems (ALT 2011).
    """

    indexed_by = "pulls"

    def __init__(
        self,
        segments: Mapping[int, Arms],
        names: Sequence[str] | None = None,
        *,
        objective: Objective | None = None,
    ) -> None:
        if not isinstance(segments, Mapping) or not segments:
            raise ArgumentError("segments", "a dict from the first pull of each segment to its arms", segments)
        firsts = [_first_pull(first) for first in segments]
        if firsts[0] != 1 or any(later <= first for first, later in pairwise(firsts)):
            raise ArgumentError("segments", "first pulls in increasing order, beginning with 1", firsts)
        self._firsts = firsts
        self.bandits = tuple(_bandit(first, arms, names, objective) for first, arms in segments.items())
        first_bandit = self.bandits[0]
        for first, bandit in zip(firsts, self.bandits, strict=True):
            if bandit.names != first_bandit.names:
                expected = f"the arms of the first segment, {list(first_bandit.names)}"
                raise ArgumentError(f"segments[{first}]", expected, list(bandit.names))
            if bandit.objective != first_bandit.objective:
                expected = f"a bandit with the objective of the first segment, {first_bandit.objective}"
                raise ArgumentError(f"segments[{first}]", expected, bandit.objective)
        self.names, self.objective = first_bandit.names, first_bandit.objective

    @property
    def breakpoints(self) -> tuple[int, ...]:
        """First pulls, counted from 1, of all segments but the first."""
        return tuple(self._firsts[1:])

    def n_streams(self) -> int:
        return len(self) * len(self.bandits)

    def starts(self, horizon: int) -> list[int]:
        return [first - 1 for first in self._firsts if first <= horizon]

    def rewards(self, seeds: Words, horizon: int) -> Floats:
        n_arms, starts = len(self), self.starts(horizon)
        tape = np.empty((n_arms, horizon))
        for number, (first, last) in enumerate(pairwise([*starts, horizon])):
            own = seeds[number * n_arms : (number + 1) * n_arms]
            tape[:, first:last] = self.bandits[number].rewards(own, last - first)
        return tape

    def values_over(self, horizon: int) -> Floats:
        lengths = np.diff([*self.starts(horizon), horizon])
        return np.repeat([bandit.values for bandit in self.bandits[: lengths.size]], lengths, axis=0)

    def support(self, horizon: int) -> tuple[float, float]:
        ends = [bandit.support() for bandit in self.bandits]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def laws(self, horizon: int) -> dict[str, Any]:
        segments = [(f"segments[{first}]", bandit.laws()) for first, bandit in self._segments()]
        return {f"{segment}: {arm}": law for segment, laws in segments for arm, law in laws.items()}

    def until(self, horizon: int) -> Environment:
        return self if len(self.starts(horizon)) > 1 else self.bandits[0]

    def state_identity(self, horizon: int) -> Any:
        return {first: [law_identity(law) for law in bandit.arms] for first, bandit in self._segments()}

    def _segments(self) -> Iterable[tuple[int, Bandit]]:
        return zip(self._firsts, self.bandits, strict=True)

    def __repr__(self) -> str:
        return f"Piecewise({', '.join(f'{first}: {bandit!r}' for first, bandit in self._segments())})"


def _first_pull(first: object) -> int:
    """Return the first pull of a segment."""
    try:
        return whole_number("segments", first, at_least=1)
    except ArgumentError:
        expected = "a dict whose keys are the first pulls of the segments, integers counted from 1"
        raise ArgumentError("segments", expected, first) from None


def _bandit(first: int, arms: Arms, names: Sequence[str] | None, objective: Objective | None) -> Bandit:
    """Return the arms of one segment; a bandit keeps its names and its objective."""
    try:
        return Bandit.of(arms, names, objective=objective)
    except ArgumentError as error:
        _, expected, got = error.args
        raise ArgumentError(f"segments[{first}]: {error.name}", expected, got) from None
