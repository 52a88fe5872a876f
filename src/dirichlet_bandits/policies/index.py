"""Index policies: pull the arm with the largest index, with ties at random; and the propensities of their decisions.

The verbs here are the defaults of all policies. A policy with another state or another way to decide registers its own.
"""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dirichlet_bandits.compiler import Direct, borrowed, jit
from dirichlet_bandits.engine import verbs
from dirichlet_bandits.engine.tally import Tally, count, new_tally
from dirichlet_bandits.engine.verbs import specialized
from dirichlet_bandits.numerics.argmax import (
    Discrete,
    RandomVariable,
    argmax_probabilities,
    discrete_argmax_probabilities,
)
from dirichlet_bandits.numerics.tolerances import PROPENSITY_DEFECT
from dirichlet_bandits.policies.interface import Policy
from dirichlet_bandits.types import Floats, Ints


@verbs.implements(verbs.init)
def init(policy: Any, n_arms: int) -> Tally:
    """Return a tally of counts and means, the default state of an index policy."""
    return new_tally(n_arms)


@verbs.implements(verbs.update, random=False, in_place=True)
def update(policy: Any, state: Tally, arm: int, reward: float, rng: np.random.Generator) -> Tally:
    """Count the reward."""
    count(state, arm, reward)
    return state


@verbs.implements(verbs.note)
def ignore_time(policy: Any, state: Any, decision: int, now: int) -> None:
    """Do nothing: by default, it does not matter to which decision a reward belongs."""


@verbs.implements(verbs.prepare)
def ignore_outstanding(policy: Any, state: Any, waiting: Ints, earliest: Ints, rng: np.random.Generator) -> Any:
    """Return the state unchanged: by default, a policy decides from the rewards that it has."""
    return state


@jit
def overview(state: Any) -> tuple[int, float]:
    """Return what an index may use of the other arms: the number of all pulls and the largest mean."""
    total, best_mean = 0, -np.inf
    for arm in range(state.pulls.size):
        total += state.pulls[arm]
        best_mean = max(best_mean, state.means[arm])
    return total, best_mean


@jit
def larger(
    best: int, largest: float, ties: int, arm: int, value: float, rng: np.random.Generator
) -> tuple[int, float, int]:
    """Return the best arm so far, its index and the number of arms tied for it, after comparing one more arm."""
    if value > largest:
        return arm, value, 1
    if value == largest:
        ties += 1
        if rng.random() * ties < 1.0:  # each of the tied arms ends up chosen equally often
            best = arm
    return best, largest, ties


@verbs.implements(verbs.select)
def select(policy: Any, state: Any, rng: np.random.Generator) -> int:
    """Return the arm with the largest index."""
    state, rng = borrowed(state), borrowed(rng)
    total, best_mean = overview(state)
    best, largest, ties = 0, -np.inf, 0
    for arm in range(state.pulls.size):
        value = verbs.index(policy, state, arm, total, best_mean, rng)
        best, largest, ties = larger(best, largest, ties, arm, value, rng)
    return best


def write_indices(policy: Any, state: Any, values: Floats) -> None:
    """Write the index of every arm to ``values``, if it is not random; an entry point."""
    total, best_mean = overview(state)
    for arm in range(state.pulls.size):
        values[arm] = verbs.index(policy, state, arm, total, best_mean, None)


def all_indices(policy: Policy, state: Any) -> Floats:
    """Return the index of every arm, if it is not random."""
    values = np.empty(state.pulls.size)
    specialized(write_indices, policy.params)(policy.params, state, values)
    return values


def index_propensities(policy: Policy, state: Any) -> Floats:
    """Return the propensities when only ties are random: the largest index is pulled, and ties are shared."""
    return _shares(all_indices(policy, state))


def _shares(values: Floats) -> Floats:
    """Return equal shares for the arms with the largest of these indices, and 0 for the others."""
    listed = values.tolist()  # of a few numbers, lists are faster than arrays
    largest = max(listed)
    share = 1.0 / listed.count(largest)
    return np.array([0.0 if value < largest else share if value == largest else np.nan for value in listed])


class DirectRule:
    """Propensities of one policy in growing states of one type, by a compiled function that writes to an array.

    ``finish`` makes propensities of what ``write(policy, state, values)`` has written.
    """

    def __init__(
        self, policy: Policy, n_arms: int, write: Callable[..., None], finish: Callable[[Floats], Floats]
    ) -> None:
        self._params, self._values, self._finish = policy.params, np.empty(n_arms), finish
        self._write = Direct(lambda: specialized(write, self._params))

    def propensities(self, state: Any) -> Floats:
        """Return the probability that each arm is pulled next."""
        self._write(self._params, state, self._values)
        return self._finish(self._values)

    def without_compiling(self, state: Any) -> Floats | None:
        """Return the same, or None if this would compile something."""
        return self.propensities(state) if self._write.is_compiled else None


DirectIndices = functools.partial(DirectRule, write=write_indices, finish=_shares)
"""The same as :func:`index_propensities`, for one policy and growing states of one type."""


def random_index_propensities(indices: Sequence[RandomVariable]) -> Floats:
    """Return the propensities when indices are random: the probability that each index is the largest.

    They are normalized by :func:`normalized`.
    """
    return normalized(argmax_probabilities(indices))


def discrete_index_propensities(indices: Sequence[Discrete]) -> Floats:
    """Return the propensities when each index has finitely many values; arms that tie for the largest share it."""
    return normalized(discrete_argmax_probabilities(indices))


def normalized(chances: Floats) -> Floats:
    """Return the propensities scaled to sum to 1, or unchanged, with a warning, if the sum is off by more than 1e-9."""
    total = float(chances.sum())
    if not abs(total - 1.0) <= PROPENSITY_DEFECT:
        warnings.warn(f"propensities sum to 1 {total - 1.0:+.1e}: their error is of this size", stacklevel=3)
        return chances.copy()
    return chances / total
